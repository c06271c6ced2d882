// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "workload/half.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {
namespace {

template <typename T>
NamedTensor tensor(const std::string& type, const std::vector<T>& values, const std::string& name = "y") {
  NamedTensor result{
      name, type, {static_cast<std::int64_t>(values.size())}, std::string(values.size() * sizeof(T), '\0')};
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(CompareOutputs, equal_outputs_have_no_drift) {
  const OutputSet outputs{tensor<float>("float", {1, -2, 3}), tensor<std::int64_t>("int64", {4, 5}, "i")};
  const auto output_error = compare_outputs(outputs, outputs);
  EXPECT_EQ(output_error.max_abs, 0);
  EXPECT_EQ(output_error.max_rel, 0);
  EXPECT_EQ(output_error.scaled_max_abs, 0);
  EXPECT_DOUBLE_EQ(output_error.cosine, 1);
  EXPECT_EQ(output_error.elements, 5);
  EXPECT_FALSE(output_error.shape_mismatch);
}

TEST(CompareOutputs, distances_are_absolute_relative_and_scaled_by_the_largest_reference) {
  const auto output_error =
      compare_outputs({tensor<float>("float", {1, 4, -8})}, {tensor<float>("float", {1.5F, 4, -8})});
  EXPECT_DOUBLE_EQ(output_error.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(output_error.max_rel, 0.5);
  EXPECT_DOUBLE_EQ(output_error.scaled_max_abs, 0.0625);
  EXPECT_LT(output_error.cosine, 1);
  EXPECT_EQ(output_error.worst_output, "y");
}

TEST(CompareOutputs, noise_on_a_zero_is_measured_against_the_output_s_scale) {
  const auto output_error =
      compare_outputs({tensor<float>("float", {0, 1000})}, {tensor<float>("float", {0.001F, 1000})});
  EXPECT_NEAR(output_error.max_rel, 0.001, 1e-9);
  EXPECT_NEAR(output_error.scaled_max_abs, 1e-6, 1e-12);
}

TEST(CompareOutputs, the_worst_output_is_named_by_scaled_distance) {
  const OutputSet reference{tensor<float>("float", {1000}, "big"), tensor<float>("float", {1}, "small")};
  const OutputSet candidate{tensor<float>("float", {1001}, "big"), tensor<float>("float", {1.1F}, "small")};
  const auto output_error = compare_outputs(reference, candidate);
  EXPECT_EQ(output_error.worst_output, "small");
  EXPECT_DOUBLE_EQ(output_error.max_abs, 1);
  EXPECT_NEAR(output_error.scaled_max_abs, 0.1, 1e-6);
}

TEST(CompareOutputs, nan_and_infinity_count_when_only_one_side_has_them) {
  const auto output_error = compare_outputs({tensor<float>("float", {kNan, kInf, 1, kInf, 5})},
                                            {tensor<float>("float", {kNan, kInf, kNan, -kInf, 5})});
  EXPECT_EQ(output_error.nan_mismatches, 2);
  EXPECT_EQ(output_error.nonfinite, 4);
  EXPECT_EQ(output_error.max_abs, 0);
}

TEST(CompareOutputs, half_and_bfloat16_are_compared_as_numbers) {
  const std::vector<std::uint16_t> a{float_to_half(1.0F), float_to_half(2.0F)};
  const std::vector<std::uint16_t> b{float_to_half(1.0F), float_to_half(2.5F)};
  EXPECT_DOUBLE_EQ(compare_outputs({tensor("float16", a)}, {tensor("float16", b)}).max_abs, 0.5);
  const std::vector<std::uint16_t> c{float_to_bfloat16(1.0F)};
  const std::vector<std::uint16_t> d{float_to_bfloat16(1.5F)};
  EXPECT_DOUBLE_EQ(compare_outputs({tensor("bfloat16", c)}, {tensor("bfloat16", d)}).scaled_max_abs, 0.5);
}

TEST(CompareOutputs, integers_and_bools_drift_by_the_share_of_elements_that_differ) {
  const auto output_error =
      compare_outputs({tensor<std::int64_t>("int64", {1, 2, 3, 4})}, {tensor<std::int64_t>("int64", {1, 2, 3, 1000})});
  EXPECT_DOUBLE_EQ(output_error.scaled_max_abs, 0.25);
  EXPECT_DOUBLE_EQ(output_error.max_abs, 996);
  EXPECT_DOUBLE_EQ(output_error.cosine, 1) << "of real numbers only";
  EXPECT_DOUBLE_EQ(
      compare_outputs({tensor<std::uint8_t>("bool", {1, 0})}, {tensor<std::uint8_t>("bool", {1, 1})}).scaled_max_abs,
      0.5);
}

TEST(CompareOutputs, integers_too_large_for_a_double_still_differ) {
  const std::int64_t big = (std::int64_t{1} << 60) + 1;
  EXPECT_DOUBLE_EQ(compare_outputs({tensor<std::int64_t>("int64", {big})}, {tensor<std::int64_t>("int64", {big + 1})})
                       .scaled_max_abs,
                   1);
}

TEST(CompareOutputs, text_is_compared_element_by_element) {
  const NamedTensor a{"t", "string", {2}, std::string("cat\0dog\0", 8)};
  const NamedTensor b{"t", "string", {2}, std::string("cat\0mouse\0", 10)};
  EXPECT_DOUBLE_EQ(compare_outputs({a}, {b}).scaled_max_abs, 0.5);
}

TEST(CompareOutputs, another_shape_name_type_or_count_is_a_mismatch) {
  const auto y = tensor<float>("float", {1, 2});
  EXPECT_TRUE(compare_outputs({y}, {tensor<float>("float", {1})}).shape_mismatch);
  EXPECT_TRUE(compare_outputs({y}, {tensor<float>("float", {1, 2}, "z")}).shape_mismatch);
  EXPECT_TRUE(compare_outputs({y}, {tensor<std::int32_t>("int32", {1, 2})}).shape_mismatch);
  const auto fewer = compare_outputs({y, tensor<float>("float", {3}, "last")}, {y});
  EXPECT_TRUE(fewer.shape_mismatch);
  EXPECT_EQ(fewer.worst_output, "last");
}

TEST(CompareOutputs, half_precision_is_compared_with_full_as_numbers) {
  const auto full = tensor<float>("float", {1, -2, 3});
  const std::vector<std::uint16_t> half{float_to_half(1.0F), float_to_half(-2.0F), float_to_half(2.25F)};
  const auto output_error = compare_outputs({full}, {tensor("float16", half)});
  EXPECT_FALSE(output_error.shape_mismatch);
  EXPECT_DOUBLE_EQ(output_error.scaled_max_abs, 0.25);
  EXPECT_FALSE(compare_outputs({tensor<double>("double", {1})}, {tensor<float>("float", {1})}).shape_mismatch);
  const std::vector<std::uint16_t> endless{float_to_half(1.0F), float_to_half(-2.0F), float_to_half(1e6F)};
  EXPECT_EQ(compare_outputs({full}, {tensor("float16", endless)}).nan_mismatches, 1);
  EXPECT_TRUE(compare_outputs({full}, {tensor("float16", std::vector<std::uint16_t>{0, 0})}).shape_mismatch);
  EXPECT_TRUE(compare_outputs({tensor<float>("complex64", {1, 2})}, {tensor<double>("double", {1, 2})}).shape_mismatch);
}

TEST(RepeatRows, goes_round_and_cuts_the_last_time_short) {
  NamedTensor pairs = tensor<float>("float", {1, 2, 3, 4}, "p");
  pairs.dims = {2, 2};
  const auto repeated = repeat_rows({pairs, tensor<std::int64_t>("int64", {7, 8}, "i")}, 3);
  EXPECT_EQ(repeated[0].dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(repeated[0].bytes, tensor<float>("float", {1, 2, 3, 4, 1, 2}).bytes);
  EXPECT_EQ(repeated[1].dims, std::vector<std::int64_t>{3});
  EXPECT_EQ(repeated[1].bytes, tensor<std::int64_t>("int64", {7, 8, 7}).bytes);
  EXPECT_EQ(repeat_rows({pairs}, 1)[0].bytes, tensor<float>("float", {1, 2}).bytes);
  const NamedTensor scalar{"s", "float", {}, std::string(4, 'x')};
  EXPECT_EQ(repeat_rows({scalar}, 3)[0].bytes, scalar.bytes);
}

TEST(CompareOutputs, an_all_zero_candidate_has_no_cosine) {
  EXPECT_DOUBLE_EQ(compare_outputs({tensor<float>("float", {1, 2})}, {tensor<float>("float", {0, 0})}).cosine, 0);
  EXPECT_DOUBLE_EQ(compare_outputs({tensor<float>("float", {0, 0})}, {tensor<float>("float", {0, 0})}).cosine, 1);
}

TEST(CompareOutputs, outputs_near_zero_are_held_against_a_floor_and_counted) {
  const auto output_error = compare_outputs({tensor<float>("float", {1e-7F, 0})}, {tensor<float>("float", {0, 1e-7F})});
  EXPECT_NEAR(output_error.scaled_max_abs, 1e-4, 1e-9);
  EXPECT_EQ(output_error.cosine, 1);
  EXPECT_EQ(output_error.tiny_outputs, 1);
  const auto grown = compare_outputs({tensor<float>("float", {0, 0})}, {tensor<float>("float", {1, 0})});
  EXPECT_DOUBLE_EQ(grown.scaled_max_abs, 1000);
  EXPECT_EQ(grown.cosine, 0);
  EXPECT_EQ(compare_outputs({tensor<float>("float", {1})}, {tensor<float>("float", {1})}).tiny_outputs, 0);
}

TEST(CompareOutputs, values_near_the_largest_double_do_not_overflow) {
  const auto output_error =
      compare_outputs({tensor<double>("double", {1e308, -1e308})}, {tensor<double>("double", {1e308, -1e308})});
  EXPECT_DOUBLE_EQ(output_error.cosine, 1);
}

}  // namespace
}  // namespace ridgeline::workload
