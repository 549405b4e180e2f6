#include "proto/kinds/action_print.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tcact::kinds {
namespace {

absl::string_view NameOf(v1::HwStats type) {
  switch (type) {
    case v1::HW_STATS_IMMEDIATE:
      return "immediate";
    case v1::HW_STATS_DELAYED:
      return "delayed";
    default:
      return "disabled";
  }
}

// What hardware counted, and what is left for software. Nothing if hardware counted nothing.
void PrintHwPart(const v1::ActionStats& stats, Printer* out) {
  if (stats.hw_bytes() == 0 && stats.hw_packets() == 0) return;
  if (stats.bytes() >= stats.hw_bytes() && stats.packets() >= stats.hw_packets()) {
    out->Line();
    out->Uint("sw_bytes", "\tSent software %u bytes", stats.bytes() - stats.hw_bytes());
    out->Uint("sw_packets", " %u pkt", stats.packets() - stats.hw_packets());
  }
  out->Line();
  out->Uint("hw_bytes", "\tSent hardware %u bytes", stats.hw_bytes());
  out->Uint("hw_packets", " %u pkt", stats.hw_packets());
}

void PrintStats(const v1::ActionStats& stats, Printer* out) {
  out->Text("\tAction statistics:");
  out->Line();
  out->OpenObject("stats");
  out->Uint("bytes", "\tSent %u bytes", stats.bytes());
  out->Uint("packets", " %u pkt", stats.packets());
  out->Uint("drops", " (dropped %u", stats.drops());
  out->Uint("overlimits", ", overlimits %u", stats.overlimits());
  out->Uint("requeues", " requeues %u) ", stats.requeues());
  PrintHwPart(stats, out);
  out->Line();
  out->Size("backlog", "\tbacklog %s", stats.backlog());
  out->Uint("qlen", " %up", stats.qlen());
  out->TextFormat(" requeues %u", stats.requeues());
  out->CloseObject();
  out->Line();
}

// On one line. There is no hardware that could have the action.
void PrintFlags(const v1::Action& action, Printer* out) {
  if (action.no_percpu()) out->Flag("no_percpu", "\tno_percpu");
  if (action.skip_sw()) out->Flag("skip_sw", "\tskip_sw");
  if (action.skip_hw()) {
    out->Flag("skip_hw", "\tskip_hw");
  } else {
    out->Flag("not_in_hw", "\tnot_in_hw");
  }
  out->Line();
}

void PrintHwStats(const char* key, v1::HwStats type, Printer* out) {
  if (type == v1::HW_STATS_UNSPECIFIED) return;
  out->Text("\t");
  out->Text(key);
  out->OpenArray(key);
  out->String("", " %s", NameOf(type));
  out->CloseArray();
  out->Line();
}

}  // namespace

void PrintAction(const v1::Action& action, uint64_t order, const PrintOptions& options,
                 Printer* out) {
  out->OpenObject();
  out->Line();
  out->Uint("order", "\taction order %u: ", order);
  const Kind* kind = FindKind(action.kind());
  if (kind == nullptr) kind = KindOfAction(action);
  const bool full = kind != nullptr && action.params_case() == kind->field_number();
  if (kind != nullptr) {
    kind->PrintHead(out);
  } else {
    // A kind that the server knows and this program does not.
    out->String("kind", "%s ", action.kind());
  }
  if (full) {
    kind->Print(action, options, out);
  } else {
    out->Uint("index", "\t index %u", action.index());
    out->Line();
  }
  if (options.stats && action.has_stats()) PrintStats(action.stats(), out);
  if (!action.cookie().empty()) {
    out->String("cookie", "\tcookie %s", absl::BytesToHexString(action.cookie()));
    out->Line();
  }
  if (full) {
    PrintFlags(action, out);
    PrintHwStats("hw_stats", action.hw_stats(), out);
    PrintHwStats("used_hw_stats", action.used_hw_stats(), out);
  }
  out->CloseObject();
}

Listing::Listing(const PrintOptions& options, uint64_t first_order)
    : options_(options), next_order_(first_order), printer_(options, &text_) {
  printer_.OpenArray();
  printer_.OpenObject();
  printer_.Uint("total acts", "total acts %u", 0);
  total_at_ = text_.size() - 1;
  printer_.Line();
  printer_.CloseObject();
  printer_.OpenObject();
  printer_.OpenArray("actions");
}

void Listing::Add(const v1::Action& action) {
  PrintAction(action, next_order_, options_, &printer_);
  ++next_order_;
  ++count_;
}

std::string Listing::Close(uint64_t total) {
  printer_.CloseArray();
  printer_.CloseObject();
  printer_.CloseArray();
  printer_.JsonEnd();
  text_.replace(total_at_, 1, absl::StrCat(total));
  return std::move(text_);
}

std::string EmptyListing(const PrintOptions& options) {
  std::string text;
  Printer printer(options, &text);
  printer.OpenArray();
  printer.CloseArray();
  printer.JsonEnd();
  return text;
}

}  // namespace tcact::kinds
