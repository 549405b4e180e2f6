// A server of tests/bench/empty_server/empty.proto on tcactd's own loop, unary call and server
// settings.
//
//   empty_server --listen=unix:/path
//
// Runs until SIGTERM or SIGINT.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/support/async_stream.h"
#include "server/rpc/limits.h"
#include "server/rpc/loop.h"
#include "server/rpc/scratch_arena.h"
#include "server/rpc/shared.h"
#include "server/rpc/unary_call.h"
#include "tests/bench/empty_server/empty.grpc.pb.h"

ABSL_FLAG(std::string, listen, "unix:/tmp/tcact_empty.sock", "address");

namespace tcact::bench {
namespace {

constexpr uint32_t kMaxReplyBytes = 65536;

grpc::Status Answer(const rpc::Context&, EmptyRequest* request, EmptyResponse* response) {
  response->mutable_payload()->resize(std::min(request->reply_bytes(), kMaxReplyBytes));
  return grpc::Status::OK;
}

// As ApplyCall: the next batch is read while the answer before it is on its way.
class StreamCall final : public rpc::Stream {
 public:
  static void Arm(rpc::Loop* loop, Empty::AsyncService* service) {
    auto* call = new StreamCall(loop, service);
    service->RequestStream(&call->context_, &call->stream_, loop->queue(), loop->queue(),
                           &call->started_);
  }

  void Drain() override { context_.TryCancel(); }
  void Tick(absl::Time) override {}

 private:
  StreamCall(rpc::Loop* loop, Empty::AsyncService* service) : loop_(loop), service_(service) {
    loop_->OpenCall();
  }

  void OnStarted(bool ok) {
    if (!ok) return End();
    Arm(loop_, service_);
    loop_->AddStream(this);
    listed_ = true;
    Read();
  }

  void Read() {
    reading_ = true;
    request_ = request_arena_.Fresh<EmptyBatch>();
    stream_.Read(request_, &read_);
  }

  void OnRead(bool ok) {
    reading_ = false;
    over_ = over_ || !ok;
    have_ = ok;
    Advance();
  }

  void OnWritten(bool ok) {
    writing_ = false;
    over_ = over_ || !ok;
    Advance();
  }

  void Advance() {
    if (writing_) return;
    if (have_ && !over_) {
      have_ = false;
      auto* response = response_arena_.Fresh<EmptyBatchResponse>();
      response->set_batch_id(request_->batch_id());
      response->mutable_indexes()->Reserve(request_->operations_size());
      uint32_t index = 0;
      for (const EmptyOperation& operation : request_->operations()) {
        response->add_indexes(++index + static_cast<uint32_t>(operation.payload().size()));
      }
      writing_ = true;
      stream_.Write(*response, &written_);
    }
    if (over_) {
      if (reading_ || finishing_) return;
      finishing_ = true;
      return stream_.Finish(grpc::Status::OK, &finished_);
    }
    if (!reading_ && !have_) Read();
  }

  void OnFinished(bool) { End(); }

  void End() {
    if (listed_) loop_->RemoveStream(this);
    rpc::Loop* const loop = loop_;
    delete this;
    loop->CloseCall();
  }

  rpc::Loop* const loop_;
  Empty::AsyncService* const service_;
  grpc::ServerContext context_;
  grpc::ServerAsyncReaderWriter<EmptyBatchResponse, EmptyBatch> stream_{&context_};
  rpc::MethodEvent<StreamCall, &StreamCall::OnStarted> started_{this};
  rpc::MethodEvent<StreamCall, &StreamCall::OnRead> read_{this};
  rpc::MethodEvent<StreamCall, &StreamCall::OnWritten> written_{this};
  rpc::MethodEvent<StreamCall, &StreamCall::OnFinished> finished_{this};
  rpc::ScratchArena request_arena_;
  rpc::ScratchArena response_arena_;
  EmptyBatch* request_ = nullptr;
  bool listed_ = false;
  bool reading_ = false;
  bool have_ = false;
  bool writing_ = false;
  bool over_ = false;
  bool finishing_ = false;
};

int Serve(const std::string& listen) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  Empty::AsyncService service;
  grpc::ServerBuilder builder;
  // The settings of server/rpc/server.cc that a request's cost depends on.
  builder.SetMaxReceiveMessageSize(rpc::kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, rpc::kMaxStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_CHANNELZ, 1);
  builder.SetResourceQuota(grpc::ResourceQuota("empty"));
  builder.AddListeningPort(listen, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  rpc::Loop loop(builder.AddCompletionQueue());
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "empty_server: cannot listen on %s\n", listen.c_str());
    return 1;
  }
  rpc::Context context;
  rpc::Shared shared(context);
  rpc::UnaryMethod<Empty::AsyncService, EmptyRequest, EmptyResponse> method(
      &shared, &loop, &service, &Empty::AsyncService::RequestCall, &Answer, nullptr, nullptr);
  method.Open();
  StreamCall::Arm(&loop, &service);
  loop.Start(absl::Seconds(60));
  std::printf("ready\n");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  loop.Drain();
  server->Shutdown(absl::ToChronoTime(absl::Now() + absl::Seconds(1)));
  loop.Stop();
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace tcact::bench

int main(int argc, char** argv) {
  // As tcactd and tcact-load.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  absl::ParseCommandLine(argc, argv);
  return tcact::bench::Serve(absl::GetFlag(FLAGS_listen));
}
