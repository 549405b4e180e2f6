#include "server/rpc/convert.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/core/base/check.h"
#include "server/rpc/limits.h"

namespace tcact::rpc {
namespace {

// The core's own bound: lengths of parameters are 16-bit there.
constexpr size_t kMaxParamsBytes = 65535;

uint64_t AgoMs(int64_t now_ms, int64_t then_ms) {
  // A clock that was set back must not make an age of 500 million years.
  return now_ms > then_ms ? static_cast<uint64_t>(now_ms - then_ms) : 0;
}

uint64_t AddSaturating(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

void WriteCounters(const act::Counters& counters, v1::ActionStats* stats) {
  stats->set_bytes(counters.bytes);
  stats->set_packets(counters.packets);
  stats->set_hw_bytes(counters.hw_bytes);
  stats->set_hw_packets(counters.hw_packets);
  stats->set_drops(counters.drops);
  stats->set_overlimits(counters.overlimits);
  stats->set_requeues(counters.requeues);
  stats->set_qlen(counters.qlen);
  stats->set_backlog(counters.backlog);
}

// Everything but index, kind, cookie and statistics.
void WriteBasics(const KindTable& kinds, const act::Snapshot& snapshot, int64_t now_ms,
                 v1::Action* action) {
  action->set_hw_stats(static_cast<v1::HwStats>(snapshot.hw_stats));
  action->set_no_percpu(snapshot.no_percpu);
  action->set_skip_hw(snapshot.skip_hw);
  action->set_refcnt(snapshot.refcnt);
  action->set_bindcnt(snapshot.bindcnt);
  action->set_installed_ago_ms(AgoMs(now_ms, snapshot.installed_ms));
  action->set_last_used_ago_ms(AgoMs(now_ms, snapshot.last_used_ms));
  if (snapshot.first_used_ms != 0)
    action->set_first_used_ago_ms(AgoMs(now_ms, snapshot.first_used_ms));
  // What hardware that is not there would use.
  if (snapshot.used_hw_stats_known) action->set_used_hw_stats(v1::HW_STATS_DISABLED);
  action->set_generation(snapshot.generation);
  const kinds::Kind* kind = kinds.Find(snapshot.kind);
  TCACT_CHECK(kind != nullptr && kind->Decode(snapshot.params, action), "stored parameters decode");
}

}  // namespace

KindTable::KindTable(const kinds::Devices* devices)
    : by_name_(kinds::AllKinds()), devices_(devices) {
  for (const kinds::Kind* kind : by_name_) {
    TCACT_CHECK(kind->field_number() > 0 && kind->field_number() < act::kMaxKind,
                "a kind's number fits the core");
    by_number_[kind->field_number()] = kind;
  }
}

const kinds::Kind* KindTable::Find(absl::string_view name) const {
  const auto it = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [](const kinds::Kind* kind, absl::string_view n) { return kind->name() < n; });
  return it != by_name_.end() && (*it)->name() == name ? *it : nullptr;
}

absl::string_view KindTable::Name(act::Kind kind) const {
  const kinds::Kind* found = Find(kind);
  return found == nullptr ? absl::string_view() : found->name();
}

std::vector<act::KindSpec> KindTable::Specs() const {
  std::vector<act::KindSpec> specs;
  for (const kinds::Kind* kind : by_name_) {
    act::KindSpec spec;
    spec.kind = static_cast<act::Kind>(kind->field_number());
    spec.name = std::string(kind->name());
    spec.inline_params = kind->inline_params();
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<std::string> KindTable::Names() const {
  std::vector<std::string> names;
  for (const kinds::Kind* kind : by_name_) names.emplace_back(kind->name());
  return names;
}

std::string Place::Field(absl::string_view field) const {
  if (list.empty()) return std::string(field);
  if (position == kNoPosition) return absl::StrCat(list, ".", field);
  return absl::StrCat(list, "[", position, "].", field);
}

Problem ReadAction(const KindTable& kinds, const Place& place, bool in_filter, v1::Action* action,
                   std::string* params, act::Spec* spec) {
  const auto at_place = [&place](Problem problem) {
    problem->position = place.position;
    return problem;
  };
  // An action of a kind that this server does not know arrives without params.
  const kinds::Kind* kind = kinds.Find(static_cast<int>(action->params_case()));
  if (kind == nullptr) return at_place(UnknownKind(place.Field("params"), action->kind()));
  if (action->cookie().size() > act::kMaxCookieBytes) {
    return at_place(
        InvalidField(place.Field("cookie"),
                     absl::StrCat(action->cookie().size(), " bytes; 0 to 16 are allowed")));
  }
  if (!v1::HwStats_IsValid(action->hw_stats())) {
    return at_place(
        InvalidField(place.Field("hw_stats"),
                     absl::StrCat(static_cast<int>(action->hw_stats()), "; 0 to 3 are allowed")));
  }
  if (action->skip_sw() && action->skip_hw()) {
    return at_place(
        InvalidField(place.Field("skip_sw"), "invalid argument (not together with skip_hw)"));
  }
  if (action->skip_sw()) {
    Problem problem =
        InvalidField(place.Field("skip_sw"), "operation not supported (there is no hardware)");
    problem->reason = "NOT_OFFLOADABLE";
    return at_place(std::move(problem));
  }
  params->clear();
  if (Problem problem = BrokenRule(kinds, place, in_filter, action); problem.ok()) {
    kind->Encode(*action, params);
  } else {
    if (!in_filter || action->index() == 0) return problem;
    spec->bind_only = true;
  }
  if (params->size() > kMaxParamsBytes) {
    return at_place(InvalidField(place.Field(kind->name()),
                                 absl::StrCat(params->size(), " bytes; at most 65535")));
  }
  spec->kind = static_cast<act::Kind>(kind->field_number());
  spec->index = action->index();
  spec->params = *params;
  spec->cookie.size = static_cast<uint8_t>(action->cookie().size());
  std::memcpy(spec->cookie.bytes.data(), action->cookie().data(), action->cookie().size());
  spec->hw_stats = static_cast<act::HwStats>(action->hw_stats());
  spec->no_percpu = action->no_percpu();
  spec->skip_hw = action->skip_hw();
  spec->offloadable = kind->Offloadable(*action);
  return {};
}

Problem BrokenRule(const KindTable& kinds, const Place& place, bool in_filter, v1::Action* action) {
  const kinds::Kind* kind = kinds.Find(static_cast<int>(action->params_case()));
  kinds::RuleContext context;
  context.in_filter = in_filter;
  context.devices = kinds.devices();
  const kinds::RuleError error = kind->Normalize(context, action);
  if (!error) return {};
  const std::string field = place.Field(error.field);
  Problem problem =
      error.no_device ? DeviceNotFound(field, error.text) : InvalidField(field, error.text);
  problem->kind = std::string(kind->name());
  problem->index = action->index();
  problem->position = place.position;
  return problem;
}

Problem ReadKey(const KindTable& kinds, const Place& place, const v1::ActionKey& key,
                act::Spec* spec) {
  const kinds::Kind* kind = kinds.Find(key.kind());
  if (kind == nullptr) {
    Problem problem = UnknownKind(place.Field("kind"), key.kind());
    problem->position = place.position;
    return problem;
  }
  if (key.index() == 0) {
    Problem problem = InvalidField(place.Field("index"), "0; 1 to 4294967295 are allowed");
    problem->kind = key.kind();
    problem->position = place.position;
    return problem;
  }
  spec->kind = static_cast<act::Kind>(kind->field_number());
  spec->index = key.index();
  return {};
}

Problem ReadKind(const KindTable& kinds, absl::string_view field, absl::string_view name,
                 act::Kind* kind) {
  const kinds::Kind* found = kinds.Find(name);
  if (found == nullptr) return UnknownKind(field, name);
  *kind = static_cast<act::Kind>(found->field_number());
  return {};
}

Problem ReadDelta(const v1::ActionStats& delta, absl::string_view field, act::StatsDelta* out) {
  struct Counter {
    const char* name;
    uint64_t value;
    uint64_t max;
  };
  const Counter counters[] = {
      {"bytes", delta.bytes(), kMaxDelta},          {"packets", delta.packets(), kMaxDelta},
      {"hw_bytes", delta.hw_bytes(), kMaxDelta},    {"hw_packets", delta.hw_packets(), kMaxDelta},
      {"drops", delta.drops(), kMaxDelta},          {"qlen", delta.qlen(), kMaxGaugeDelta},
      {"backlog", delta.backlog(), kMaxGaugeDelta},
  };
  for (const Counter& counter : counters) {
    if (counter.value > counter.max) {
      return InvalidField(absl::StrCat(field, ".", counter.name),
                          absl::StrCat(counter.value, "; 0 to ", counter.max, " are allowed"));
    }
  }
  out->bytes = AddSaturating(delta.bytes(), delta.hw_bytes());
  out->packets = AddSaturating(delta.packets(), delta.hw_packets());
  out->hw_bytes = delta.hw_bytes();
  out->hw_packets = delta.hw_packets();
  out->drops = delta.drops();
  out->overlimits = delta.overlimits();
  out->requeues = delta.requeues();
  out->qlen = static_cast<int32_t>(delta.qlen());
  out->backlog = static_cast<int32_t>(delta.backlog());
  return {};
}

act::SnapshotParts PartsOf(v1::ActionView view) {
  switch (view) {
    case v1::ACTION_VIEW_TERSE:
      return act::kNoParts;
    case v1::ACTION_VIEW_BASIC:
      return act::kWithParams;
    case v1::ACTION_VIEW_TERSE_STATS:
      return act::kWithCounters;
    default:
      return act::kAllParts;
  }
}

void WriteAction(const KindTable& kinds, const act::Snapshot& snapshot, v1::ActionView view,
                 int64_t now_ms, v1::Action* action) {
  const act::SnapshotParts parts = PartsOf(view);
  const absl::string_view name = kinds.Name(snapshot.kind);
  action->set_index(snapshot.index);
  action->set_kind(name.data(), name.size());
  if (snapshot.cookie.size != 0)
    action->set_cookie(snapshot.cookie.bytes.data(), snapshot.cookie.size);
  if ((parts & act::kWithParams) != 0) WriteBasics(kinds, snapshot, now_ms, action);
  if ((parts & act::kWithCounters) != 0) WriteCounters(snapshot.counters, action->mutable_stats());
}

int64_t NowMs() { return absl::ToUnixMillis(absl::Now()); }

}  // namespace tcact::rpc
