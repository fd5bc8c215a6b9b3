#include "tlm/core/strict_json.h"

#include <gtest/gtest.h>

#include <string>

#include "tlm/core/nearest_word.h"

namespace dvp::core {
namespace {

template <typename Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const config_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(parse_json, takes_comments_and_refuses_doubled_keys_depth_and_bad_text) {
  const auto said = [](const std::string& text) { return refusal_of([&] { parse_json(text, "f"); }); };
  EXPECT_EQ(said("{ /* a */ \"a\": 1 // b\n }"), "accepted");
  EXPECT_EQ(said("{\"a\": {\"b\": 1, \"b\": 2}}"), "f: \"b\": the key appears twice in one object; remove one of them");
  EXPECT_EQ(said("{\"a\": {\"b\": 1}, \"c\": {\"b\": 1}}"), "accepted");
  EXPECT_EQ(said("{\"a\": 1,\n \"b\" 2}").rfind("f: is not JSON at line 2, column 6: ", 0), 0U)
      << said("{\"a\": 1,\n \"b\" 2}");
  EXPECT_EQ(said(std::string(64, '[') + "1" + std::string(64, ']')), "accepted");
  EXPECT_NE(said(std::string(65, '[') + std::string(65, ']')).find("nests deeper than 64"), std::string::npos);
  EXPECT_NE(said("\"\xff\"").find("is not JSON"), std::string::npos);
  EXPECT_NE(said("1e999").find("is not JSON"), std::string::npos);
}

TEST(json_object, values_at_the_edges_of_their_ranges) {
  const auto document = parse_json(R"({"n": 18446744073709551615, "m": 8.0, "z": 0, "f": 0.5})", "f");
  const json_object top(document, "f");
  EXPECT_EQ(top.whole("n", 0, UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(top.whole("m", 8, 8), 8U);
  EXPECT_EQ(refusal_of([&] { top.whole("m", 9, 10); }), "f: m: 8.0 is out of range; give a whole number, 9 to 10");
  EXPECT_EQ(top.whole_or("absent", 7, 9, 10), 7U) << "a default is not checked";
  EXPECT_EQ(top.number("z", 0, 1), 0.0);
  EXPECT_EQ(refusal_of([&] { top.number("f", 0, 0.25); }), "f: f: 0.5 is out of range; give a number from 0 to 0.25");
}

TEST(json_object, every_key_that_was_asked_for_is_known_and_no_other) {
  const auto document =
      parse_json(R"({"inner": {"speed": 1, "$schema": "s", "_note": "n", "sped": 2}, "list": [{}, {"x": 1}]})", "f");
  const json_object top(document, "f");
  const json_object inner = top.object("inner");
  EXPECT_EQ(inner.whole_or("speed", 0, 0, 9), 1U);
  EXPECT_EQ(inner.whole_or("absent", 5, 0, 9), 5U);
  EXPECT_EQ(refusal_of([&] { inner.finish(); }), "f: inner.sped: unknown key; did you mean inner.speed?");
  const auto list = top.objects("list");
  EXPECT_EQ(refusal_of([&] { list[0].finish(); }), "accepted");
  EXPECT_EQ(refusal_of([&] { list[1].finish(); }).rfind("f: list[1].x: unknown key", 0), 0U);
  EXPECT_EQ(refusal_of([&] { top.finish(); }), "accepted");
  EXPECT_EQ(refusal_of([&] { top.object("list"); }), "f: list: [{},{\"x\":1}] is not an object; write { ... } here");
}

TEST(json_object, words_in_any_letter_case) {
  constexpr named_value<int> table[] = {{"open", 1}, {"closed", 2}};
  const auto document = parse_json(R"({"a": "OPEN", "b": "clsed", "c": "purple", "d": 3})", "f");
  const json_object top(document, "f");
  EXPECT_EQ(top.choice("a", table), 1);
  EXPECT_EQ(refusal_of([&] { top.choice("b", table); }),
            "f: b: \"clsed\" is not known; did you mean closed? it takes one of open, closed");
  EXPECT_EQ(refusal_of([&] { top.choice("c", table); }), "f: c: \"purple\" is not known; it takes one of open, closed");
  EXPECT_EQ(refusal_of([&] { top.choice("d", table); }), "f: d: 3 is not a text; write it in quotes");
}

TEST(config_error, stays_on_one_line) {
  EXPECT_STREQ(config_error("f", "a\nb", "c\td").what(), "f: a b: c d");
}

TEST(nearest_word, ignores_letter_case_and_gives_up_on_strangers) {
  EXPECT_EQ(nearest_word("bank_bit", {"ROW_BIT", "BANK_BIT"}), "BANK_BIT");
  EXPECT_EQ(nearest_word("zzzz", {"ROW_BIT", "BANK_BIT"}), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), {"x"}), "");
  EXPECT_EQ(word_list({"a", "b"}), "a, b");
}

}  // namespace
}  // namespace dvp::core
