#include "server/rpc/admin_calls.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "absl/time/clock.h"
#include "server/core/lock/counted_mutex.h"
#include "server/durable/records.h"
#include "server/rpc/limits.h"
#include "server/rpc/netns.h"
#include "server/rpc/page_token.h"

namespace tcact::rpc {
namespace {

void WriteCache(const slab::CacheStats& stats, v1::SlabCache* cache) {
  cache->set_name(stats.name);
  cache->set_objects_in_use(stats.objects_in_use);
  cache->set_objects_total(stats.objects_total);
  cache->set_object_size(static_cast<uint32_t>(stats.object_size));
  cache->set_objects_per_slab(static_cast<uint32_t>(stats.objects_per_slab));
  cache->set_slab_bytes(stats.slab_bytes);
  cache->set_slabs(stats.slabs);
  cache->set_empty_slabs(stats.empty_slabs);
  cache->set_objects_in_sheaves(stats.objects_in_sheaves);
  cache->set_slabs_made(stats.slabs_made);
  cache->set_slabs_released(stats.slabs_released);
  cache->set_sheaf_refills(stats.sheaf_refills);
  cache->set_sheaf_flushes(stats.sheaf_flushes);
  cache->set_ctor_failures(stats.ctor_failures);
}

void WritePercpu(const percpu::Stats& stats, v1::PercpuInfo* info) {
  info->set_units(stats.units);
  info->set_unit_bytes(stats.unit_bytes);
  info->set_chunks(stats.chunks);
  info->set_chunks_made(stats.chunks_made);
  info->set_chunks_released(stats.chunks_released);
  info->set_regions(stats.regions);
  info->set_region_bytes(stats.region_bytes);
}

// 0 where the system does not tell.
uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  const int fields = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void WriteKeeper(durable::Keeper* keeper, v1::GetServerInfoResponse* response) {
  durable::Journal* const journal = keeper->journal();
  response->set_durability(std::string(durable::LevelName(journal->level())));
  response->set_stats_interval_ms(
      static_cast<uint64_t>(absl::ToInt64Milliseconds(keeper->options().stats_interval)));
  response->set_stats_acked(keeper->options().stats_acked);
  response->set_read_only(journal->failed());
  if (journal->failed()) response->set_read_only_reason(std::string(journal->status().message()));
  const durable::JournalStats stats = journal->stats();
  response->set_commits(stats.commits);
  response->set_records(stats.records);
  response->set_record_bytes(stats.bytes);
  response->set_disk_bytes(keeper->store()->DiskBytes());
}

uint64_t Micros(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

}  // namespace

grpc::Status GetSlabInfo(const Context& context, v1::GetSlabInfoRequest*,
                         v1::GetSlabInfoResponse* response) {
  for (const slab::CacheStats& stats : context.store->SlabStats())
    WriteCache(stats, response->add_caches());
  WritePercpu(context.store->PercpuStats(), response->mutable_percpu());
  return grpc::Status::OK;
}

grpc::Status GetLockStats(const Context&, v1::GetLockStatsRequest*,
                          v1::GetLockStatsResponse* response) {
  for (const lock::LockStat& stat : lock::LockStats()) {
    v1::LockStat* row = response->add_locks();
    row->set_name(stat.name);
    row->set_acquired(stat.acquired);
    row->set_contended(stat.contended);
    row->set_wait_total_ns(stat.wait_total_ns);
    row->set_wait_max_ns(stat.wait_max_ns);
    row->set_wait_min_ns(stat.wait_min_ns);
  }
  return grpc::Status::OK;
}

grpc::Status ResetLockStats(const Context&, v1::ResetLockStatsRequest*,
                            v1::ResetLockStatsResponse*) {
  lock::ResetLockStats();
  return grpc::Status::OK;
}

grpc::Status Shrink(const Context& context, v1::ShrinkRequest*, v1::ShrinkResponse* response) {
  const slab::ShrinkResult result = context.store->Shrink();
  response->set_slabs_released(result.slabs);
  response->set_bytes_released(result.bytes);
  return grpc::Status::OK;
}

grpc::Status GetServerInfo(const Context& context, v1::GetServerInfoRequest*,
                           v1::GetServerInfoResponse* response) {
  response->set_version(context.version);
  response->set_action_alloc(std::string(act::AllocModeName(context.store->options().alloc_mode)));
  response->set_store(context.store_name);
  response->set_uptime_ms(
      static_cast<uint64_t>(absl::ToInt64Milliseconds(absl::Now() - context.started)));
  response->set_pid(static_cast<uint32_t>(getpid()));
  response->set_cpus(context.store->PercpuStats().units);
  response->set_resident_bytes(ResidentBytes());
  response->set_actions(context.store->TotalActions());
  response->set_namespaces(context.store->NetnsCount());
  for (std::string& name : context.kinds->Names()) response->add_kinds(std::move(name));
  response->set_max_batch(kMaxBatchEntries);
  response->set_max_message_bytes(kMaxMessageBytes);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  response->set_cpu_user_us(Micros(usage.ru_utime));
  response->set_cpu_system_us(Micros(usage.ru_stime));
  if (context.keeper != nullptr) WriteKeeper(context.keeper, response);
  return grpc::Status::OK;
}

grpc::Status ListNamespaces(const Context& context, v1::ListNamespacesRequest* request,
                            v1::ListNamespacesResponse* response) {
  const auto scope = {absl::string_view("namespaces")};
  const bool from_start = request->page_token().empty();
  int page_size = 0;
  std::string after;
  Problem problem = ReadPageSize(request->page_size(), &page_size);
  if (problem.ok() && !from_start) problem = ReadPageToken(scope, request->page_token(), &after);
  if (!problem.ok()) return ToStatus(problem, "");
  const size_t limit = static_cast<size_t>(page_size);
  // One more than asked for tells whether there is another page.
  const std::vector<act::NetnsInfo> found = context.store->ListNetns(from_start, after, limit + 1);
  for (size_t i = 0; i < found.size() && i < limit; ++i) {
    v1::Namespace* entry = response->add_namespaces();
    entry->set_name(found[i].name);
    entry->set_actions(found[i].actions);
    entry->set_max_actions(found[i].max_actions);
  }
  if (found.size() > limit)
    response->set_next_page_token(MakePageToken(scope, found[limit - 1].name));
  return grpc::Status::OK;
}

grpc::Status SetQuota(const Context& context, v1::SetQuotaRequest* request, v1::SetQuotaResponse*) {
  std::optional<durable::Journal::Turn> turn;
  if (context.keeper != nullptr) {
    turn.emplace(context.keeper->journal());
    if (!turn->ok()) return ToStatus(ReadOnly(), request->netns());
  }
  const act::Error error = context.store->SetQuota(request->netns(), request->max_actions());
  if (error.ok() && turn)
    durable::RecordNetns(request->netns(), request->max_actions(), turn->batch());
  return error.ok() ? grpc::Status::OK
                    : ToStatus(FromStoreError(error, "", kNoPosition), request->netns());
}

grpc::Status DeleteNamespace(const Context& context, v1::DeleteNamespaceRequest* request,
                             v1::DeleteNamespaceResponse* response) {
  if (Problem problem = CheckNetns(request->netns()); !problem.ok())
    return ToStatus(problem, request->netns());
  uint64_t actions = 0;
  act::NetnsRef netns;
  {
    std::optional<durable::Journal::Turn> turn;
    if (context.keeper != nullptr) turn.emplace(context.keeper->journal());
    if (turn && !turn->ok()) return ToStatus(ReadOnly(), request->netns());
    netns = context.store->UnlinkNetns(request->netns(), &actions);
    if (netns && turn) durable::RecordNetnsGone(request->netns(), turn->batch());
  }
  if (!netns) return ToStatus(NamespaceNotFound(request->netns()), request->netns());
  context.store->SweepNetns(netns);
  response->set_actions(actions);
  return grpc::Status::OK;
}

}  // namespace tcact::rpc
