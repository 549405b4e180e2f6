// The calls of Admin through a real server.
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/server/rpc/server_fixture.h"

namespace tcact::rpc {
namespace {

using grpc::StatusCode;

class AdminCallsTest : public ServerTest {
 protected:
  grpc::Status SetQuota(const std::string& netns, uint64_t max_actions) {
    grpc::ClientContext context;
    v1::SetQuotaRequest request;
    v1::SetQuotaResponse response;
    request.set_netns(netns);
    request.set_max_actions(max_actions);
    return admin_->SetQuota(&context, request, &response);
  }
};

TEST_F(AdminCallsTest, SlabInfoHasACacheForEachKind) {
  Fill(10);
  grpc::ClientContext context;
  v1::GetSlabInfoRequest request;
  v1::GetSlabInfoResponse response;
  ASSERT_TRUE(admin_->GetSlabInfo(&context, request, &response).ok());
  EXPECT_GE(response.caches_size(), static_cast<int>(kinds_.Names().size()));
  uint64_t in_use = 0;
  for (const auto& cache : response.caches()) in_use += cache.objects_in_use();
  EXPECT_EQ(in_use, 10u);
  EXPECT_GE(response.percpu().units(), 1u);
}

TEST_F(AdminCallsTest, LockStatsNameTheAllocatorsMutexAndCanBeReset) {
  Fill(1000);
  const auto acquired = [this](const std::string& name) {
    grpc::ClientContext context;
    v1::GetLockStatsRequest request;
    v1::GetLockStatsResponse response;
    EXPECT_TRUE(admin_->GetLockStats(&context, request, &response).ok());
    for (const auto& lock : response.locks()) {
      if (lock.name() == name) return lock.acquired();
    }
    ADD_FAILURE() << "no lock " << name;
    return uint64_t{0};
  };
  EXPECT_GT(acquired("pcpu_alloc_mutex"), 0u);
  grpc::ClientContext context;
  v1::ResetLockStatsRequest request;
  v1::ResetLockStatsResponse response;
  ASSERT_TRUE(admin_->ResetLockStats(&context, request, &response).ok());
  EXPECT_EQ(acquired("pcpu_alloc_mutex"), 0u);
}

TEST_F(AdminCallsTest, ShrinkGivesSlabsBack) {
  Fill(50'000);
  grpc::ClientContext flush_context;
  v1::FlushActionsRequest flush;
  v1::FlushActionsResponse flushed;
  flush.set_kind("gact");
  ASSERT_TRUE(actions_->FlushActions(&flush_context, flush, &flushed).ok());
  grpc::ClientContext context;
  v1::ShrinkRequest request;
  v1::ShrinkResponse response;
  ASSERT_TRUE(admin_->Shrink(&context, request, &response).ok());
  grpc::ClientContext info_context;
  v1::GetSlabInfoRequest info;
  v1::GetSlabInfoResponse slabs;
  ASSERT_TRUE(admin_->GetSlabInfo(&info_context, info, &slabs).ok());
  for (const auto& cache : slabs.caches()) EXPECT_EQ(cache.empty_slabs(), 0u) << cache.name();
}

TEST_F(AdminCallsTest, ServerInfoTellsWhatItRuns) {
  Fill(3);
  grpc::ClientContext context;
  v1::GetServerInfoRequest request;
  v1::GetServerInfoResponse response;
  ASSERT_TRUE(admin_->GetServerInfo(&context, request, &response).ok());
  EXPECT_EQ(response.version(), "test");
  EXPECT_EQ(response.action_alloc(), "slab-merged");
  EXPECT_EQ(response.store(), "memory");
  EXPECT_EQ(response.pid(), static_cast<uint32_t>(getpid()));
  EXPECT_EQ(response.actions(), 3u);
  EXPECT_EQ(response.namespaces(), 1u);
  EXPECT_GT(response.resident_bytes(), 0u);
  EXPECT_EQ(response.kinds_size(), static_cast<int>(kinds_.Names().size()));
  EXPECT_EQ(response.max_batch(), 4096u);
}

TEST_F(AdminCallsTest, NamespacesAreListedInPages) {
  for (const char* name : {"", "blue", "green", "red"}) Fill(1, name);
  v1::ListNamespacesRequest request;
  v1::ListNamespacesResponse response;
  request.set_page_size(3);
  grpc::ClientContext first;
  ASSERT_TRUE(admin_->ListNamespaces(&first, request, &response).ok());
  ASSERT_EQ(response.namespaces_size(), 3);
  EXPECT_EQ(response.namespaces(0).name(), "");
  EXPECT_EQ(response.namespaces(2).name(), "green");
  request.set_page_token(response.next_page_token());
  grpc::ClientContext second;
  ASSERT_TRUE(admin_->ListNamespaces(&second, request, &response).ok());
  ASSERT_EQ(response.namespaces_size(), 1);
  EXPECT_EQ(response.namespaces(0).name(), "red");
  EXPECT_EQ(response.namespaces(0).actions(), 1u);
  EXPECT_EQ(response.next_page_token(), "");
}

TEST_F(AdminCallsTest, AQuotaRefusesCreatesBeyondIt) {
  ASSERT_TRUE(SetQuota("red", 2).ok());
  Fill(2, "red");
  v1::CreateActionsRequest request;
  request.set_netns("red");
  *request.add_actions() = Gact(0);
  ExpectError(Create(request), StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
  ASSERT_TRUE(SetQuota("red", 0).ok());
  EXPECT_TRUE(Create(request).ok());
}

TEST_F(AdminCallsTest, AQuotaOfABadNameIsRefused) {
  ExpectError(SetQuota("a/b", 2), StatusCode::INVALID_ARGUMENT, "INVALID_FIELD");
}

TEST_F(AdminCallsTest, DeleteNamespaceTakesBoundActionsToo) {
  Fill(3, "red");
  v1::DeleteNamespaceRequest request;
  v1::DeleteNamespaceResponse response;
  request.set_netns("red");
  grpc::ClientContext context;
  ASSERT_TRUE(admin_->DeleteNamespace(&context, request, &response).ok());
  EXPECT_EQ(response.actions(), 3u);
  grpc::ClientContext again;
  const grpc::Status status = admin_->DeleteNamespace(&again, request, &response);
  ExpectError(status, StatusCode::NOT_FOUND, "NAMESPACE_NOT_FOUND");
  EXPECT_EQ(InfoOf(status).metadata().at("netns"), "red");
}

class FewNamespacesTest : public AdminCallsTest {
 protected:
  FewNamespacesTest() { max_netns_ = 2; }
};

TEST_F(FewNamespacesTest, OneMoreThanAllowedIsRefused) {
  Fill(1, "a");
  Fill(1, "b");
  v1::CreateActionsRequest request;
  request.set_netns("c");
  *request.add_actions() = Gact(1);
  ExpectError(Create(request), StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
}

}  // namespace
}  // namespace tcact::rpc
