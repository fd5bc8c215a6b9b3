#include "tlm/platform/html_report/input.h"

#include <fstream>

#include "tlm/core/strict_json.h"
#include "tlm/platform/files.h"
#include "tlm/platform/html_report/published_check.h"
#include "tlm/platform/schema_check.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct document_kind {
  const char* format;  // the value of its key schema, version included
  const char* schema;  // the file that describes it
};
constexpr document_kind stats_kind{"dllm-vp.stats.1", "stats.schema.json"};
constexpr document_kind comparison_kind{"dllm-vp.compare.1", "compare.schema.json"};
constexpr document_kind published_kind{"dllm-vp.published.1", "published.schema.json"};

ordered_json parse(const fs::path& file) {
  try {
    return core::parse_json(read_text(file), file.string());
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  }
}

std::string format_of(const ordered_json& document) {
  if (!document.is_object() || !document.contains("schema") || !document["schema"].is_string()) return {};
  return document["schema"];
}

// The part of a format's name before its version.
std::string_view family(std::string_view format) {
  return format.substr(0, format.rfind('.'));
}

void check_format(const ordered_json& document, const document_kind& kind, const fs::path& file) {
  const std::string format = format_of(document);
  if (format == kind.format) return;
  const bool other_version = family(format) == family(kind.format);
  throw usage_error(file.string() + ": schema: " + (format.empty() ? "is missing" : "is " + format) + "; " +
                    (other_version ? "this program reads " : "wanted is ") + kind.format +
                    (other_version ? ", use the dllm-vp that wrote the file" : ", as dllm-vp writes it with --out"));
}

ordered_json schema_of(const document_kind& kind) {
  return parse(data_root() / "tlm/platform/configs" / kind.schema);
}

void check(const ordered_json& document, const document_kind& kind, const fs::path& file) {
  check_format(document, kind, file);
  check_against_schema(document, schema_of(kind), file.string(), kind.schema);
}

bool is_database(const fs::path& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::string head(magic.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  return in.read(head.data(), static_cast<std::streamsize>(head.size())) && head == magic;
}

fs::path results_in(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"compare.json", "stats.json"}) {
    if (fs::exists(folder / name, ignored)) return folder / name;
  }
  throw usage_error(folder.string() +
                    ": has neither stats.json nor compare.json; give the folder that run or compare had as --out");
}

}  // namespace

ordered_json read_stats(const fs::path& file) {
  ordered_json stats = parse(file);
  check(stats, stats_kind, file);
  return stats;
}

report_input open_report_input(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw usage_error(path + ": is not there; give results of run, compare, sweep or scripts/published");
  }
  report_input input;
  input.name = path;
  input.file = fs::is_directory(path, ignored) ? results_in(path) : fs::path(path);
  if (is_database(input.file)) {
    input.kind = report_kind::sweep;
    return input;
  }
  input.content = parse(input.file);
  const std::string given = format_of(input.content);
  if (family(given) == family(comparison_kind.format)) {
    input.kind = report_kind::comparison;
    check(input.content, comparison_kind, input.file);
  } else if (family(given) == family(published_kind.format)) {
    input.kind = report_kind::published;
    check_format(input.content, published_kind, input.file);
    check_published(input.content, schema_of(published_kind), input.file.string());
  } else {
    check(input.content, stats_kind, input.file);
  }
  return input;
}

}  // namespace dvp::platform
