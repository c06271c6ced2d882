// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/input_generator.hpp"

#include <cmath>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "workload/half.hpp"

namespace ridgeline::workload {
namespace {

template <typename T>
std::vector<T> values(const Tensor& tensor) {
  std::vector<T> result(tensor.bytes.size() / sizeof(T));
  std::memcpy(result.data(), tensor.bytes.data(), result.size() * sizeof(T));
  return result;
}

Tensor make(ElementType type, const std::vector<std::int64_t>& dims, std::uint64_t seed = 1) {
  return generate_input("x", type, dims, seed, 0).value();
}

TEST(InputGenerator, is_a_function_of_name_seed_and_shape_set) {
  const auto first = make(ElementType::float32, {4, 4});
  EXPECT_EQ(first.bytes, make(ElementType::float32, {4, 4}).bytes);
  EXPECT_NE(first.bytes, make(ElementType::float32, {4, 4}, 2).bytes);
  EXPECT_NE(first.bytes, generate_input("y", ElementType::float32, {4, 4}, 1, 0)->bytes);
  EXPECT_NE(first.bytes, generate_input("x", ElementType::float32, {4, 4}, 1, 1)->bytes);
}

TEST(InputGenerator, gives_the_values_that_stored_results_were_made_with) {
  const auto reals = values<float>(make(ElementType::float32, {3}));
  EXPECT_EQ(reals[0], values<float>(make(ElementType::float32, {1000}))[0]);
  EXPECT_FLOAT_EQ(reals[0], 0.77936256F);
  EXPECT_FLOAT_EQ(reals[1], 0.53014821F);
}

TEST(InputGenerator, a_larger_batch_starts_with_the_smaller_one) {
  const auto one = make(ElementType::float32, {1, 8});
  const auto four = make(ElementType::float32, {4, 8});
  EXPECT_EQ(four.bytes.substr(0, one.bytes.size()), one.bytes);
}

TEST(InputGenerator, reals_are_positive_normal_and_below_or_at_one) {
  for (const float value : values<float>(make(ElementType::float32, {5000}))) {
    EXPECT_GE(value, 0x1.0p-6F);
    EXPECT_LE(value, 1.0F);
  }
  for (const double value : values<double>(make(ElementType::float64, {100})))
    EXPECT_TRUE(value >= 0x1.0p-6 && value <= 1);
  for (const auto bits : values<std::uint16_t>(make(ElementType::float16, {5000}))) {
    const float value = half_to_float(bits);
    EXPECT_TRUE(value >= 0x1.0p-6F && value <= 1.0F) << value;
  }
  for (const auto bits : values<std::uint16_t>(make(ElementType::bfloat16, {5000}))) {
    const float value = bfloat16_to_float(bits);
    EXPECT_TRUE(value >= 0x1.0p-6F && value <= 1.0F) << value;
  }
}

TEST(InputGenerator, wide_integers_are_legal_indices_of_any_table_and_both_occur) {
  const auto wide = values<std::int64_t>(make(ElementType::int64, {100}));
  EXPECT_EQ(std::set<std::int64_t>(wide.begin(), wide.end()), (std::set<std::int64_t>{0, 1}));
  const auto narrow = values<std::int32_t>(make(ElementType::int32, {100}));
  EXPECT_EQ(std::set<std::int32_t>(narrow.begin(), narrow.end()), (std::set<std::int32_t>{0, 1}));
  EXPECT_EQ(values<std::int64_t>(make(ElementType::int64, {1})), std::vector<std::int64_t>{1});
}

TEST(InputGenerator, small_integers_and_bools_stay_in_range) {
  for (const auto value : values<std::int8_t>(make(ElementType::int8, {1000}))) EXPECT_GE(value, 0);
  for (const auto value : values<std::int16_t>(make(ElementType::int16, {1000})))
    EXPECT_TRUE(value >= 0 && value < 128);
  const auto bools = values<std::uint8_t>(make(ElementType::boolean, {1000}));
  EXPECT_EQ(std::set<std::uint8_t>(bools.begin(), bools.end()), (std::set<std::uint8_t>{0, 1}));
}

TEST(InputGenerator, every_number_type_has_the_size_of_its_shape) {
  for (int code = 1; code <= 22; ++code) {
    const auto type = static_cast<ElementType>(code);
    if (type == ElementType::string) continue;
    EXPECT_EQ(make(type, {3, 5}).bytes.size(), static_cast<std::size_t>(tensor_bytes(type, {3, 5}).value())) << code;
    EXPECT_TRUE(make(type, {0, 5}).bytes.empty());
  }
}

TEST(InputGenerator, strings_unknown_types_and_absurd_shapes_are_refused_by_name) {
  const auto text = generate_input("words", ElementType::string, {2}, 1, 0);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, base::ErrorCode::unsupported);
  EXPECT_NE(text.error().message.find("words"), std::string::npos);
  EXPECT_EQ(generate_input("x", static_cast<ElementType>(77), {2}, 1, 0).error().code, base::ErrorCode::unsupported);
  EXPECT_EQ(generate_input("x", ElementType::float32, {1 << 20, 1 << 20}, 1, 0).error().code,
            base::ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ridgeline::workload
