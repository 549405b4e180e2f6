#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "proto/kinds/kind.h"

namespace tcact::kinds {
namespace {

// Filled before main by the kinds' own files and read-only from then on, so that no lock is needed.
// In pointers that are never freed: the order in which static objects go is unknown.
std::map<std::string, const Kind*, std::less<>>& ByName() {
  static auto* kinds = new std::map<std::string, const Kind*, std::less<>>();
  return *kinds;
}

std::map<int, const Kind*>& ByNumber() {
  static auto* kinds = new std::map<int, const Kind*>();
  return *kinds;
}

}  // namespace

const Kind* FindKind(absl::string_view name) {
  const auto found = ByName().find(std::string(name));
  return found == ByName().end() ? nullptr : found->second;
}

const Kind* FindKind(int field_number) {
  const auto found = ByNumber().find(field_number);
  return found == ByNumber().end() ? nullptr : found->second;
}

const Kind* KindOfAction(const v1::Action& action) {
  return FindKind(static_cast<int>(action.params_case()));
}

std::vector<const Kind*> AllKinds() {
  std::vector<const Kind*> result;
  for (const auto& [name, kind] : ByName()) result.push_back(kind);
  return result;
}

void PrintTimes(const v1::Action& action, Printer* out) {
  constexpr uint64_t kMsPerSecond = 1000;
  out->Uint("installed", " installed %u sec", action.installed_ago_ms() / kMsPerSecond);
  out->Uint("last_used", " used %u sec", action.last_used_ago_ms() / kMsPerSecond);
  if (action.has_first_used_ago_ms()) {
    out->Uint("first_used", " firstused %u sec", action.first_used_ago_ms() / kMsPerSecond);
  }
}

namespace internal {

bool Register(const Kind* kind) {
  const std::string name(kind->name());
  if (!ByName().emplace(name, kind).second ||
      !ByNumber().emplace(kind->field_number(), kind).second) {
    std::fprintf(stderr, "kind %s: its name or number %d is taken\n", name.c_str(),
                 kind->field_number());
    std::abort();
  }
  return true;
}

}  // namespace internal
}  // namespace tcact::kinds
