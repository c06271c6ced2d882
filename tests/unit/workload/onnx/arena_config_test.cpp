// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/arena_config.hpp"

#include "schema/catalog.hpp"
#include "unit/workload/onnx/ort_fixture.hpp"

namespace ridgeline::workload {
namespace {

class ArenaConfigTest : public ::testing::Test {
 protected:
  ArenaConfigTest() : library_(OrtLibrary::open("", test_search())) {}
  void SetUp() override { ASSERT_TRUE(library_) << library_.error().message; }
  base::Result<OrtLibrary> library_;
};

TEST_F(ArenaConfigTest, the_library_knows_every_row_of_the_catalogue) {
  int rows = 0;
  for (const auto& param : schema::catalog()) {
    if (param.scope != schema::ParamScope::arena_option) continue;
    ++rows;
    const auto value = param.type == schema::ParamType::boolean ? schema::Value(true) : schema::Value(4096);
    const auto arena = make_arena_config(library_->api(), {{param.key, value}});
    ASSERT_TRUE(arena) << param.key << ": " << arena.error().message;
    EXPECT_NE(arena->get(), nullptr);
  }
  EXPECT_EQ(rows, 7);
}

TEST_F(ArenaConfigTest, takes_over_the_options_that_it_replaces) {
  const auto arena = make_arena_config(library_->api(), {{"max_dead_bytes_per_chunk", 1 << 20},
                                                         {"gpu_mem_limit_gb", 4},
                                                         {"arena_extend_strategy", "kSameAsRequested"},
                                                         {"cudnn_conv_algo_search", "HEURISTIC"}});
  EXPECT_TRUE(arena) << arena.error().message;
}

TEST_F(ArenaConfigTest, who_asks_for_nothing_shares_nothing) {
  EXPECT_FALSE(sets_arena({{"gpu_mem_limit_gb", 4}, {"arena_extend_strategy", "kSameAsRequested"}}));
  EXPECT_TRUE(sets_arena({{"use_cuda_mempool", true}}));
  const auto environment = OrtEnvironment::create(std::move(*library_));
  ASSERT_TRUE(environment) << environment.error().message;
  const auto arena = SharedArena::of(**environment, {{"gpu_mem_limit_gb", 4}});
  ASSERT_TRUE(arena);
  EXPECT_EQ(*arena, nullptr);
}

}  // namespace
}  // namespace ridgeline::workload
