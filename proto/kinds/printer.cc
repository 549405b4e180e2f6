#include "proto/kinds/printer.h"

#include "absl/strings/str_cat.h"
#include "proto/kinds/units.h"

namespace tcact::kinds {

void Printer::Hex(absl::string_view key, const absl::FormatSpec<uint64_t>& format, uint64_t value) {
  if (json_) {
    JsonString(key, absl::StrFormat("%#x", value));
  } else {
    absl::StrAppendFormat(out_, format, value);
  }
}

void Printer::HexDigits(absl::string_view key, const absl::FormatSpec<uint64_t>& format,
                        uint64_t value) {
  if (json_) {
    JsonString(key, absl::StrFormat("%x", value));
  } else {
    absl::StrAppendFormat(out_, format, value);
  }
}

void Printer::Size(absl::string_view key, const absl::FormatSpec<absl::string_view>& format,
                   uint64_t bytes) {
  if (json_) {
    JsonUint(key, bytes);
  } else {
    absl::StrAppendFormat(out_, format, FormatSize(bytes));
  }
}

void Printer::Flag(absl::string_view key, absl::string_view text) {
  if (json_) {
    JsonBool(key, true);
  } else {
    Text(text);
  }
}

void Printer::Null(absl::string_view key, absl::string_view text) {
  if (!json_) return Text(text);
  Begin(key);
  out_->append("null");
}

void Printer::OpenObject(absl::string_view key) { Open(key, '{'); }

void Printer::CloseObject() {
  if (!json_) return;
  --depth_;
  if (comma_) Indent();
  out_->push_back('}');
  comma_ = true;
}

void Printer::OpenArray(absl::string_view key) {
  if (!json_) return;
  Open(key, '[');
  if (pretty_) out_->push_back(' ');
}

void Printer::CloseArray() {
  if (!json_) return;
  --depth_;
  if (pretty_ && comma_) out_->push_back(' ');
  out_->push_back(']');
  comma_ = true;
}

void Printer::JsonUint(absl::string_view key, uint64_t value) {
  if (!json_) return;
  Begin(key);
  absl::StrAppend(out_, value);
}

void Printer::JsonInt(absl::string_view key, int64_t value) {
  if (!json_) return;
  Begin(key);
  absl::StrAppend(out_, value);
}

void Printer::JsonString(absl::string_view key, absl::string_view value) {
  if (!json_) return;
  Begin(key);
  AppendQuoted(value);
}

void Printer::JsonBool(absl::string_view key, bool value) {
  if (!json_) return;
  Begin(key);
  out_->append(value ? "true" : "false");
}

void Printer::JsonEnd() {
  if (json_) out_->push_back('\n');
}

void Printer::Begin(absl::string_view key) {
  if (comma_) out_->push_back(',');
  comma_ = true;
  if (key.empty()) return;
  Indent();
  AppendQuoted(key);
  out_->push_back(':');
  if (pretty_) out_->push_back(' ');
}

void Printer::Open(absl::string_view key, char bracket) {
  if (!json_) return;
  Begin(key);
  out_->push_back(bracket);
  ++depth_;
  comma_ = false;
}

void Printer::AppendQuoted(absl::string_view text) {
  out_->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out_->append("\\\"");
        break;
      case '\\':
        out_->append("\\\\");
        break;
      case '\n':
        out_->append("\\n");
        break;
      case '\t':
        out_->append("\\t");
        break;
      case '\r':
        out_->append("\\r");
        break;
      case '\b':
        out_->append("\\b");
        break;
      case '\f':
        out_->append("\\f");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          absl::StrAppendFormat(out_, "\\u%04x", static_cast<unsigned>(c));
        } else {
          out_->push_back(c);
        }
    }
  }
  out_->push_back('"');
}

void Printer::Indent() {
  if (!pretty_) return;
  out_->push_back('\n');
  out_->append(static_cast<size_t>(depth_) * 4, ' ');
}

}  // namespace tcact::kinds
