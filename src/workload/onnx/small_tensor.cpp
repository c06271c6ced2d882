// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/small_tensor.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace ridgeline::workload {
namespace {

using onnx::TensorProto;

// ONNX stores raw data little-endian, as every host we build for does.
template <typename T>
std::vector<double> from_raw(const std::string& raw) {
  std::vector<double> values(raw.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value{};
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

template <typename T, typename Field>
std::vector<double> values_of(const TensorProto& tensor, const Field& field) {
  if (tensor.has_raw_data()) return from_raw<T>(tensor.raw_data());
  return {field.begin(), field.end()};
}

std::int64_t to_integer(double value) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  if (std::isnan(value)) return 0;
  if (value >= static_cast<double>(kMost)) return kMost;
  if (value <= static_cast<double>(kLeast)) return kLeast;
  return static_cast<std::int64_t>(value);
}

}  // namespace

bool SmallTensor::is_integral() const { return type != TensorProto::FLOAT && type != TensorProto::DOUBLE; }

std::vector<std::int64_t> SmallTensor::integers() const {
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(to_integer(value));
  return result;
}

std::optional<std::size_t> small_count(const std::vector<std::int64_t>& dims, std::size_t limit) {
  std::size_t count = 1;
  for (const auto dim : dims) {
    if (dim < 0 || static_cast<std::uint64_t>(dim) > limit) return std::nullopt;
    count *= static_cast<std::size_t>(dim);
    if (count > limit) return std::nullopt;
  }
  return count;
}

std::optional<SmallTensor> read_small_tensor(const TensorProto& tensor) {
  SmallTensor small{tensor.data_type(), {tensor.dims().begin(), tensor.dims().end()}, {}};
  const auto count = small_count(small.dims);
  if (!count || tensor.data_location() == TensorProto::EXTERNAL) return std::nullopt;
  switch (tensor.data_type()) {
    case TensorProto::BOOL: small.values = values_of<std::uint8_t>(tensor, tensor.int32_data()); break;
    case TensorProto::INT32: small.values = values_of<std::int32_t>(tensor, tensor.int32_data()); break;
    case TensorProto::INT64: small.values = values_of<std::int64_t>(tensor, tensor.int64_data()); break;
    case TensorProto::FLOAT: small.values = values_of<float>(tensor, tensor.float_data()); break;
    case TensorProto::DOUBLE: small.values = values_of<double>(tensor, tensor.double_data()); break;
    default: return std::nullopt;
  }
  if (small.values.size() != *count) return std::nullopt;
  return small;
}

TensorProto write_small_tensor(const SmallTensor& small) {
  TensorProto tensor;
  tensor.set_data_type(small.type);
  for (const auto dim : small.dims) tensor.add_dims(dim);
  if (small.type == TensorProto::FLOAT) {
    for (const auto value : small.values) tensor.add_float_data(static_cast<float>(value));
  } else if (small.type == TensorProto::DOUBLE) {
    for (const auto value : small.values) tensor.add_double_data(value);
  } else if (small.type == TensorProto::INT64) {
    for (const auto value : small.integers()) tensor.add_int64_data(value);
  } else {  // int32 and bool share a field
    for (const auto value : small.values)
      tensor.add_int32_data(static_cast<std::int32_t>(std::fmin(std::fmax(value, -2147483648.0), 2147483647.0)));
  }
  return tensor;
}

}  // namespace ridgeline::workload
