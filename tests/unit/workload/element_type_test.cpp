// SPDX-License-Identifier: Apache-2.0
#include "workload/element_type.hpp"

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

TEST(ElementType, every_name_leads_back_to_its_type) {
  for (int code = 1; code <= 22; ++code) {
    const auto type = static_cast<ElementType>(code);
    EXPECT_EQ(element_type_from_name(element_type_name(type)), type) << code;
  }
  EXPECT_EQ(element_type_name(static_cast<ElementType>(99)), "unknown");
  EXPECT_FALSE(element_type_from_name("unknown").has_value());
}

TEST(ElementType, an_empty_dimension_makes_an_empty_tensor_and_a_scalar_has_one_element) {
  EXPECT_EQ(element_count({3, 0, 5}).value(), 0);
  EXPECT_EQ(element_count({}).value(), 1);
  EXPECT_EQ(element_count({2, 3, 4}).value(), 24);
}

TEST(ElementType, a_negative_or_huge_shape_is_refused_by_name) {
  const auto negative = element_count({1, -1, 3});
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().code, base::ErrorCode::invalid_argument);
  EXPECT_NE(negative.error().message.find("1x-1x3"), std::string::npos);
  EXPECT_FALSE(element_count({std::int64_t{1} << 40, std::int64_t{1} << 40}));
  EXPECT_FALSE(tensor_bytes(ElementType::float64, {std::int64_t{1} << 61}));
  EXPECT_FALSE(tensor_bytes(ElementType::int4, {std::int64_t{1} << 62}));
}

TEST(ElementType, packed_types_round_up_to_whole_bytes) {
  EXPECT_EQ(tensor_bytes(ElementType::int4, {3}).value(), 2);
  EXPECT_EQ(tensor_bytes(ElementType::float16, {3}).value(), 6);
  EXPECT_EQ(tensor_bytes(ElementType::complex128, {2}).value(), 32);
}

TEST(ElementType, strings_have_no_fixed_size) {
  const auto bytes = tensor_bytes(ElementType::string, {3});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, base::ErrorCode::unsupported);
}

TEST(ElementType, shapes_read_as_people_write_them) {
  EXPECT_EQ(shape_text({1, 3, 640, 640}), "1x3x640x640");
  EXPECT_EQ(shape_text({}), "scalar");
}

}  // namespace
}  // namespace ridgeline::workload
