#include "proto/kinds/printer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/kinds/units.h"

namespace tcact::kinds {
namespace {

// Bytes of the character that `text` begins with; 0 if it is no UTF-8: cut short, longer than
// needed, half of a surrogate pair or beyond the last character.
size_t CharacterLength(absl::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xc2   ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

// A character of one byte, as a JSON string holds it.
void AppendEscaped(char c, std::string* out) {
  constexpr absl::string_view kEscaped = "\"\\\n\t\r\b\f";
  constexpr absl::string_view kLetters = "\"\\ntrbf";
  const size_t at = kEscaped.find(c);
  if (at != absl::string_view::npos) {
    out->push_back('\\');
    out->push_back(kLetters[at]);
  } else if (static_cast<uint8_t>(c) < 0x20) {
    absl::StrAppendFormat(out, "\\u%04x", static_cast<uint8_t>(c));
  } else {
    out->push_back(c);
  }
}

}  // namespace

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
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length == 0) {
      // Bytes that are no UTF-8, which JSON cannot hold: one character each, so that none is lost.
      absl::StrAppendFormat(out_, "\\u%04x", static_cast<uint8_t>(text[0]));
    } else if (length > 1) {
      out_->append(text.data(), length);
    } else {
      AppendEscaped(text[0], out_);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  out_->push_back('"');
}

void Printer::Indent() {
  if (!pretty_) return;
  out_->push_back('\n');
  out_->append(static_cast<size_t>(depth_) * 4, ' ');
}

}  // namespace tcact::kinds
