#include <boost/program_options.hpp>
#include <cstdint>
#include <iostream>
#include <random>

#include "dvp_gen/arrays.h"
#include "tlm/platform/array_seats.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace po = boost::program_options;

namespace {

// A tile of random shape and values, all vectors of one format or each of its own; every bit pattern of every format
// may occur.
class random_tile {
 public:
  random_tile(const gen::array_config& array, std::mt19937_64& random) {
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto format = [&] { return static_cast<numerics::stream_format>(below(5)); };
    operands_.format = format();
    operands_.half_step = below(2) == 0;
    operands_.columns = 1 + below(array.columns);
    operands_.vectors = 1 + below(4 * array.columns);
    operands_.group = 1 + below(3 * array.rows);
    operands_.reduction = operands_.group * (1 + below(3));
    operands_.stream_stride = (operands_.reduction + 3) / 4 * 4;  // every vector begins with a byte
    stationary_.resize(std::size_t{operands_.reduction} * operands_.columns);
    stream_.resize(std::size_t{operands_.vectors} * operands_.stream_stride);
    out_.resize(std::size_t{operands_.chains()} * operands_.vectors * operands_.columns);
    for (auto& value : stationary_) value = static_cast<std::uint16_t>(random());
    for (auto& value : stream_) value = static_cast<std::uint16_t>(random());
    if (below(2) == 0) {
      for (std::size_t v = 0; v < operands_.vectors; ++v) {
        each_.push_back({format(), below(2) == 0, &stream_[v * operands_.stream_stride]});
      }
      operands_.each = each_.data();
    }
    operands_.stationary = stationary_.data();
    operands_.stream = stream_.data();
    operands_.out = out_.data();
  }
  const numerics::chain_operands& operands() const { return operands_; }

 private:
  numerics::chain_operands operands_;
  std::vector<std::uint16_t> stationary_;
  std::vector<std::uint16_t> stream_;
  std::vector<numerics::stream_vector> each_;
  std::vector<float> out_;
};

}  // namespace

int check_array_command(const std::vector<std::string>& arguments) {
  po::options_description options("dllm-vp check-array: random tiles through the RTL and the model");
  int tiles = 64;
  std::uint64_t seed = 1;
  std::string name = "ref_16x16";
  options.add_options()("tiles", po::value(&tiles), "how many (default 64)")("seed", po::value(&seed),
                                                                             "of shapes and values (default 1)")(
      "array", po::value(&name), "array configuration (default ref_16x16)")("help,h", "this text");
  po::variables_map given;
  try {
    constexpr int exact = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(options).positional({}).style(exact).run(), given);
    po::notify(given);
  } catch (const po::error& error) {
    throw usage_error(std::string(error.what()) + "; dllm-vp check-array --help lists the options");
  }
  if (given.count("help") != 0) {
    std::cout << options;
    return exit_ok;
  }
  if (tiles < 1) throw usage_error("--tiles " + std::to_string(tiles) + ": takes a whole number from 1");
  const gen::array_config* array = gen::find_array(name);
  if (array == nullptr) throw usage_error("--array " + name + ": no array has that name");

  array_seats seats(*array, array_choice::both, 1, "", 0);
  std::mt19937_64 random(seed);
  std::uint64_t cycles = 0;
  for (int i = 0; i < tiles; ++i) {
    const random_tile tile(*array, random);
    cycles += seats.seat().run({tile.operands(), static_cast<std::uint64_t>(i)});
  }
  std::cout << "array rtl = model on " << tiles << " tiles, " << cycles << " cycles (" << name << ", seed " << seed
            << ")\n";
  return exit_ok;
}

}  // namespace dvp::platform
