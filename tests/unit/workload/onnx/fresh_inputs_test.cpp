// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/fresh_inputs.hpp"

#include <cstring>

#include <gtest/gtest.h>

namespace ridgeline::workload {
namespace {

template <typename T>
Tensor tensor_of(ElementType type, const std::vector<T>& values) {
  Tensor tensor{type, {static_cast<std::int64_t>(values.size())}, std::string(values.size() * sizeof(T), '\0')};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <typename T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST(FreshInputs, floating_point_values_move_on_by_one) {
  const auto fresh = fresh_inputs({tensor_of<float>(ElementType::float32, {1, 2, 3})});
  EXPECT_EQ(values_of<float>(fresh[0]), (std::vector<float>{2, 3, 1}));
}

TEST(FreshInputs, a_short_integer_tensor_may_be_a_shape_and_stays) {
  std::vector<std::int64_t> ids(16);
  for (std::size_t at = 0; at < ids.size(); ++at) ids[at] = static_cast<std::int64_t>(at);
  const auto fresh =
      fresh_inputs({tensor_of<std::int64_t>(ElementType::int64, {2, 3}), tensor_of(ElementType::int64, ids)});
  EXPECT_EQ(values_of<std::int64_t>(fresh[0]), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(values_of<std::int64_t>(fresh[1]).front(), 1);
  EXPECT_EQ(values_of<std::int64_t>(fresh[1]).back(), 0);
}

TEST(FreshInputs, text_and_packed_types_stay) {
  const Tensor text{ElementType::string, {2}, std::string("a\0b\0", 4)};
  const Tensor packed{ElementType::int4, {64}, std::string(32, '\x21')};
  const auto fresh = fresh_inputs({text, packed});
  EXPECT_EQ(fresh[0].bytes, text.bytes);
  EXPECT_EQ(fresh[1].bytes, packed.bytes);
}

}  // namespace
}  // namespace ridgeline::workload
