#include "client/cli/admin.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/kinds/printer.h"

namespace tcact::cli {
namespace {

using kinds::ParseError;
using kinds::Printer;
using kinds::Words;

// Nothing may follow the command.
bool Alone(Session* session, const Words& words, Outcome* outcome) {
  if (words.AtEnd()) return true;
  session->Err(absl::StrCat("What is \"", words.Peek(), "\"? Try \"tcact help\"."));
  *outcome = kFailed;
  return false;
}

// Four digits and a unit: "812 ns", "26.07 s", "1.33 m".
std::string FormatWait(uint64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1000) return absl::StrFormat("%d ns", ns);
  if (ns < 1000000) return absl::StrFormat("%.2f us", value / 1e3);
  if (ns < 1000000000) return absl::StrFormat("%.2f ms", value / 1e6);
  if (ns < 60000000000) return absl::StrFormat("%.2f s", value / 1e9);
  return absl::StrFormat("%.2f m", value / 60e9);
}

// --- slabinfo ---

void PrintCache(const v1::SlabCache& cache, Printer* out) {
  out->OpenObject();
  out->String("name", "%-20s", cache.name());
  out->Uint("objects_in_use", " %10u", cache.objects_in_use());
  out->Uint("objects_total", " %10u", cache.objects_total());
  out->Uint("object_size", " %7u", cache.object_size());
  out->Uint("objects_per_slab", " %7u", cache.objects_per_slab());
  out->Uint("slabs", " %8u", cache.slabs());
  out->Uint("empty_slabs", " %6u", cache.empty_slabs());
  out->Uint("objects_in_sheaves", " %8u", cache.objects_in_sheaves());
  out->Uint("slabs_made", " %10u", cache.slabs_made());
  out->Uint("slabs_released", " %10u", cache.slabs_released());
  out->Uint("sheaf_refills", " %10u", cache.sheaf_refills());
  out->Uint("sheaf_flushes", " %10u", cache.sheaf_flushes());
  out->Uint("ctor_failures", " %8u", cache.ctor_failures());
  out->JsonUint("slab_bytes", cache.slab_bytes());
  out->Line();
  out->CloseObject();
}

void PrintPercpu(const v1::PercpuInfo& percpu, Printer* out) {
  out->OpenObject("percpu");
  out->Uint("units", "percpu: units %u", percpu.units());
  out->Uint("unit_bytes", ", unit bytes %u", percpu.unit_bytes());
  out->Uint("chunks", ", chunks %u", percpu.chunks());
  out->Uint("chunks_made", " (made %u", percpu.chunks_made());
  out->Uint("chunks_released", ", released %u)", percpu.chunks_released());
  out->Uint("regions", ", regions %u", percpu.regions());
  out->Uint("region_bytes", ", region bytes %u", percpu.region_bytes());
  out->Line();
  out->CloseObject();
}

// --- lockstat ---

void PrintLock(const v1::LockStat& lock, Printer* out) {
  const uint64_t average = lock.contended() == 0 ? 0 : lock.wait_total_ns() / lock.contended();
  out->OpenObject();
  out->String("name", "%-28s", lock.name());
  out->Uint("acquired", " %14u", lock.acquired());
  out->Uint("contended", " %12u", lock.contended());
  out->JsonUint("wait_avg_ns", average);
  out->JsonUint("wait_total_ns", lock.wait_total_ns());
  out->JsonUint("wait_max_ns", lock.wait_max_ns());
  out->JsonUint("wait_min_ns", lock.wait_min_ns());
  out->TextFormat(" %11s %11s %11s %11s", FormatWait(average), FormatWait(lock.wait_total_ns()),
                  FormatWait(lock.wait_max_ns()), FormatWait(lock.wait_min_ns()));
  out->Line();
  out->CloseObject();
}

// --- netns ---

Outcome ListNetns(Session* session, client::Client* client) {
  std::string text;
  Printer out(session->print(), &text);
  out.OpenArray();
  v1::ListNamespacesRequest request;
  do {
    absl::StatusOr<v1::ListNamespacesResponse> page = client->ListNamespaces(request);
    if (!page.ok()) return session->Explain(page.status());
    for (const v1::Namespace& netns : page->namespaces()) {
      out.OpenObject();
      if (netns.name().empty()) {
        out.Text("(default)");
        out.JsonString("name", "");
      } else {
        out.String("name", "%s", netns.name());
      }
      out.Uint("actions", " actions %u", netns.actions());
      if (netns.max_actions() != 0) out.Uint("quota", " quota %u", netns.max_actions());
      out.Line();
      out.CloseObject();
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
  return kOk;
}

Outcome DeleteNetns(Session* session, client::Client* client, const std::string& name) {
  v1::DeleteNamespaceRequest request;
  request.set_netns(name);
  absl::StatusOr<v1::DeleteNamespaceResponse> response = client->DeleteNamespace(request);
  if (!response.ok()) return session->Explain(response.status());
  std::string text;
  Printer out(session->print(), &text);
  out.OpenArray();
  out.OpenObject();
  out.Uint("actions", "%u actions destroyed", response->actions());
  out.Line();
  out.CloseObject();
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
  return kOk;
}

Outcome SetQuota(Session* session, client::Client* client, const std::string& name,
                 uint64_t max_actions) {
  v1::SetQuotaRequest request;
  request.set_netns(name);
  request.set_max_actions(max_actions);
  const absl::Status status = client->SetQuota(request).status();
  return status.ok() ? kOk : session->Explain(status);
}

// --- health ---

void PrintServer(const v1::GetServerInfoResponse& info, Printer* out) {
  out->String("version", "tcactd %s", info.version());
  out->Uint("pid", ", pid %u", info.pid());
  out->Uint("uptime_ms", ", up %u ms", info.uptime_ms());
  out->Uint("cpus", ", cpus %u", info.cpus());
  out->String("store", ", store %s", info.store());
  out->String("action_alloc", ", action-alloc %s", info.action_alloc());
  out->Line();
  out->Uint("actions", "actions %u", info.actions());
  out->Uint("namespaces", ", namespaces %u", info.namespaces());
  out->Size("resident_bytes", ", resident %s", info.resident_bytes());
  out->Text(", kinds");
  out->OpenArray("kinds");
  for (const std::string& kind : info.kinds()) out->String("", " %s", kind);
  out->CloseArray();
  out->Line();
}

}  // namespace

Outcome RunSlabinfo(Session* session, Words* words) {
  Outcome outcome;
  if (!Alone(session, *words, &outcome)) return outcome;
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  absl::StatusOr<v1::GetSlabInfoResponse> response = (*client)->GetSlabInfo({});
  if (!response.ok()) return session->Explain(response.status());
  std::string text;
  Printer out(session->print(), &text);
  out.OpenArray();
  out.OpenObject();
  out.TextFormat("%-20s %10s %10s %7s %7s %8s %6s %8s %10s %10s %10s %10s %8s", "name", "in use",
                 "objects", "size", "a slab", "slabs", "empty", "sheaves", "made", "released",
                 "refills", "flushes", "failures");
  out.Line();
  out.OpenArray("caches");
  for (const v1::SlabCache& cache : response->caches()) PrintCache(cache, &out);
  out.CloseArray();
  PrintPercpu(response->percpu(), &out);
  out.CloseObject();
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
  return kOk;
}

Outcome RunLockstat(Session* session, Words* words) {
  const bool reset = words->Matches("reset");
  if (reset) words->Skip();
  Outcome outcome;
  if (!Alone(session, *words, &outcome)) return outcome;
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  if (reset) {
    const absl::Status status = (*client)->ResetLockStats({}).status();
    return status.ok() ? kOk : session->Explain(status);
  }
  absl::StatusOr<v1::GetLockStatsResponse> response = (*client)->GetLockStats({});
  if (!response.ok()) return session->Explain(response.status());
  std::string text;
  Printer out(session->print(), &text);
  out.OpenArray();
  out.TextFormat("%-28s %14s %12s %11s %11s %11s %11s", "Name", "acquired", "contended", "avg wait",
                 "total wait", "max wait", "min wait");
  out.Line();
  for (const v1::LockStat& lock : response->locks()) PrintLock(lock, &out);
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
  return kOk;
}

Outcome RunNetns(Session* session, Words* words) {
  const std::string command(words->AtEnd() ? "ls" : words->Peek());
  words->Skip();
  std::string name;
  uint64_t max_actions = 0;
  const bool quota = kinds::Abbreviates(command, "quota");
  const bool remove = kinds::Abbreviates(command, "delete");
  if (quota || remove) {
    if (words->AtEnd()) return session->Fail(ParseError::Incomplete(), *words);
    name = std::string(words->Peek());
    words->Skip();
  }
  if (quota) {
    if (words->AtEnd()) return session->Fail(ParseError::Incomplete(), *words);
    if (!kinds::ParseU64(words->Peek(), 10, &max_actions)) {
      return session->Fail(ParseError::Invalid("quota", words->Peek()), *words);
    }
    words->Skip();
  }
  if (!quota && !remove && command != "ls" && !kinds::Abbreviates(command, "list") &&
      !kinds::Abbreviates(command, "show")) {
    session->Err("Usage: tcact netns [ls | del NAME | quota NAME N]");
    return kFailed;
  }
  Outcome outcome;
  if (!Alone(session, *words, &outcome)) return outcome;
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  if (quota) return SetQuota(session, *client, name, max_actions);
  return remove ? DeleteNetns(session, *client, name) : ListNetns(session, *client);
}

Outcome RunHealth(Session* session, Words* words) {
  Outcome outcome;
  if (!Alone(session, *words, &outcome)) return outcome;
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  const absl::Status health = (*client)->CheckHealth();
  if (!health.ok()) {
    session->Err(
        absl::StrCat("Error: ", session->settings().server, " does not serve: ", health.message()));
    return kUnreachable;
  }
  absl::StatusOr<v1::GetServerInfoResponse> info = (*client)->GetServerInfo({});
  if (!info.ok()) return session->Explain(info.status());
  std::string text;
  Printer out(session->print(), &text);
  out.OpenArray();
  out.OpenObject();
  out.String("health", "%s", "SERVING");
  out.Line();
  PrintServer(*info, &out);
  out.CloseObject();
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
  return kOk;
}

}  // namespace tcact::cli
