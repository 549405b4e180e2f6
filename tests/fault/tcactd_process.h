// A tcactd of its own process, to be killed.
#ifndef TCACT_TESTS_FAULT_TCACTD_PROCESS_H_
#define TCACT_TESTS_FAULT_TCACTD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "grpcpp/channel.h"

namespace tcact::fault {

// A directory that goes away with the test.
class Directory {
 public:
  Directory();
  ~Directory();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class TcactdProcess {
 public:
  // Starts tcactd, which listens on a socket in `directory` and keeps its records in
  // `directory`/store, and waits until it serves. `environment`: NAME=VALUE each. Check ok().
  TcactdProcess(const std::string& directory, const std::vector<std::string>& flags,
                const std::vector<std::string>& environment = {});
  // Kills it.
  ~TcactdProcess();
  TcactdProcess(const TcactdProcess&) = delete;
  TcactdProcess& operator=(const TcactdProcess&) = delete;

  bool ok() const { return ok_; }
  void Kill();
  // SIGTERM; the exit code, -1 if it was killed by a signal.
  int Terminate();

  // A connection of its own.
  std::shared_ptr<grpc::Channel> NewChannel() const;
  // What it has logged, over all runs in this directory.
  std::string Log() const;

 private:
  int Wait();

  const std::string directory_;
  pid_t pid_ = -1;
  bool ok_ = false;
};

}  // namespace tcact::fault

#endif  // TCACT_TESTS_FAULT_TCACTD_PROCESS_H_
