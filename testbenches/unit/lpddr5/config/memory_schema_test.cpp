// memory.schema.json against the reader: the same keys, and documents that one takes the other takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "testbenches/unit/lpddr5/config/dramsys_files.h"
#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::lpddr5 {
namespace {

using nlohmann::ordered_json;

std::string refusal(const std::string& text) {
  try {
    parse_memory_config(text, "m.json", "");
  } catch (const core::config_error& error) {
    return error.what();
  }
  return "accepted";
}

bool in_schema(const std::string& text) {
  std::ifstream in("tlm/lpddr5/config/memory.schema.json");
  const nlohmann::json rules = nlohmann::json::parse(in);
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(rules), schema);
  valijson::Validator validator;
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, true, true);
  return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
}

// The message about an unknown key lists those that are read.
TEST(schema, describes_every_key_and_no_other) {
  std::ifstream in("tlm/lpddr5/config/memory.schema.json");
  const ordered_json schema = ordered_json::parse(in);
  const auto check = [&](const ordered_json& part, const std::string& place, auto wrap) {
    std::string known = refusal(wrap(R"({"zzzzzzzzzzzz": 1})"));
    const auto list = known.find("known here: ");
    ASSERT_NE(list, std::string::npos) << place << ": " << known;
    known = ", " + known.substr(list + 12) + ", ";
    std::size_t count = 0;
    for (const auto& [key, rule] : part["properties"].items()) {
      EXPECT_FALSE(rule.value("description", "").empty()) << place << key << " has no description";
      if (key.starts_with("$")) continue;
      ++count;
      EXPECT_NE(known.find(", " + key + ", "), std::string::npos) << place << key << " is not read; read are " << known;
    }
    EXPECT_EQ(static_cast<std::size_t>(std::count(known.begin(), known.end(), ',')), count + 1) << place << known;
  };
  const auto inside = [](const std::string& key) {
    return [key](const std::string& text) { return R"({"device": "lpddr5-6400", ")" + key + "\": " + text + "}"; };
  };
  check(schema, "", [](const std::string&) { return std::string(R"({"device": "lpddr5-6400", "zzzzzzzzzzzz": 1})"); });
  for (const char* key : {"timing", "controller", "tagged", "energy"}) {
    check(schema["properties"][key], std::string(key) + ".", inside(key));
  }
  check(schema["properties"]["mapping"], "mapping.", inside("mapping"));
}

TEST(schema, takes_what_the_reader_takes) {
  EXPECT_TRUE(in_schema(R"({"device": "lpddr5-6400"})"));
  EXPECT_TRUE(in_schema(R"({"memspec": "m.json", "channels": 4})"));
  for (const std::string& name : builtin_memories()) {
    std::ifstream in("tlm/lpddr5/config/configs/" + name + ".json");
    EXPECT_TRUE(in_schema({std::istreambuf_iterator<char>(in), {}})) << name;
  }
}

TEST(schema, refuses_what_the_reader_refuses) {
  for (const char* text : {"{}", R"({"device": "lpddr5-6400", "memspec": "m.json"})",
                           R"({"device": "lpddr5-6400", "rank": 2})", R"({"device": "lpddr5-6400", "ranks": 3})",
                           R"({"device": "lpddr5-6400", "controller": {"refresh_postpone": 9}})",
                           R"({"device": "lpddr5-6400", "mapping": {"bits": {"ROW_BIT": [64]}}})",
                           R"({"device": "lpddr5-6400", "tagged": {"core_feed": 17}})"}) {
    EXPECT_FALSE(in_schema(text)) << text;
    EXPECT_NE(refusal(text), "accepted") << text;
  }
}

}  // namespace
}  // namespace dvp::lpddr5
