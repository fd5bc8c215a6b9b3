#include "gen/npugen/load.h"

#include "gen/npugen/parse.h"
#include "gen/npugen/schema.h"
#include "gen/npugen/validate.h"

namespace dvp::npugen {

specification load(const std::filesystem::path& directory) {
  const std::vector<source_file> files = parse_specification(directory);
  const schema_set schemas(directory / "schemas");
  for (const source_file& file : files) {
    schemas.check(file);
  }
  return validate(files);
}

}  // namespace dvp::npugen
