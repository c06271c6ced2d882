// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/response_surface.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

using schema::Configuration;

SyntheticOptions options_of(std::string_view text) { return parse_synthetic_options(text).value(); }

double duration(std::string_view text, const Configuration& configuration) {
  return relative_duration(options_of(text), configuration);
}

class Surface : public ::testing::TestWithParam<const char*> {
 protected:
  /// How much longer it takes with `changed` put on top of `from`.
  static double effect(const Configuration& changed, const Configuration& from = {}) {
    return duration(text(), from.merged(changed)) / duration(text(), from);
  }
  static std::string text() { return std::string("surface=") + GetParam(); }
  static bool is(std::string_view name) { return name == GetParam(); }
};

TEST_P(Surface, takes_one_unit_at_the_defaults) {
  EXPECT_EQ(effect({}), 1);
  EXPECT_EQ(duration(text(), {}), 1);
  EXPECT_EQ(duration(text() + ",cores=64", {}), 1);
}

TEST_P(Surface, gives_the_same_answer_every_time) {
  const Configuration configuration{
      {"intra_op_num_threads", 3}, {"execution_mode", "parallel"}, {"inter_op_num_threads", 2}};
  const auto first = duration(text(), configuration);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(duration(text(), configuration), first);
  EXPECT_EQ(duration(text() + ",seed=7,noise=50%", configuration), first) << "noise is not the surface's";
}

TEST_P(Surface, is_unmoved_by_defaults_spelt_out) {
  EXPECT_EQ(effect({{"intra_op_num_threads", 0},
                    {"execution_mode", "sequential"},
                    {"graph_optimization_level", "all"},
                    {"enable_mem_pattern", true},
                    {"enable_cpu_mem_arena", true},
                    {"intra_op_allow_spinning", true},
                    {"disable_prepacking", false},
                    {"batch_size", 1},
                    {"parallel_sessions", 1}}),
            1);
}

TEST_P(Surface, stays_positive_in_the_corners) {
  for (const int threads : {1, 8, 256})
    for (const int sessions : {1, 256})
      for (const auto* mode : {"sequential", "parallel"})
        EXPECT_GT(
            effect({{"intra_op_num_threads", threads}, {"parallel_sessions", sessions}, {"execution_mode", mode}}), 0);
}

TEST_P(Surface, grows_with_the_batch_but_never_faster_than_it) {
  double before = 1;
  for (const int batch : {2, 4, 8, 64}) {
    const double now = effect({{"batch_size", batch}});
    EXPECT_GT(now, before);
    EXPECT_LE(now, batch);
    before = now;
  }
}

TEST_P(Surface, forgets_settings_that_are_ignored) {
  const Configuration slow{{"graph_optimization_level", "disable_all"}, {"batch_size", 4}};
  EXPECT_EQ(duration(text() + ",ignores=graph_optimization_level,ignores=batch_size", slow), 1);
}

INSTANTIATE_TEST_SUITE_P(all, Surface, ::testing::Values("conv", "transformer", "tiny", "flat"),
                         [](const auto& test) { return std::string(test.param); });

class ShapedSurface : public Surface {};

TEST_P(ShapedSurface, is_no_slower_the_more_the_graph_is_rewritten) {
  double before = 1e9;
  for (const auto* level : {"disable_all", "basic", "extended", "layout", "all"}) {
    const double now = effect({{"graph_optimization_level", level}});
    EXPECT_LE(now, before) << level;
    before = now;
  }
  EXPECT_GT(effect({{"graph_optimization_level", "disable_all"}}), 1.1);
}

TEST_P(ShapedSurface, slows_down_with_more_threads_than_cores) {
  EXPECT_GT(effect({{"intra_op_num_threads", 9}}), 1);
  EXPECT_GT(effect({{"intra_op_num_threads", 32}}), effect({{"intra_op_num_threads", 16}}));
}

TEST_P(ShapedSurface, has_its_best_number_of_threads) {
  int best = 1;
  for (int threads = 1; threads <= 8; ++threads)
    if (effect({{"intra_op_num_threads", threads}}) < effect({{"intra_op_num_threads", best}})) best = threads;
  if (is("tiny")) {
    EXPECT_EQ(best, 2);
  } else {
    EXPECT_GE(best, 6);
    EXPECT_GT(effect({{"intra_op_num_threads", 1}}), 2);
  }
}

TEST_P(ShapedSurface, pays_for_what_is_switched_off) {
  EXPECT_GT(effect({{"enable_cpu_mem_arena", false}}), effect({{"enable_mem_pattern", false}}));
  EXPECT_GT(effect({{"enable_mem_pattern", false}}), 1);
  EXPECT_GT(effect({{"disable_prepacking", true}}), 1);
  EXPECT_DOUBLE_EQ(effect({{"use_deterministic_compute", true}}), 1.05);
}

TEST_P(ShapedSurface, gains_from_denormals_flushed_where_it_has_them) {
  const double gain = effect({{"set_denormal_as_zero", true}});
  if (is("conv")) {
    EXPECT_EQ(gain, 1);
  } else {
    EXPECT_LT(gain, 1);
  }
}

TEST_P(ShapedSurface, has_the_best_block_base_at_4_and_only_with_several_threads) {
  if (is("tiny")) {
    EXPECT_EQ(effect({{"dynamic_block_base", 4}}), 1);
    return;
  }
  EXPECT_LT(effect({{"dynamic_block_base", 4}}), effect({{"dynamic_block_base", 6}}));
  EXPECT_LT(effect({{"dynamic_block_base", 6}}), 1);
  EXPECT_EQ(effect({{"dynamic_block_base", 16}}), 1);
  EXPECT_EQ(effect({{"dynamic_block_base", 4}}, {{"intra_op_num_threads", 1}}), 1);
}

TEST_P(ShapedSurface, likes_spinning_alone_and_not_in_company) {
  EXPECT_GT(effect({{"intra_op_allow_spinning", false}}), 1);
  EXPECT_EQ(effect({{"intra_op_spin_duration_us", 0}}), effect({{"intra_op_allow_spinning", false}}));
  EXPECT_EQ(effect({{"intra_op_allow_spinning", false}}, {{"intra_op_num_threads", 1}}), 1)
      << "one thread waits for none";
  const Configuration crowd{{"parallel_sessions", 4}, {"intra_op_num_threads", 8}};
  EXPECT_LT(effect({{"intra_op_allow_spinning", false}}, crowd), 1);
  EXPECT_EQ(effect({{"force_spinning_stop", true}}, crowd), effect({{"intra_op_allow_spinning", false}}, crowd));
  EXPECT_EQ(effect({{"force_spinning_stop", true}}), 1);
}

TEST_P(ShapedSurface, shares_the_cores_among_sessions) {
  const Configuration two_threads{{"intra_op_num_threads", 2}};
  EXPECT_EQ(effect({{"parallel_sessions", 4}}, two_threads), 1) << "4 x 2 threads fit 8 cores";
  EXPECT_GT(effect({{"parallel_sessions", 8}}, two_threads), 1);
  EXPECT_GT(effect({{"parallel_sessions", 16}}, two_threads), effect({{"parallel_sessions", 8}}, two_threads));
}

TEST_P(ShapedSurface, has_branches_only_if_it_is_a_transformer) {
  const Configuration four{{"intra_op_num_threads", 4}};
  const double gain = effect({{"execution_mode", "parallel"}, {"inter_op_num_threads", 3}}, four);
  if (is("transformer")) {
    EXPECT_LT(gain, 1);
  } else {
    EXPECT_GT(gain, 1);
  }
  EXPECT_EQ(effect({{"inter_op_num_threads", 3}}), 1) << "means nothing in sequential mode";
}

INSTANTIATE_TEST_SUITE_P(all, ShapedSurface, ::testing::Values("conv", "transformer", "tiny"),
                         [](const auto& test) { return std::string(test.param); });

TEST(FlatSurface, answers_to_nothing_but_the_batch) {
  EXPECT_EQ(duration("surface=flat", {{"intra_op_num_threads", 1},
                                      {"graph_optimization_level", "disable_all"},
                                      {"enable_cpu_mem_arena", false},
                                      {"parallel_sessions", 64}}),
            1);
  EXPECT_EQ(duration("surface=flat", {{"batch_size", 16}}), 16);
}

TEST(Slowdown, applies_where_its_conditions_hold_and_adds_up) {
  const std::string text =
      "surface=flat,slowdown=50% if intra_op_num_threads=4,slowdown=10% if execution_mode=sequential and batch_size!=1,"
      "slowdown=-20% if intra_op_num_threads=2";
  EXPECT_DOUBLE_EQ(duration(text, {}), 1);
  EXPECT_DOUBLE_EQ(duration(text, {{"intra_op_num_threads", 4}}), 1.5);
  EXPECT_DOUBLE_EQ(duration(text, {{"intra_op_num_threads", 2}}), 0.8);
  EXPECT_DOUBLE_EQ(duration(text, {{"batch_size", 2}}), 2 * 1.1);
  EXPECT_DOUBLE_EQ(duration(text, {{"batch_size", 2}, {"intra_op_num_threads", 4}}), 2 * 1.1 * 1.5);
  EXPECT_DOUBLE_EQ(duration(text, {{"batch_size", 2}, {"execution_mode", "parallel"}}), 2);
}

TEST(Slowdown, looks_at_a_setting_even_when_the_surface_ignores_it) {
  EXPECT_DOUBLE_EQ(
      duration("ignores=intra_op_num_threads,slowdown=50% if intra_op_num_threads=1", {{"intra_op_num_threads", 1}}),
      1.5);
}

}  // namespace
}  // namespace ridgeline::workload
