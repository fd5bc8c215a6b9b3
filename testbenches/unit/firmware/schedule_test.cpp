// Plans and pieces as pure functions.
#include <algorithm>
#include <string>
#include <vector>

#include "firmware/kernels/scratchpad_plan.h"
#include "firmware/kernels/streamed_product.h"
#include "gtest/gtest.h"
#include "testbenches/lib/published_models.h"

namespace dvp::kernels {
namespace {

constexpr drivers::npu_limits reference = {
    .rows = 16, .columns = 16, .scratchpad_bytes = 1u << 20, .scratchpad_banks = 16, .accumulator_vectors = 512};

using test::models;
using test::published;

struct named_region {
  std::string name;
  region place;
};

// What lives at the same time in a phase.
std::vector<named_region> regions(const scratchpad_plan& p, bool attention) {
  std::vector<named_region> all = {{"residual", p.residual},
                                   {"normed", p.normed},
                                   {"attn_norm", p.attn_norm},
                                   {"ffn_norm", p.ffn_norm},
                                   {"rope", p.rope},
                                   {"biases", p.biases},
                                   {"identity", p.identity},
                                   {"samples", p.samples},
                                   {"results[0]", p.results[0]},
                                   {"results[1]", p.results[1]},
                                   {"results[2]", p.results[2]},
                                   {"results[3]", p.results[3]},
                                   {"cached[0]", p.cached[0]},
                                   {"cached[1]", p.cached[1]},
                                   {"staging[0]", p.staging[0]},
                                   {"staging[1]", p.staging[1]}};
  if (attention) {
    all.insert(all.end(), {{"queries", p.queries}, {"scores[0]", p.scores[0]}, {"scores[1]", p.scores[1]}});
  } else {
    all.insert(all.end(),
               {{"down", p.down}, {"activations[0]", p.activations[0]}, {"activations[1]", p.activations[1]}});
  }
  return all;
}

bool shares_bank(const region& a, const region& b, std::uint32_t bank_bytes) {
  return a.address / bank_bytes <= (b.end() - 1) / bank_bytes && b.address / bank_bytes <= (a.end() - 1) / bank_bytes;
}

TEST(scratchpad_plan, regions_are_apart_and_partners_in_other_banks) {
  for (const published& m : models) {
    for (const std::uint32_t bytes : {1u << 20, 256u << 10}) {
      SCOPED_TRACE(::testing::Message() << m.name << " in " << bytes);
      drivers::npu_limits limits = reference;
      limits.scratchpad_bytes = bytes;
      scratchpad_plan p;
      const bool planned =
          plan_scratchpad(m.model, limits, {.most_keys = 1024, .granule_bytes = bytes / 256, .groups = true}, p);
      if (bytes == 1u << 20) {
        ASSERT_TRUE(planned);
      }
      if (!planned) {
        continue;
      }
      RecordProperty(std::string(m.name) + "_" + std::to_string(bytes >> 10) + "k_tile_rows",
                     static_cast<int>(p.tile_rows));
      RecordProperty(std::string(m.name) + "_" + std::to_string(bytes >> 10) + "k_channels",
                     static_cast<int>(p.channels));
      RecordProperty(std::string(m.name) + "_" + std::to_string(bytes >> 10) + "k_staging",
                     static_cast<int>(p.staging[0].bytes));
      for (const bool attention : {true, false}) {
        auto all = regions(p, attention);
        std::sort(all.begin(), all.end(),
                  [](const auto& a, const auto& b) { return a.place.address < b.place.address; });
        for (std::size_t i = 0; i < all.size(); ++i) {
          EXPECT_LE(all[i].place.end(), bytes) << all[i].name;
          EXPECT_EQ(all[i].place.address % (bytes / 256), 0u) << all[i].name;
          if (i != 0) {
            EXPECT_GE(all[i].place.address, all[i - 1].place.end()) << all[i - 1].name << " and " << all[i].name;
          }
        }
      }
      const std::uint32_t bank_bytes = bytes / limits.scratchpad_banks;
      EXPECT_FALSE(shares_bank(p.staging[0], p.staging[1], bank_bytes));
      EXPECT_FALSE(shares_bank(p.results[0], p.results[1], bank_bytes));
      EXPECT_FALSE(shares_bank(p.cached[0], p.cached[1], bank_bytes));
      EXPECT_FALSE(shares_bank(p.activations[0], p.activations[1], bank_bytes));
      EXPECT_GE(p.residual.bytes, p.tile_rows * m.model.width * 4);
      EXPECT_GE(p.normed.bytes, p.tile_rows * m.model.width * 2);
      EXPECT_GE(p.results[0].bytes, p.tile_rows * p.channels * 4);
      EXPECT_GE(p.queries.bytes, p.tile_rows * m.model.query_width() * 2);
      EXPECT_GE(p.down.bytes, p.tile_rows * m.model.width * 4);
      EXPECT_EQ(p.channels % m.model.head_length, 0u);
      EXPECT_EQ(p.channels % 32, 0u);
      EXPECT_GE(p.score_rows(1024), 1u);
    }
  }
}

TEST(scratchpad_plan, a_tile_that_was_asked_for_is_kept_or_refused) {
  const config& tiny = models[0].model;
  scratchpad_plan p;
  ASSERT_TRUE(
      plan_scratchpad(tiny, reference, {.tile_rows = 48, .most_keys = 128, .granule_bytes = 4096, .groups = true}, p));
  EXPECT_EQ(p.tile_rows, 48u);
  EXPECT_FALSE(plan_scratchpad(models[2].model, reference,
                               {.tile_rows = 48, .most_keys = 128, .granule_bytes = 4096, .groups = true}, p));
}

TEST(scratchpad_plan, a_large_one_has_wider_chunks_and_longer_pieces) {
  const config& model = models[4].model;
  const auto plan = [&](std::uint32_t bytes) {
    drivers::npu_limits limits = reference;
    limits.scratchpad_bytes = bytes;
    scratchpad_plan p;
    EXPECT_TRUE(plan_scratchpad(model, limits, {.most_keys = 512, .granule_bytes = bytes / 256, .groups = true}, p));
    return p;
  };
  EXPECT_EQ(plan(2u << 20).channels, 256u);
  EXPECT_EQ(plan(2u << 20).staging[0].bytes, 128u << 10);
  EXPECT_EQ(plan(64u << 20).channels, 1024u);
  EXPECT_EQ(plan(64u << 20).staging[0].bytes, 1u << 20);
}

TEST(streamed_product, pieces) {
  using gen::precision;
  struct row {
    std::uint32_t staging, accumulator;
    precision format;
    std::uint32_t vectors, reduction, piece_vectors, piece_reduction;
  };
  const row rows[] = {
      {64 << 10, 512, precision::q8, 128, 128, 128, 128},   // all at once: 128 * 136 bytes
      {64 << 10, 512, precision::q8, 1000, 128, 334, 128},  // three of at most 481
      {64 << 10, 100, precision::q8, 128, 128, 64, 128},    // two of at most 100
      {64 << 10, 512, precision::q8, 256, 4096, 64, 832},   // 64 vectors keep the array busy; 5 parts of at most 960
      {64 << 10, 512, precision::q8, 8, 4096, 8, 4096},     // all there is
      {64 << 10, 512, precision::bf16, 128, 201, 128, 201},
      {8 << 10, 512, precision::bf16, 128, 201, 64, 32},  // 63 elements fit, whole groups only
      {1 << 10, 512, precision::q8, 128, 128, 28, 32},    // fewer vectors than would keep it busy
  };
  for (const row& r : rows) {
    SCOPED_TRACE(::testing::Message() << r.vectors << " x " << r.reduction << " in " << r.staging);
    const piece p = choose_piece(r.staging, r.accumulator, r.format, r.vectors, r.reduction);
    EXPECT_EQ(p.vectors, r.piece_vectors);
    EXPECT_EQ(p.reduction, r.piece_reduction);
  }
}

TEST(streamed_product, every_piece_fits) {
  for (const gen::precision format : {gen::precision::q8, gen::precision::bf16}) {
    for (std::uint32_t staging = 256; staging <= 1u << 17; staging = staging * 3 / 2) {
      for (std::uint32_t vectors = 1; vectors < 3000; vectors = vectors * 2 + 1) {
        for (std::uint32_t groups = 1; groups < 600; groups = groups * 2 + 1) {
          const std::uint32_t reduction = format == gen::precision::q8 ? groups * 32 : groups * 7;
          const piece p = choose_piece(staging, 512, format, vectors, reduction);
          ASSERT_GE(p.vectors, 1u);
          ASSERT_LE(p.vectors, std::min(vectors, 512u));
          ASSERT_TRUE(p.reduction == reduction || p.reduction % 32 == 0);
          ASSERT_LE(p.reduction, (reduction + 31) / 32 * 32);
          const std::uint32_t width = std::min(p.reduction, reduction);
          const std::uint32_t codes = p.vectors * width * (format == gen::precision::q8 ? 1 : 2);
          const std::uint32_t scales = format == gen::precision::q8 ? p.vectors * width / 32 * 2 : 0;
          ASSERT_LE((codes + 63) / 64 * 64 + scales, staging) << vectors << " x " << reduction << " in " << staging;
        }
      }
    }
  }
}

}  // namespace
}  // namespace dvp::kernels
