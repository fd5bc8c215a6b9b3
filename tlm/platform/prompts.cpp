#include "tlm/platform/prompts.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tlm/platform/files.h"

namespace dvp::platform {

std::vector<prompt> read_prompts(const std::filesystem::path& path, std::uint32_t limit) {
  std::istringstream lines(read_text(path));
  std::vector<prompt> prompts;
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty()) continue;
    const auto fail = [&](const std::string& what) {
      throw usage_error(path.string() + " line " + std::to_string(number) + ": " + what +
                        "; expected {\"id\": \"...\", \"prompt\": \"...\", \"answer\": \"...\"}");
    };
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) fail("not a JSON object");
    prompt item;
    for (const auto& [key, value] : json.items()) {
      if (key != "id" && key != "prompt" && key != "answer") fail("unknown key \"" + key + "\"");
      if (!value.is_string()) fail("\"" + key + "\" is not a string");
      if (key == "id") item.id = value;
      if (key == "prompt") item.text = value;
      if (key == "answer") item.expected = value.get<std::string>();
    }
    if (item.text.empty()) fail("no \"prompt\"");
    if (item.id.empty()) item.id = "line-" + std::to_string(number);
    prompts.push_back(std::move(item));
    if (limit != 0 && prompts.size() == limit) break;
  }
  if (prompts.empty()) throw usage_error(path.string() + ": has no prompts");
  return prompts;
}

std::vector<std::uint32_t> tokens_of(const prompt& asked, const loaded_model& model) {
  if (!asked.tokens.empty()) return asked.tokens;
  return model.tokenizer().encode(asked.text + model.defaults().prompt_suffix);
}

}  // namespace dvp::platform
