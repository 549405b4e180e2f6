#include "client/cli/actions.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/kernel_text.h"
#include "client/cli/pointer.h"
#include "client/lib/status.h"
#include "proto/kinds/action_list.h"
#include "proto/kinds/action_print.h"
#include "proto/kinds/kind.h"

namespace tcact::cli {
namespace {

using kinds::ParseError;
using kinds::Words;

// A listing may take so many times as long as another call before it is given up.
constexpr int kListingDeadlines = 60;

// An action's name within a namespace.
using Name = std::pair<std::string, uint32_t>;

Name NameOf(const v1::Action& action) { return {action.kind(), action.index()}; }

Outcome ShowHelp(Session* session) {
  session->ErrText(
      "Usage: tcact actions add|change|replace action KIND PARAMS [index INDEX] [cookie HEX]\n"
      "                [hw_stats immediate|delayed|disabled] [no_percpu] [skip_hw|skip_sw]...\n"
      "       tcact actions get|delete action KIND index INDEX...\n"
      "       tcact actions ls|list|show action KIND [since MS]\n"
      "       tcact actions flush action KIND\n"
      "A list may hold 32 actions. `tcact actions add action KIND help` tells a kind's PARAMS.\n");
  Outcome outcome = kFailed;
  outcome.exit = true;
  return outcome;
}

// The end of a command that the server refused.
Outcome TalkFailed(Session* session, Request request, const absl::Status& status) {
  if (session->ExplainUnreachable(status)) return kUnreachable;
  session->Err(KernelText(request, status));
  // tc looks for devices before it talks to the kernel.
  if (client::Reason(status) != "DEVICE_NOT_FOUND") session->Err(kTalkFailed);
  return kFailed;
}

// --- add, change, replace ---

absl::Status SendCreate(client::Client* client, const std::string& netns,
                        std::vector<v1::Action>* actions) {
  v1::CreateActionsRequest request;
  request.set_netns(netns);
  request.set_view(v1::ACTION_VIEW_TERSE);
  for (v1::Action& action : *actions) request.add_actions()->Swap(&action);
  return client->CreateActions(request).status();
}

absl::Status SendReplace(client::Client* client, const std::string& netns, bool best_effort,
                         std::vector<v1::Action>* actions) {
  v1::ReplaceActionsRequest request;
  request.set_netns(netns);
  request.set_view(v1::ACTION_VIEW_TERSE);
  request.set_best_effort(best_effort);
  for (v1::Action& action : *actions) request.add_actions()->Swap(&action);
  return client->ReplaceActions(request).status();
}

bool Exists(client::Client* client, const std::string& netns, const Name& name) {
  v1::GetActionRequest request;
  request.set_netns(netns);
  request.set_view(v1::ACTION_VIEW_TERSE);
  request.mutable_key()->set_kind(name.first);
  request.mutable_key()->set_index(name.second);
  return name.second != 0 && client->GetAction(request).ok();
}

// The kernel refuses an index that stands twice in a list if it is new: the first mention keeps it
// busy. An action that exists is replaced twice.
bool HasNewDuplicate(client::Client* client, const std::string& netns,
                     const std::vector<v1::Action>& actions) {
  std::set<Name> seen;
  for (const v1::Action& action : actions) {
    if (action.index() == 0) continue;
    if (!seen.insert(NameOf(action)).second && !Exists(client, netns, NameOf(action))) return true;
  }
  return false;
}

// What a replace leaves behind in the kernel when an action of its list breaks a rule: of those
// before it the ones that exist are replaced, the new ones are not made.
void ReplaceBeforeRefusal(client::Client* client, const std::string& netns,
                          std::vector<v1::Action> before) {
  before.erase(std::remove_if(before.begin(), before.end(),
                              [&](const v1::Action& action) {
                                return !Exists(client, netns, NameOf(action));
                              }),
               before.end());
  // The command fails in any case; how is said by the one that broke the rule.
  if (!before.empty()) SendReplace(client, netns, true, &before).IgnoreError();
}

// Points at the word that broke a rule, or where that is unknown at the action, if there are
// several.
void PointAtRule(Session* session, const Words& words, const std::vector<size_t>& starts,
                 size_t broken, const kinds::RuleError& error) {
  const size_t begin = starts[broken];
  const size_t end = broken + 1 < starts.size() ? starts[broken + 1] : words.position();
  const size_t found = FindField(words.all(), begin + 1, end, error.field);
  if (found == end && starts.size() == 1) return;
  session->ErrText(PointAt(words.all(), found == end ? begin : found, session->place()));
}

// Of several actions, points at the one that the server refused.
void PointAtRefused(Session* session, const Words& words, const std::vector<size_t>& starts,
                    const absl::Status& status) {
  const std::optional<v1::ErrorInfo> info = client::GetErrorInfo(status);
  if (!info.has_value() || starts.size() < 2) return;
  const auto position = info->metadata().find("position");
  size_t refused = 0;
  if (position == info->metadata().end() || !absl::SimpleAtoi(position->second, &refused)) return;
  if (refused >= starts.size()) return;
  session->ErrText(PointAt(words.all(), starts[refused], session->place()));
}

Outcome Modify(Session* session, Request kind_of_request, Words* words) {
  words->Skip();
  std::vector<v1::Action> actions;
  std::vector<size_t> starts;
  if (ParseError error = kinds::ParseActions(words, &actions, &starts)) {
    if (error.then == ParseError::Then::kReturn) error.text += "Illegal \"action\"\n";
    return session->Fail(error, *words);
  }
  if (actions.empty()) return kOk;
  if (actions.size() > kMaxActions) {
    session->Err("Error: Only 32 actions supported per filter.");
    session->Err(kTalkFailed);
    return kFailed;
  }
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  const std::string& netns = session->netns();
  for (size_t i = 0; i < actions.size(); ++i) {
    const kinds::RuleError error = kinds::KindOfAction(actions[i])->Normalize({}, &actions[i]);
    if (!error) continue;
    if (kind_of_request == Request::kReplace) {
      actions.resize(i);
      ReplaceBeforeRefusal(*client, netns, std::move(actions));
    }
    session->Err(KernelText(error));
    session->Err(kTalkFailed);
    PointAtRule(session, *words, starts, i, error);
    return kFailed;
  }
  const absl::Status status =
      kind_of_request == Request::kAdd
          ? SendCreate(*client, netns, &actions)
          : SendReplace(*client, netns, !HasNewDuplicate(*client, netns, actions), &actions);
  if (status.ok()) return kOk;
  const Outcome outcome = TalkFailed(session, kind_of_request, status);
  PointAtRefused(session, *words, starts, status);
  return outcome;
}

// --- get, delete ---

absl::Status SendGet(Session* session, client::Client* client,
                     const std::vector<v1::ActionKey>& keys) {
  kinds::Listing listing(session->print(), 1);
  if (!keys.empty()) {
    v1::BatchGetActionsRequest request;
    request.set_netns(session->netns());
    request.set_view(session->print().stats ? v1::ACTION_VIEW_FULL : v1::ACTION_VIEW_BASIC);
    for (const v1::ActionKey& key : keys) *request.add_keys() = key;
    absl::StatusOr<v1::BatchGetActionsResponse> response = client->BatchGetActions(request);
    if (!response.ok()) return response.status();
    for (const v1::Action& action : response->actions()) listing.Add(action);
  }
  // The kernel counts in listings of a whole kind only.
  session->Out(listing.Close(0));
  return absl::OkStatus();
}

absl::Status SendDelete(Session* session, client::Client* client,
                        const std::vector<v1::ActionKey>& keys) {
  if (keys.empty()) return absl::OkStatus();
  v1::DeleteActionsRequest request;
  request.set_netns(session->netns());
  request.set_best_effort(true);
  std::set<Name> seen;
  for (const v1::ActionKey& key : keys) {
    if (seen.emplace(key.kind(), key.index()).second) *request.add_keys() = key;
  }
  return client->DeleteActions(request).status();
}

// On failure of the call itself tc takes the words of the failed command for the next one, and says
// that "action" is no command. The exit code is that; the line would only confuse and is left out.
Outcome GetOrDelete(Session* session, Request kind_of_request, Words* words) {
  words->Skip();
  const size_t start = words->position();
  // tc does not look at this word; "action" is what belongs here.
  words->Skip();
  std::vector<v1::ActionKey> keys;
  if (const ParseError error = kinds::ParseKeys(words, &keys)) return session->Fail(error, *words);
  if (keys.size() > kMaxActions) keys.resize(kMaxActions);
  const auto refuse = [&](absl::string_view text) {
    session->Err(text);
    session->Err(kTalkFailed);
    words->set_position(start);
    return words->AtEnd() || words->Is("action") ? kFailed : kOk;
  };
  for (const v1::ActionKey& key : keys) {
    if (key.index() == 0) return refuse("Error: Invalid TC action index value.");
  }
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  const absl::Status status = kind_of_request == Request::kGet ? SendGet(session, *client, keys)
                                                               : SendDelete(session, *client, keys);
  if (status.ok()) return kOk;
  if (session->ExplainUnreachable(status)) return kUnreachable;
  return refuse(KernelText(kind_of_request, status));
}

// --- list, flush ---

v1::ActionView ListView(const kinds::PrintOptions& print) {
  if (print.brief) return print.stats ? v1::ACTION_VIEW_TERSE_STATS : v1::ACTION_VIEW_TERSE;
  return print.stats ? v1::ACTION_VIEW_FULL : v1::ACTION_VIEW_BASIC;
}

Outcome SendDump(Session* session, client::Client* client, const std::string& kind,
                 uint32_t since_ms) {
  v1::DumpActionsRequest request;
  request.set_netns(session->netns());
  request.set_kind(kind);
  request.set_view(ListView(session->print()));
  request.set_used_within_ms(since_ms);
  request.set_poll_hw_stats(true);
  kinds::Listing listing(session->print(), 0);
  const std::unique_ptr<client::DumpStream> stream =
      client->DumpActions(request, kListingDeadlines * session->settings().deadline);
  v1::DumpActionsResponse batch;
  while (stream->Next(&batch)) {
    for (const v1::Action& action : batch.actions()) listing.Add(action);
  }
  const absl::Status status = stream->Finish();
  if (!status.ok()) {
    if (session->ExplainUnreachable(status)) return kUnreachable;
    session->Err(KernelText(Request::kOther, status));
    session->Err("Dump terminated");
    return kFailed;
  }
  const uint64_t count = listing.count();
  session->Out(count == 0 ? kinds::EmptyListing(session->print()) : listing.Close(count));
  return kOk;
}

Outcome SendFlush(Session* session, client::Client* client, const std::string& kind) {
  v1::FlushActionsRequest request;
  request.set_netns(session->netns());
  request.set_kind(kind);
  request.set_best_effort(true);
  absl::StatusOr<v1::FlushActionsResponse> response = client->FlushActions(request);
  if (!response.ok()) {
    if (session->ExplainUnreachable(response.status())) return kUnreachable;
    session->Err(KernelText(Request::kFlush, response.status()));
    session->Err("We have an error flushing");
    return {.code = 1};
  }
  if (response->stopped_at() != 0) session->Err("Warning: Unable to flush all TC actions.");
  return kOk;
}

Outcome ListOrFlush(Session* session, Request kind_of_request, Words* words) {
  if (words->left() <= 2) return ShowHelp(session);
  words->Skip();
  // As in get: tc does not look at this word.
  words->Skip();
  const std::string kind(words->Peek());
  words->Skip();
  uint32_t since_ms = 0;
  if (words->Is("since")) {
    if (const ParseError error = words->Advance()) return session->Fail(error, *words);
    if (!kinds::ParseU32(words->Peek(), 0, &since_ms)) {
      return session->Fail(ParseError::Invalid("dump time \"since\" is invalid", words->Peek()),
                           *words);
    }
  }
  if (kinds::FindKind(kind) == nullptr) {
    // The kernel lists nothing of a kind that it does not have.
    if (kind_of_request != Request::kFlush) {
      session->Out(kinds::EmptyListing(session->print()));
      return kOk;
    }
    session->Err("Error: Cannot flush unknown TC action.");
    session->Err("We have an error flushing");
    return {.code = 1};
  }
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  return kind_of_request == Request::kFlush ? SendFlush(session, *client, kind)
                                            : SendDump(session, *client, kind, since_ms);
}

// --- operations of Apply ---

bool ReadModify(Request request, Words* words, Change* change) {
  std::vector<v1::Action> actions;
  if (kinds::ParseActions(words, &actions) || !words->AtEnd()) return false;
  if (actions.empty() || actions.size() > kMaxActions) return false;
  // A replace of several keeps what was done before a failure: no operation does that.
  if (request == Request::kReplace && actions.size() > 1) return false;
  for (v1::Action& action : actions) {
    // The server refuses it with a field that an answer of Apply does not name.
    if (action.skip_sw()) return false;
    if (kinds::KindOfAction(action)->Normalize({}, &action)) return false;
  }
  change->request = request;
  if (request == Request::kReplace) {
    change->operation.mutable_replace()->Swap(&actions[0]);
  } else if (actions.size() == 1) {
    change->operation.mutable_create()->Swap(&actions[0]);
  } else {
    auto* list = change->operation.mutable_create_all();
    for (v1::Action& action : actions) list->add_actions()->Swap(&action);
  }
  return true;
}

bool ReadDelete(Words* words, Change* change) {
  // The word that tc does not look at.
  words->Skip();
  std::vector<v1::ActionKey> keys;
  if (kinds::ParseKeys(words, &keys) || keys.size() != 1 || keys[0].index() == 0) return false;
  change->request = Request::kDelete;
  change->operation.mutable_delete_()->Swap(&keys[0]);
  return true;
}

}  // namespace

bool ReadChange(Words words, Change* change) {
  const bool add = words.Matches("add");
  if (add || words.Matches("change") || words.Matches("replace")) {
    words.Skip();
    return ReadModify(add ? Request::kAdd : Request::kReplace, &words, change);
  }
  if (!words.Matches("delete")) return false;
  words.Skip();
  return ReadDelete(&words, change);
}

Outcome RunActions(Session* session, Words* words) {
  while (!words->AtEnd()) {
    Outcome outcome;
    if (words->Matches("add")) {
      outcome = Modify(session, Request::kAdd, words);
    } else if (words->Matches("change") || words->Matches("replace")) {
      outcome = Modify(session, Request::kReplace, words);
    } else if (words->Matches("delete")) {
      outcome = GetOrDelete(session, Request::kDelete, words);
    } else if (words->Matches("get")) {
      outcome = GetOrDelete(session, Request::kGet, words);
    } else if (words->Matches("list") || words->Matches("show") || words->Matches("lst")) {
      return ListOrFlush(session, Request::kOther, words);
    } else if (words->Matches("flush")) {
      return ListOrFlush(session, Request::kFlush, words);
    } else if (words->Matches("help")) {
      return ShowHelp(session);
    } else {
      return session->Fail(
          ParseError::Return(absl::StrCat("Command \"", words->Peek(),
                                          "\" is unknown, try \"tcact actions help\".\n")),
          *words);
    }
    if (!outcome.ok()) return outcome;
  }
  return kOk;
}

}  // namespace tcact::cli
