// SPDX-License-Identifier: Apache-2.0
#include "trace/import/node_flops.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace ridgeline::trace {
namespace {

TEST(NodeFlops, products_and_convolutions_are_exact) {
  EXPECT_EQ(node_flops("MatMul", {{8, 64}, {64, 32}}, {{8, 32}}), 2 * 8 * 64 * 32);
  EXPECT_EQ(node_flops("FusedMatMul", {{2, 8, 64}, {2, 64, 32}}, {{2, 8, 32}}), 2 * 2 * 8 * 64 * 32);
  EXPECT_EQ(node_flops("Gemm", {{8, 64}, {32, 64}, {32}}, {{8, 32}}), 8 * 32 * (2 * 64 + 1)) << "with a bias";
  EXPECT_EQ(node_flops("Gemm", {{64, 8}, {64, 32}}, {{8, 32}}), 2 * 8 * 64 * 32) << "either side may be transposed";
  EXPECT_EQ(node_flops("Conv", {{1, 3, 8, 8}, {16, 3, 3, 3}}, {{1, 16, 6, 6}}), 2 * 16 * 36 * 27);
  EXPECT_EQ(node_flops("FusedConv", {{1, 16, 8, 8}, {16, 1, 3, 3}}, {{1, 16, 6, 6}}), 2 * 16 * 36 * 9) << "by groups";
  EXPECT_EQ(node_flops("ConvTranspose", {{1, 16, 4, 4}, {16, 8, 2, 2}}, {{1, 8, 8, 8}}), 2 * 16 * 16 * 8 * 4);
}

// The table is that of the model's own count, which flop_count_test tests: a softmax is no five times cheaper here.
TEST(NodeFlops, what_is_counted_in_a_model_is_counted_alike_in_its_profile) {
  EXPECT_EQ(node_flops("Softmax", {{4, 5}}, {{4, 5}}), 5 * 20);
  EXPECT_EQ(node_flops("LayerNormalization", {{4, 5}, {5}, {5}}, {{4, 5}}), 7 * 20);
  EXPECT_EQ(node_flops("QuickGelu", {{4, 5}}, {{4, 5}}), 6 * 20) << "of com.microsoft, which a profile does not say";
  EXPECT_EQ(node_flops("MultiHeadAttention", {{2, 3, 8}, {2, 5, 8}, {2, 5, 8}}, {{2, 3, 8}}), 4 * 2 * 3 * 5 * 8);
  EXPECT_EQ(node_flops("MultiHeadAttention", {{2, 1, 8}, {2, 1, 8}, {2, 1, 8}}, {{2, 1, 8}, {2, 4, 7, 2}}),
            4 * 2 * 1 * 7 * 8)
      << "with what is remembered";
  EXPECT_EQ(node_flops("Attention", {{1, 3, 6}, {6, 24}, {24}}, {{1, 3, 8}}), 2 * 3 * 6 * 24 + 4 * 3 * 3 * 8);
  EXPECT_EQ(node_flops("LSTM", {{10, 2, 8}, {2, 64, 8}, {2, 64, 16}}, {{10, 2, 2, 16}}),
            10 * 2 * 2 * (2 * 64 * (8 + 16) + 26 * 16));
}

TEST(NodeFlops, the_rest_counts_by_elements_or_not_at_all) {
  EXPECT_EQ(node_flops("Add", {{4, 5}, {5}}, {{4, 5}}), 20);
  EXPECT_EQ(node_flops("Transpose", {{4, 5}}, {{5, 4}}), 0);
  EXPECT_EQ(node_flops("ReorderInput", {{4, 5}}, {{5, 4}}), 0);
  EXPECT_EQ(node_flops("MaxPool", {{1, 1, 4, 4}}, {{1, 1, 2, 2}}), -1) << "its window is an attribute";
  EXPECT_EQ(node_flops("Unheard", {{4, 5}}, {{4, 5}}), -1);
  EXPECT_EQ(node_flops("LSTM", {{4, 5}}, {{5, 4}}), -1);
  EXPECT_EQ(node_flops("Add", {}, {}), -1);
  EXPECT_EQ(node_flops("Conv", {{1, 3, 8, 8}}, {{1, 16, 6, 6}}), -1);
  const auto huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(node_flops("MatMul", {{huge, huge}, {huge, huge}}, {{huge, huge}}), -1);
  EXPECT_EQ(node_flops("Add", {{-1}}, {{-1}}), -1);
}

}  // namespace
}  // namespace ridgeline::trace
