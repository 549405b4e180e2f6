#include "proto/kinds/printer.h"

#include "gtest/gtest.h"

namespace tcact::kinds {
namespace {

// The same calls in every mode.
std::string Print(const PrintOptions& options) {
  std::string text;
  Printer out(options, &text);
  out.OpenArray();
  out.OpenObject();
  out.Uint("index", "index %u", 7);
  out.String("kind", " kind %s", "gact");
  out.Int("delta", " delta %d", -3);
  out.Hex("mark", " mark 0x%x", 31);
  out.Size("size", " size %s", 10240);
  out.Flag("flag", " flag");
  out.Line();
  out.OpenArray("list");
  out.String("", "%s,", "a");
  out.String("", "%s", "b");
  out.CloseArray();
  out.OpenObject("empty");
  out.CloseObject();
  out.Text("text only");
  out.JsonUint("json", 1);
  out.CloseObject();
  out.OpenObject();
  out.CloseObject();
  out.CloseArray();
  out.JsonEnd();
  return text;
}

TEST(Printer, TextTakesFormatsAndNoStructure) {
  EXPECT_EQ(Print({}), "index 7 kind gact delta -3 mark 0x1f size 10Kb flag\na,btext only");
}

TEST(Printer, OnelineHasABackslashForALineEnd) {
  PrintOptions options;
  options.oneline = true;
  EXPECT_EQ(Print(options), "index 7 kind gact delta -3 mark 0x1f size 10Kb flag\\a,btext only");
}

TEST(Printer, JsonIsOneLine) {
  PrintOptions options;
  options.json = true;
  EXPECT_EQ(Print(options),
            "[{\"index\":7,\"kind\":\"gact\",\"delta\":-3,\"mark\":\"0x1f\",\"size\":10240,"
            "\"flag\":true,\"list\":[\"a\",\"b\"],\"empty\":{},\"json\":1},{}]\n");
}

TEST(Printer, PrettyJsonHasFieldsOnLinesOfTheirOwnAndArraysThatOpenInPlace) {
  PrintOptions options;
  options.json = true;
  options.pretty = true;
  EXPECT_EQ(Print(options), R"([ {
        "index": 7,
        "kind": "gact",
        "delta": -3,
        "mark": "0x1f",
        "size": 10240,
        "flag": true,
        "list": [ "a","b" ],
        "empty": {},
        "json": 1
    },{} ]
)");
}

TEST(Printer, PrettyMeansNothingInText) {
  PrintOptions options;
  options.pretty = true;
  EXPECT_EQ(Print(options), Print({}));
}

TEST(Printer, AnEmptyArrayIsAsIproute2PrintsIt) {
  for (const bool pretty : {false, true}) {
    PrintOptions options;
    options.json = true;
    options.pretty = pretty;
    std::string text;
    Printer out(options, &text);
    out.OpenArray();
    out.CloseArray();
    out.JsonEnd();
    EXPECT_EQ(text, pretty ? "[ ]\n" : "[]\n");
  }
}

TEST(Printer, JsonStringsAreEscaped) {
  PrintOptions options;
  options.json = true;
  std::string text;
  Printer out(options, &text);
  out.JsonString("", absl::string_view("a\"b\\c\n\t\r\b\f\x01'\0", 13));
  EXPECT_EQ(text, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001'\\u0000\"");
}

TEST(Printer, HasNullsAndAZeroInHexadecimalAsTcHasThem) {
  std::string text;
  Printer out(PrintOptions(), &text);
  out.Null("flag", "flag ");
  out.Hex("type", "type %#X ", 0);
  out.Hex("type", "type %#X", 0xed3e);
  EXPECT_EQ(text, "flag type 0 type 0XED3E");
  std::string json;
  PrintOptions options;
  options.json = true;
  Printer json_out(options, &json);
  json_out.OpenObject();
  json_out.Null("flag", "flag ");
  json_out.Hex("type", "type %#X ", 0);
  json_out.CloseObject();
  EXPECT_EQ(json, "{\"flag\":null,\"type\":\"0\"}");
}

std::string Quoted(absl::string_view text) {
  PrintOptions options;
  options.json = true;
  std::string json;
  Printer(options, &json).JsonString("", text);
  return json;
}

TEST(JsonString, KeepsUtf8AndEscapesWhatItMust) {
  EXPECT_EQ(Quoted("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  EXPECT_EQ(Quoted("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(JsonString, TurnsEachByteThatIsNoUtf8IntoACharacter) {
  // A lone byte, a cut one, an overlong slash, a surrogate, one beyond the last character.
  EXPECT_EQ(Quoted("\xff"), "\"\\u00ff\"");
  EXPECT_EQ(Quoted("x\xc3"), "\"x\\u00c3\"");
  EXPECT_EQ(Quoted("\xc0\xaf"), "\"\\u00c0\\u00af\"");
  EXPECT_EQ(Quoted("\xed\xa0\x80"), "\"\\u00ed\\u00a0\\u0080\"");
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), "\"\\u00f4\\u0090\\u0080\\u0080\"");
}

}  // namespace
}  // namespace tcact::kinds
