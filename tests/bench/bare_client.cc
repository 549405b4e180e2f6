// The least that a gRPC client can do: gets "gact index 1" from the server at argv[1] and ends.
#include "grpcpp/grpcpp.h"
#include "proto/tcact/v1/action_store.grpc.pb.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto stub = tcact::v1::ActionStore::NewStub(
      grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  tcact::v1::BatchGetActionsRequest request;
  request.add_keys()->set_kind("gact");
  request.mutable_keys(0)->set_index(1);
  tcact::v1::BatchGetActionsResponse response;
  return stub->BatchGetActions(&context, request, &response).ok() ? 0 : 1;
}
