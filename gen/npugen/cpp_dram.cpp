// dram.h: the files of gen/spec/dram as they are, so that the models need no file at run time.
#include "gen/npugen/cpp_parts.h"

namespace dvp::npugen {
namespace {

void table(text_file& out, const std::string& name, const std::vector<dram_file>& files) {
  out.line("inline constexpr file ", name, "[] = {");
  for (const dram_file& item : files) {
    out.indent(4).comment(item.doc).line("{", quoted(item.name), ", R\"json(").outdent(4);
    out.line(item.text, ")json\"},");
  }
  out.line("};").line();
}

}  // namespace

rendered_file cpp_dram(const specification& spec) {
  std::vector<std::string> sources;
  for (const auto* files : {&spec.dram_standards, &spec.dram_speeds}) {
    for (const dram_file& item : *files) {
      sources.push_back(item.file);
    }
  }
  text_file out = begin_header(sources, "DRAM standards and speed bins, as JSON text.", {"<string_view>"});
  out.line("namespace dvp::gen::dram {").line();
  out.line("struct file {").line("  std::string_view name;").line("  std::string_view text;").line("};").line();
  table(out, "standards", spec.dram_standards);
  table(out, "speeds", spec.dram_speeds);
  out.line("}  // namespace dvp::gen::dram");
  return {"dvp_gen/dram.h", out.text()};
}

}  // namespace dvp::npugen
