#include "client/cli/stats.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/kernel_text.h"
#include "proto/kinds/action_list.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/printer.h"

namespace tcact::cli {
namespace {

using kinds::ParseError;
using kinds::Words;

// What is added to one action.
struct Update {
  std::string kind;
  uint32_t index = 0;
  uint64_t packets = 0;
  uint64_t bytes = 0;
  uint64_t drops = 0;
  uint32_t overlimits = 0;
  uint32_t requeues = 0;
  int qlen = 0;
  int backlog = 0;
  bool hardware = false;
};

ParseError StatsUsage() {
  return ParseError::Return(
      "Usage: tcact stats add action KIND index INDEX COUNTER N... [hw] [action ...]\n"
      "       tcact stats reset action KIND index INDEX...\n"
      "COUNTER: bytes packets drops overlimits requeues (N: 0 or more), qlen backlog (N may be\n"
      "negative); hw: they were counted by hardware.\n");
}

ParseError ReadValue(Words* words, uint64_t* out) {
  const std::string name(words->Peek());
  if (ParseError error = words->Advance()) return error;
  if (!kinds::ParseU64(words->Peek(), 10, out)) return ParseError::Invalid(name, words->Peek());
  words->Skip();
  return {};
}

ParseError ReadValue(Words* words, uint32_t* out) {
  const std::string name(words->Peek());
  if (ParseError error = words->Advance()) return error;
  if (!kinds::ParseU32(words->Peek(), 10, out)) return ParseError::Invalid(name, words->Peek());
  words->Skip();
  return {};
}

ParseError ReadValue(Words* words, int* out) {
  const std::string name(words->Peek());
  if (ParseError error = words->Advance()) return error;
  if (!kinds::ParseInt(words->Peek(), 10, out)) return ParseError::Invalid(name, words->Peek());
  words->Skip();
  return {};
}

// The counters under the cursor, up to "action" or the end.
ParseError ReadCounters(Words* words, Update* update) {
  while (!words->AtEnd() && !words->Is("action")) {
    ParseError error;
    if (words->Is("bytes")) {
      error = ReadValue(words, &update->bytes);
    } else if (words->Is("packets")) {
      error = ReadValue(words, &update->packets);
    } else if (words->Is("drops")) {
      error = ReadValue(words, &update->drops);
    } else if (words->Is("overlimits")) {
      error = ReadValue(words, &update->overlimits);
    } else if (words->Is("requeues")) {
      error = ReadValue(words, &update->requeues);
    } else if (words->Is("qlen")) {
      error = ReadValue(words, &update->qlen);
    } else if (words->Is("backlog")) {
      error = ReadValue(words, &update->backlog);
    } else if (words->Is("hw")) {
      update->hardware = true;
      words->Skip();
    } else {
      return ParseError::Return(absl::StrCat("What is \"", words->Peek(), "\"?\n"));
    }
    if (error) return error;
  }
  return {};
}

// "action gact index 5" and its counters.
ParseError ReadUpdate(Words* words, Update* update) {
  if (!words->Is("action")) return StatsUsage();
  if (ParseError error = words->Advance()) return error;
  if (kinds::FindKind(words->Peek()) == nullptr) {
    return ParseError::Return(absl::StrCat("Error: non existent action: ", words->Peek(), "\n"));
  }
  update->kind = std::string(words->Peek());
  if (ParseError error = words->Advance()) return error;
  if (!words->Matches("index")) {
    return ParseError::Return(
        absl::StrCat("Error: no index specified action: ", update->kind, "\n"));
  }
  if (ParseError error = ReadValue(words, &update->index)) return error;
  return ReadCounters(words, update);
}

void Append(const Update& update, v1::UpdateStatsRequest* request) {
  request->add_indexes(update.index);
  request->add_packets(update.packets);
  request->add_bytes(update.bytes);
  request->add_drops(update.drops);
  request->add_overlimits(update.overlimits);
  request->add_requeues(update.requeues);
  request->add_qlen_delta(update.qlen);
  request->add_backlog_delta(update.backlog);
}

// The request that `update` belongs to; a new one if there is none.
v1::UpdateStatsRequest* RequestFor(const Update& update,
                                   std::vector<v1::UpdateStatsRequest>* requests) {
  for (v1::UpdateStatsRequest& request : *requests) {
    if (request.kind() == update.kind && request.hardware() == update.hardware) return &request;
  }
  v1::UpdateStatsRequest& request = requests->emplace_back();
  request.set_kind(update.kind);
  request.set_hardware(update.hardware);
  return &request;
}

Outcome Add(Session* session, Words* words) {
  std::vector<v1::UpdateStatsRequest> requests;
  if (const ParseError error = ParseUpdates(words, &requests)) return session->Fail(error, *words);
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  uint64_t applied = 0;
  std::string text;
  kinds::Printer out(session->print(), &text);
  out.OpenArray();
  out.OpenObject();
  out.OpenArray("missing");
  Outcome outcome;
  for (v1::UpdateStatsRequest& request : requests) {
    request.set_netns(session->netns());
    absl::StatusOr<v1::UpdateStatsResponse> response = (*client)->UpdateStats(request);
    if (!response.ok()) return session->Explain(response.status());
    applied += response->applied();
    for (const uint32_t position : response->missing()) {
      outcome = kFailed;
      const uint32_t index = request.indexes(static_cast<int>(position));
      out.OpenObject();
      out.JsonString("kind", request.kind());
      out.JsonUint("index", index);
      out.CloseObject();
      session->Err(absl::StrCat("Error: no action ", request.kind(), " index ", index));
    }
  }
  out.CloseArray();
  out.JsonUint("applied", applied);
  out.CloseObject();
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
  return outcome;
}

Outcome Reset(Session* session, Words* words) {
  std::vector<v1::ActionKey> keys;
  if (const ParseError error = kinds::ParseKeys(words, &keys)) return session->Fail(error, *words);
  if (keys.empty()) return session->Fail(ParseError::Incomplete(), *words);
  v1::ResetStatsRequest request;
  request.set_netns(session->netns());
  for (v1::ActionKey& key : keys) request.add_keys()->Swap(&key);
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  const absl::Status status = (*client)->ResetStats(request).status();
  if (status.ok()) return kOk;
  if (session->ExplainUnreachable(status)) return kUnreachable;
  session->Err(KernelText(Request::kOther, status));
  return kFailed;
}

}  // namespace

ParseError ParseUpdates(Words* words, std::vector<v1::UpdateStatsRequest>* requests) {
  if (words->AtEnd()) return StatsUsage();
  while (!words->AtEnd()) {
    Update update;
    if (ParseError error = ReadUpdate(words, &update)) return error;
    Append(update, RequestFor(update, requests));
  }
  return {};
}

Outcome RunStats(Session* session, Words* words) {
  if (words->Matches("add")) {
    words->Skip();
    return Add(session, words);
  }
  if (words->Matches("reset")) {
    words->Skip();
    return Reset(session, words);
  }
  return session->Fail(StatsUsage(), *words);
}

}  // namespace tcact::cli
