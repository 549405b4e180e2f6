#include "tests/fault/tcactd_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/create_channel.h"
#include "proto/tcact/v1/admin.grpc.pb.h"

namespace tcact::fault {
namespace {

constexpr char kBinary[] = "server/tcactd";
constexpr absl::Duration kStart = absl::Seconds(60);

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Directory::Directory() {
  // TEST_TMPDIR is too deep in a sandbox: a socket's path has at most 107 bytes.
  path_ = "/tmp/tcact_XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) abort();
}

Directory::~Directory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

TcactdProcess::TcactdProcess(const std::string& directory, const std::vector<std::string>& flags,
                             const std::vector<std::string>& environment)
    : directory_(directory) {
  std::vector<std::string> words = {kBinary, absl::StrCat("--listen=unix:", directory, "/socket"),
                                    absl::StrCat("--store=rocksdb:", directory, "/store")};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<std::string> variables = environment;
  variables.emplace_back("PATH=/usr/bin:/bin");
  const std::vector<char*> argv = Pointers(&words);
  const std::vector<char*> envp = Pointers(&variables);
  const std::string log = absl::StrCat(directory, "/log");
  pid_ = fork();
  if (pid_ == 0) {
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, STDERR_FILENO);
    execve(kBinary, argv.data(), envp.data());
    _exit(127);
  }
  auto admin = v1::Admin::NewStub(NewChannel());
  const absl::Time end = absl::Now() + kStart;
  while (!ok_ && absl::Now() < end && waitpid(pid_, nullptr, WNOHANG) == 0) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
    v1::GetServerInfoResponse response;
    ok_ = admin->GetServerInfo(&context, v1::GetServerInfoRequest(), &response).ok() &&
          response.pid() == static_cast<uint32_t>(pid_);
  }
}

TcactdProcess::~TcactdProcess() { Kill(); }

int TcactdProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void TcactdProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

int TcactdProcess::Terminate() {
  kill(pid_, SIGTERM);
  return Wait();
}

std::shared_ptr<grpc::Channel> TcactdProcess::NewChannel() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(absl::StrCat("unix:", directory_, "/socket"),
                                   grpc::InsecureChannelCredentials(), arguments);
}

std::string TcactdProcess::Log() const {
  std::ifstream file(absl::StrCat(directory_, "/log"));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace tcact::fault
