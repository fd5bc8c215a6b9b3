// The tokenizer: GPT-2's alphabet, characters without merges, merges and pre-tokenizers worked out by hand.
#include "tlm/loader/tokenizer.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "testbenches/unit/loader/tiny_model.h"
#include "tlm/loader/byte_spelling.h"
#include "tlm/loader/pre_tokenizer.h"
#include "tlm/loader/unicode_class.h"
#include "tlm/loader/utf8.h"

namespace dvp::loader {
namespace {

using namespace dvp::testbenches;
using tokens_t = std::vector<std::uint32_t>;
using pieces_t = std::vector<std::string_view>;

tokenizer make(const gguf_writer& writer) {
  const byte_string bytes = writer.build();
  return tokenizer(gguf_file("x.gguf", bytes));
}

// 256 tokens, one per byte in byte order, and the merges with their results behind.
gguf_writer all_bytes(const std::vector<std::string>& merges = {}, const char* pre = "default") {
  std::vector<std::string> tokens(256);
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    append_utf8(tokens[byte], spelling_of(static_cast<std::uint8_t>(byte)));
  }
  for (const std::string& merge : merges) {
    std::string joined = merge;
    joined.erase(joined.find(' '), 1);
    tokens.push_back(joined);
  }
  gguf_writer file;
  file.set("tokenizer.ggml.model", "gpt2");
  file.set("tokenizer.ggml.pre", pre);
  file.set_array("tokenizer.ggml.tokens", tokens);
  file.set_array("tokenizer.ggml.merges", merges);
  return file;
}

TEST(tokenizer, spells_bytes_as_gpt2_does) {
  // Fixed points of GPT-2's table: printable ASCII and Latin-1 spell themselves, the rest count up from U+0100.
  const struct {
    std::uint32_t byte, code_point;
  } rows[] = {{0, 0x100},    {'\n', 0x10a}, {' ', 0x120}, {'!', '!'},    {'~', '~'},   {0x7f, 0x121},
              {0xa0, 0x142}, {0xa1, 0xa1},  {0xac, 0xac}, {0xad, 0x143}, {0xae, 0xae}, {0xff, 0xff}};
  for (const auto& row : rows) {
    EXPECT_EQ(spelling_of(static_cast<std::uint8_t>(row.byte)), row.code_point) << row.byte;
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::string spelling;
    append_utf8(spelling, spelling_of(static_cast<std::uint8_t>(byte)));
    EXPECT_EQ(bytes_spelled(spelling), std::string(1, static_cast<char>(byte)));
  }
  EXPECT_EQ(bytes_spelled("a b"), std::nullopt);     // the space itself is no character of the alphabet
  EXPECT_EQ(bytes_spelled("\u0144"), std::nullopt);  // one behind the last
  EXPECT_EQ(bytes_spelled("\xff"), std::nullopt);
}

TEST(tokenizer, covers_every_byte_without_merges) {
  const tokenizer t = make(all_bytes());
  std::string text(256, '\0');
  std::iota(text.begin(), text.end(), '\0');
  tokens_t expected(256);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(t.encode(text), expected);
  EXPECT_EQ(t.encode(""), tokens_t{});
  EXPECT_EQ(t.decode(t.encode("caf\u00e9 \u20ac \U0001f600\n")), "caf\u00e9 \u20ac \U0001f600\n");
}

TEST(tokenizer, reads_characters_of_a_small_vocabulary) {
  const tokenizer t = make(tiny_model());
  EXPECT_EQ(t.encode("a b\ncab"),
            (tokens_t{tiny_a, tiny_space, tiny_b, tiny_newline, tiny_c, tiny_a, tiny_b}));  // no merges: never "ab"
  EXPECT_EQ(t.encode("\u00e9"), (tokens_t{tiny_e_lead, tiny_e_tail}));
  EXPECT_EQ(t.decode(tokens_t{tiny_abc, tiny_space_a}), "abc a");
}

TEST(tokenizer, names_the_character_without_a_token) {
  const tokenizer t = make(tiny_model());
  const struct {
    const char* text;
    const char* message;
    std::size_t position;
  } rows[] = {
      {"ab Z", "character \"Z\" (U+005A) at byte 3 of the text has no token in this model", 3},
      {"\u00e9\u20ac", "character \"\u20ac\" (U+20AC) at byte 2 of the text has no token in this model", 2},
      // Its first byte has a token, its second has none: still the character is named.
      {"a\u00e8", "character \"\u00e8\" (U+00E8) at byte 1 of the text has no token in this model", 1},
      {"ab\t", "character \"\\x09\" (U+0009) at byte 2 of the text has no token in this model", 2},
      {"a\xff", "byte 0xff, which is not UTF-8, at byte 1 of the text has no token in this model", 1},
      {"<|mask|>", "character \"<\" (U+003C) at byte 0 of the text has no token in this model", 0},
  };
  for (const auto& row : rows) {
    try {
      t.encode(row.text);
      ADD_FAILURE() << row.text << " was accepted";
    } catch (const encode_error& error) {
      EXPECT_STREQ(error.what(), row.message);
      EXPECT_EQ(error.position(), row.position);
    }
  }
}

TEST(tokenizer, knows_control_tokens_only_when_asked) {
  const tokenizer t = make(tiny_model());
  const auto asked = tokenizer::control::as_tokens;
  EXPECT_EQ(t.encode("a<|mask|><|end|>b", asked), (tokens_t{tiny_a, tiny_mask, tiny_end, tiny_b}));
  EXPECT_THROW(t.encode("a<|end|>"), encode_error);
  EXPECT_EQ(t.encode("a<tool>b"), (tokens_t{tiny_a, tiny_tool, tiny_b}));  // user-defined: always
  const tokens_t answer = {tiny_a, tiny_mask, tiny_b, tiny_tool, tiny_end, tiny_pad};
  EXPECT_EQ(t.decode(answer), "ab<tool>");
  EXPECT_EQ(t.decode(answer, tokenizer::show::text_and_control), "a<|mask|>b<tool><|end|><|pad|>");
  EXPECT_TRUE(t.is_control(tiny_mask));
  EXPECT_FALSE(t.is_control(tiny_a));
  EXPECT_THROW(t.decode(tokens_t{tiny_tokens}), std::out_of_range);

  gguf_writer longest = tiny_model();
  longest.set_array<std::string>("tokenizer.ggml.tokens", {"<x>", "<x><y>", "<x><y><z>", "a", "b", "c", "d", "e", "f",
                                                           "g", "h", "i", "j", "k", "l", "m"});
  EXPECT_EQ(make(longest).encode("<x><y><x>a", asked), (tokens_t{1, 0, 3}));

  gguf_writer untyped = tiny_model();
  untyped.remove("tokenizer.ggml.token_type");
  EXPECT_EQ(make(untyped).decode(answer), "ab<tool>");
  EXPECT_EQ(make(untyped).start_token(), std::nullopt);
  untyped.set("tokenizer.ggml.add_bos_token", true);
  untyped.set("tokenizer.ggml.bos_token_id", tiny_c);
  EXPECT_EQ(make(untyped).start_token(), tiny_c);
}

TEST(tokenizer, decodes_to_well_formed_utf8) {
  const tokenizer t = make(all_bytes());
  EXPECT_EQ(t.decode(tokens_t{'a', 0xc3}), "a\ufffd");                    // a character cut off
  EXPECT_EQ(t.decode(tokens_t{0xa9, 'b'}), "\ufffdb");                    // its other half
  EXPECT_EQ(t.decode(tokens_t{0xed, 0xa0, 0x80}), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(t.decode(tokens_t{0xc0, 0x80}), "\ufffd\ufffd");              // an overlong zero
  EXPECT_EQ(t.decode(tokens_t{0xf4, 0x90, 0x80, 0x80}), "\ufffd\ufffd\ufffd\ufffd");
  EXPECT_EQ(t.decode(tokens_t{0xf0, 0x9f, 0x98, 0x80}), "\U0001f600");
}

TEST(tokenizer, applies_merges_by_rank) {
  // Ranks: a b, (space) a, ab c. By hand:
  //   "abcab"  a b c a b -> ab c ab -> abc ab
  //   " ab"    space a b: "a b" ranks before "space a", so space ab
  //   " a"     -> "(space)a"
  //   "a ab"   pieces "a" and " ab"
  const tokenizer t = make(tiny_model({.merges = true}));
  EXPECT_EQ(t.encode("abcab"), (tokens_t{tiny_abc, tiny_ab}));
  EXPECT_EQ(t.encode(" ab"), (tokens_t{tiny_space, tiny_ab}));
  EXPECT_EQ(t.encode(" a"), (tokens_t{tiny_space_a}));
  EXPECT_EQ(t.encode("a ab"), (tokens_t{tiny_a, tiny_space, tiny_ab}));
  EXPECT_EQ(t.encode("b a"), (tokens_t{tiny_b, tiny_space_a}));

  // l o, lo w, e r, low er: "lower" l o w e r -> lo w e r -> low e r -> low er -> lower; "lowest" stays in parts.
  // Equal ranks go leftmost first: "aaa" with "a a" is aa a.
  const tokenizer words = make(all_bytes({"l o", "lo w", "e r", "low er", "a a"}));
  EXPECT_EQ(words.encode("lower"), (tokens_t{259}));
  EXPECT_EQ(words.encode("lowest"), (tokens_t{257, 'e', 's', 't'}));
  EXPECT_EQ(words.encode("slower lower"), (tokens_t{'s', 259, ' ', 259}));
  EXPECT_EQ(words.encode("aaa"), (tokens_t{260, 'a'}));
  EXPECT_EQ(words.encode("aaaa"), (tokens_t{260, 260}));
  // A merge never crosses pieces: "lo" is a piece, "1" another, "w" another.
  EXPECT_EQ(words.encode("lo1w"), (tokens_t{256, '1', 'w'}));
  const std::string many(100000, 'a');
  EXPECT_EQ(words.encode(many), tokens_t(50000, 260));
}

TEST(tokenizer, pre_tokenizers_follow_their_expressions) {
  const struct {
    const char* text;
    pieces_t gpt2, qwen2;
  } rows[] = {
      {"Hello world", {"Hello", " world"}, {"Hello", " world"}},
      {"it's we'LL", {"it", "'s", " we", "'", "LL"}, {"it", "'s", " we", "'LL"}},
      {"a  b", {"a", " ", " b"}, {"a", " ", " b"}},
      {"x1234", {"x", "1234"}, {"x", "1", "2", "3", "4"}},
      {"y 12", {"y", " 12"}, {"y", " ", "1", "2"}},
      {"end.\n\nNew", {"end", ".", "\n", "\n", "New"}, {"end", ".\n\n", "New"}},
      {"a \n b", {"a", " \n", " b"}, {"a", " \n", " b"}},
      {"a   ", {"a", "   "}, {"a", "   "}},
      {"\n\n  x", {"\n\n ", " x"}, {"\n\n", " ", " x"}},
      {"(foo) [1]", {"(", "foo", ")", " [", "1", "]"}, {"(foo", ")", " [", "1", "]"}},
      {"\tint", {"\t", "int"}, {"\tint"}},
      {"na\u00efve \u4e2d\u6587\u0663",
       {"na\u00efve", " \u4e2d\u6587", "\u0663"},
       {"na\u00efve", " \u4e2d\u6587", "\u0663"}},
      {"a\u3000b", {"a", "\u3000", "b"}, {"a", "\u3000b"}},
      {"\xff\xfe"
       "a",
       {"\xff\xfe", "a"},
       {"\xff\xfe", "a"}},
      {"", {}, {}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(split(pre_tokenizer::gpt2, row.text), row.gpt2) << row.text;
    EXPECT_EQ(split(pre_tokenizer::qwen2, row.text), row.qwen2) << row.text;
  }
  EXPECT_EQ(find_pre_tokenizer("default"), pre_tokenizer::gpt2);
  EXPECT_EQ(find_pre_tokenizer("qwen2"), pre_tokenizer::qwen2);
  EXPECT_EQ(find_pre_tokenizer("llama-bpe"), std::nullopt);
}

TEST(tokenizer, character_classes) {
  const struct {
    std::uint32_t code_point;
    character_class kind;
  } rows[] = {{'A', character_class::letter},    {'z', character_class::letter},    {'{', character_class::other},
              {'0', character_class::number},    {0xaa, character_class::letter},   {0xb2, character_class::number},
              {0x2160, character_class::number}, {0x3400, character_class::letter}, {0x4dbf, character_class::letter},
              {0x4dc0, character_class::other},  {0x1f600, character_class::other}, {0x2028, character_class::space},
              {0x200b, character_class::other},  {0x301, character_class::other},   {0x3134a, character_class::letter},
              {0x10ffff, character_class::other}};
  for (const auto& row : rows) {
    EXPECT_EQ(class_of(row.code_point), row.kind) << std::hex << row.code_point;
  }
}

// Whatever the text, its tokens' bytes are the text again, with merges and without, and the pieces join to the text.
TEST(tokenizer, random_texts_come_back) {
  const std::uint64_t seed = 20240607;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::vector<std::string> merges = {"a b", "\u0120 a",      "ab c",         "\u00c3 \u00a9",
                                           "1 2", "\u010a \u010a", "\u0120 \u0120"};
  const tokenizer plain = make(all_bytes()), gpt2 = make(all_bytes(merges)), qwen2 = make(all_bytes(merges, "qwen2"));
  const std::string_view parts[] = {"a",  "b", "c",      " ",      "\n",   "\r",   "1", "2",
                                    "'s", "'", "\u00e9", "\u4e2d", "\xff", "\xc3", "."};
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::uint64_t n = random() % 30; n > 0; --n) {
      text += parts[random() % std::size(parts)];
    }
    for (const tokenizer* t : {&plain, &gpt2, &qwen2}) {
      std::string bytes;
      for (const std::uint32_t token : t->encode(text)) {
        bytes += t->bytes_of(token);
      }
      ASSERT_EQ(bytes, text);
      ASSERT_EQ(t->decode(t->encode(text)), repaired_utf8(text));
    }
    for (const pre_tokenizer kind : {pre_tokenizer::gpt2, pre_tokenizer::qwen2}) {
      std::string joined;
      for (const std::string_view piece : split(kind, text)) {
        ASSERT_FALSE(piece.empty());
        joined += piece;
      }
      ASSERT_EQ(joined, text);
    }
  }
}

}  // namespace
}  // namespace dvp::loader
