/* Preloaded into a process, makes its writes and syncs below a directory fail on demand.
 *
 * TCACT_FAIL_PREFIX: only files whose path begins so. TCACT_FAIL_FILE: when this file exists, its first word
 * says what fails: "sync-eio", "write-eio" or "write-enospc". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int below_prefix(int fd) {
  const char *prefix = getenv("TCACT_FAIL_PREFIX");
  char link[64];
  char path[4096];
  if (prefix == NULL) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* The errno with which `what` ("sync" or "write") fails now, or 0. */
static int failure(const char *what, int fd) {
  const char *name = getenv("TCACT_FAIL_FILE");
  char word[32] = "";
  if (name == NULL || !below_prefix(fd)) return 0;
  FILE *file = fopen(name, "re");
  if (file == NULL) return 0;
  const int words = fscanf(file, "%31s", word);
  fclose(file);
  if (words != 1 || strncmp(word, what, strlen(what)) != 0) return 0;
  return strstr(word, "enospc") != NULL ? ENOSPC : EIO;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAIL_OR(what, fd, call)             \
  do {                                      \
    const int error = failure((what), (fd)); \
    if (error != 0) {                       \
      errno = error;                        \
      return -1;                            \
    }                                       \
    return (call);                          \
  } while (0)

int fsync(int fd) { FAIL_OR("sync", fd, REAL(fsync)(fd)); }
int fdatasync(int fd) { FAIL_OR("sync", fd, REAL(fdatasync)(fd)); }
ssize_t write(int fd, const void *data, size_t size) { FAIL_OR("write", fd, REAL(write)(fd, data, size)); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  FAIL_OR("write", fd, REAL(pwrite64)(fd, data, size, at));
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  FAIL_OR("write", fd, REAL(pwrite)(fd, data, size, at));
}
