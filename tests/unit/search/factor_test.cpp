// SPDX-License-Identifier: Apache-2.0
#include "search/factor.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace ridgeline::search {
namespace {

/// The catalogue's order, against which that of influence shows.
SearchSpace space_of(std::vector<schema::Dimension> dimensions) { return {std::move(dimensions), {}, {}}; }

SearchSpace cpu_space() {
  return space_of({{"enable_cpu_mem_arena", {false}},
                   {"force_spinning_stop", {true}},
                   {"enable_mem_pattern", {false}},
                   {"set_denormal_as_zero", {true}},
                   {"intra_op_allow_spinning", {false}},
                   {"graph_optimization_level", {"basic"}},
                   {"intra_op_thread_affinities", {"2;3"}},
                   {"intra_op_num_threads", {1, 2}}});
}

std::vector<std::string> names(const SearchSpace& space, const schema::DeviceLearning& learned = {}) {
  std::vector<std::string> names;
  for (const auto& factor : make_factors(space, learned)) names.push_back(factor.name);
  return names;
}

TEST(Factors, without_data_come_in_the_order_that_other_devices_taught) {
  EXPECT_EQ(names(cpu_space()),
            (std::vector<std::string>{"intra_op_num_threads", "graph_optimization_level", "intra_op_allow_spinning",
                                      "enable_cpu_mem_arena", "enable_mem_pattern", "set_denormal_as_zero",
                                      "intra_op_thread_affinities", "force_spinning_stop"}));
  EXPECT_EQ(names(space_of({{"arena_extend_strategy", {"kSameAsRequested"}},
                            {"intra_op_num_threads", {1}},
                            {"sdpa_kernel", {2}},
                            {"prefer_nhwc", {true}},
                            {"cudnn_conv_algo_search", {"HEURISTIC"}},
                            {"parallel_sessions", {2}},
                            {"enable_cuda_graph", {true}}})),
            (std::vector<std::string>{"enable_cuda_graph", "parallel_sessions", "cudnn_conv_algo_search", "prefer_nhwc",
                                      "sdpa_kernel", "arena_extend_strategy", "intra_op_num_threads"}));
}

TEST(Factors, much_data_puts_them_in_the_order_of_the_device_at_hand) {
  const schema::DeviceLearning learned{
      0, 0, {{"set_denormal_as_zero", {0.9, 50}}, {"graph_optimization_level", {0.001, 1000}}}};
  const auto own = names(cpu_space(), learned);
  EXPECT_EQ(own.front(), "set_denormal_as_zero");
  EXPECT_EQ(own.back(), "graph_optimization_level");
}

TEST(Factors, one_run_does_not_overturn_the_order) {
  const schema::DeviceLearning learned{0, 0, {{"intra_op_num_threads", {0.01, 1}}}};
  EXPECT_EQ(names(cpu_space(), learned), names(cpu_space()));
}

}  // namespace
}  // namespace ridgeline::search
