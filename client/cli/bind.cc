#include "client/cli/bind.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/kernel_text.h"
#include "proto/kinds/action_list.h"
#include "proto/kinds/kind.h"
#include "proto/kinds/printer.h"

namespace tcact::cli {
namespace {

using kinds::ParseError;
using kinds::Words;

template <typename Actions>
void PrintReferences(Session* session, const Actions& actions) {
  std::string text;
  kinds::Printer out(session->print(), &text);
  out.OpenArray();
  for (const v1::Action& action : actions) {
    out.OpenObject();
    out.String("kind", "%s", action.kind());
    out.Uint("index", " index %u", action.index());
    out.Uint("ref", " ref %u", action.refcnt());
    out.Uint("bind", " bind %u", action.bindcnt());
    if (action.refcnt() == 0) out.Flag("destroyed", " destroyed");
    out.Line();
    out.CloseObject();
  }
  out.CloseArray();
  out.JsonEnd();
  session->Out(text);
}

Outcome Refused(Session* session, Request request, const absl::Status& status) {
  if (session->ExplainUnreachable(status)) return kUnreachable;
  session->Err(KernelText(request, status));
  return kFailed;
}

// What is left once a list was read.
Outcome TooMuch(Session* session, const Words& words) {
  session->Err(absl::StrCat("What is \"", words.Peek(), "\"? Try \"tcact help\"."));
  return kFailed;
}

}  // namespace

Outcome RunBind(Session* session, Words* words) {
  std::vector<v1::Action> actions;
  if (const ParseError error = kinds::ParseActions(words, &actions))
    return session->Fail(error, *words);
  if (!words->AtEnd()) return TooMuch(session, *words);
  if (actions.empty()) return session->Fail(ParseError::Incomplete(), *words);
  v1::BindRequest request;
  request.set_netns(session->netns());
  request.set_view(v1::ACTION_VIEW_BASIC);
  for (v1::Action& action : actions) request.add_actions()->Swap(&action);
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  absl::StatusOr<v1::BindResponse> response = (*client)->Bind(request);
  if (!response.ok()) return Refused(session, Request::kBind, response.status());
  PrintReferences(session, response->actions());
  return kOk;
}

Outcome RunUnbind(Session* session, Words* words) {
  std::vector<v1::ActionKey> keys;
  if (const ParseError error = kinds::ParseKeys(words, &keys)) return session->Fail(error, *words);
  if (keys.empty()) return session->Fail(ParseError::Incomplete(), *words);
  v1::UnbindRequest request;
  request.set_netns(session->netns());
  for (v1::ActionKey& key : keys) request.add_keys()->Swap(&key);
  absl::StatusOr<client::Client*> client = session->client();
  if (!client.ok()) return session->Explain(client.status());
  absl::StatusOr<v1::UnbindResponse> response = (*client)->Unbind(request);
  if (!response.ok()) return Refused(session, Request::kUnbind, response.status());
  PrintReferences(session, response->actions());
  return kOk;
}

}  // namespace tcact::cli
