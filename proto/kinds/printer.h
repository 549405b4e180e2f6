// Printer: one call prints a value as tc's text or as tc's JSON, so that the two cannot drift
// apart.
//
// In JSON mode a value is a field named `key` of the open object, or, with an empty key, an element
// of the open array; texts and formats are ignored. In text mode keys and structure are ignored.
// What exists in one of the two only has calls of its own (Text, Line; Json...).
//
// Layout of JSON is that of iproute2: all in one line, or pretty with fields on lines of their own,
// four spaces a level, and arrays that open and close on the line they stand in.
//
// Thread safety: not thread-safe.
#ifndef TCACT_PROTO_KINDS_PRINTER_H_
#define TCACT_PROTO_KINDS_PRINTER_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace tcact::kinds {

// tc's options that change what is printed.
struct PrintOptions {
  bool stats = false;    // -s
  bool details = false;  // -d
  bool raw = false;      // -r
  bool json = false;     // -j
  bool pretty = false;   // -p; means nothing without json
  bool brief = false;    // -br
  bool oneline = false;  // -o: a backslash for each line end
  bool iec = false;      // -iec: rates in units of 1024
};

class Printer {
 public:
  // Appends to *out, which must outlive the printer. Of the options json, pretty and oneline matter
  // here.
  Printer(const PrintOptions& options, std::string* out)
      : json_(options.json), pretty_(options.pretty), oneline_(options.oneline), out_(out) {}
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  bool json() const { return json_; }

  // --- text and JSON ---

  void Uint(absl::string_view key, const absl::FormatSpec<uint64_t>& format, uint64_t value) {
    if (json_) {
      JsonUint(key, value);
    } else {
      absl::StrAppendFormat(out_, format, value);
    }
  }
  void Int(absl::string_view key, const absl::FormatSpec<int64_t>& format, int64_t value) {
    if (json_) {
      JsonInt(key, value);
    } else {
      absl::StrAppendFormat(out_, format, value);
    }
  }
  void String(absl::string_view key, const absl::FormatSpec<absl::string_view>& format,
              absl::string_view value) {
    if (json_) {
      JsonString(key, value);
    } else {
      absl::StrAppendFormat(out_, format, value);
    }
  }
  // A number that JSON holds as the string "0x1f", 0 as "0".
  void Hex(absl::string_view key, const absl::FormatSpec<uint64_t>& format, uint64_t value);
  // A number that JSON holds as the string "1f".
  void HexDigits(absl::string_view key, const absl::FormatSpec<uint64_t>& format, uint64_t value);
  // A size in bytes: "10Kb" in text (as the format's %s), the number in JSON.
  void Size(absl::string_view key, const absl::FormatSpec<absl::string_view>& format,
            uint64_t bytes);
  // A flag that is set: `text`, or true.
  void Flag(absl::string_view key, absl::string_view text);
  // A flag that is set, where tc's JSON has null for it: `text`, or null.
  void Null(absl::string_view key, absl::string_view text);

  // --- text only ---

  void Text(absl::string_view text) {
    if (!json_) out_->append(text.data(), text.size());
  }
  template <typename... Args>
  void TextFormat(const absl::FormatSpec<Args...>& format, const Args&... args) {
    if (!json_) absl::StrAppendFormat(out_, format, args...);
  }
  // The end of a line.
  void Line() { Text(oneline_ ? "\\" : "\n"); }

  // --- JSON only ---

  void OpenObject(absl::string_view key = {});
  void CloseObject();
  void OpenArray(absl::string_view key = {});
  void CloseArray();
  void JsonUint(absl::string_view key, uint64_t value);
  void JsonInt(absl::string_view key, int64_t value);
  void JsonString(absl::string_view key, absl::string_view value);
  void JsonBool(absl::string_view key, bool value);
  // The end of the document: JSON's line end.
  void JsonEnd();

 private:
  // A comma if one is due; then the key.
  void Begin(absl::string_view key);
  void Open(absl::string_view key, char bracket);
  void AppendQuoted(absl::string_view text);
  // A new line and its indentation, if pretty.
  void Indent();

  const bool json_;
  const bool pretty_;
  const bool oneline_;
  std::string* const out_;
  // How many objects and arrays are open.
  int depth_ = 0;
  // The open object or array has a member, so the next one needs a comma.
  bool comma_ = false;
};

}  // namespace tcact::kinds

#endif  // TCACT_PROTO_KINDS_PRINTER_H_
