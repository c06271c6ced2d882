// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/output_values.hpp"

#include "workload/half.hpp"
#include "workload/onnx/ort_status.hpp"

namespace ridgeline::workload {
namespace {

template <typename T>
void convert(const void* data, std::vector<float>& out) {
  const auto* values = static_cast<const T*>(data);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(values[i]);
}

template <float (*kConvert)(std::uint16_t) noexcept>
void convert_bits(const void* data, std::vector<float>& out) {
  const auto* values = static_cast<const std::uint16_t*>(data);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kConvert(values[i]);
}

}  // namespace

base::Result<void> OutputValues::read(const OrtApi& api, const OrtValue* value, const OrtPort& port) {
  RL_TRY_ASSIGN(const auto shape, fixed_shape(api, value, {}));
  if (!shape)
    return base::fail(base::ErrorCode::unsupported, "output {} of type {} is no tensor of numbers",
                      port.description.name, port.description.element_type);
  dims_ = shape->dims;
  std::size_t count = 1;
  for (const auto dim : dims_) count *= static_cast<std::size_t>(dim);
  void* data = nullptr;
  // The C API takes no constant value; nothing is written to it.
  RL_TRY(check_ort(api, api.GetTensorMutableData(const_cast<OrtValue*>(value), &data)));
  type_ = shape->type;
  bytes_ = {static_cast<const char*>(data), count * static_cast<std::size_t>(element_bits(type_) / 8)};
  if (shape->type == ElementType::float32) {
    values_ = {static_cast<const float*>(data), count};
    return {};
  }
  converted_.resize(count);
  switch (shape->type) {
    case ElementType::float64: convert<double>(data, converted_); break;
    case ElementType::uint8: convert<std::uint8_t>(data, converted_); break;
    case ElementType::int8: convert<std::int8_t>(data, converted_); break;
    case ElementType::uint16: convert<std::uint16_t>(data, converted_); break;
    case ElementType::int16: convert<std::int16_t>(data, converted_); break;
    case ElementType::uint32: convert<std::uint32_t>(data, converted_); break;
    case ElementType::int32: convert<std::int32_t>(data, converted_); break;
    case ElementType::uint64: convert<std::uint64_t>(data, converted_); break;
    case ElementType::int64: convert<std::int64_t>(data, converted_); break;
    case ElementType::boolean: convert<bool>(data, converted_); break;
    case ElementType::float16: convert_bits<half_to_float>(data, converted_); break;
    case ElementType::bfloat16: convert_bits<bfloat16_to_float>(data, converted_); break;
    default:
      return base::fail(base::ErrorCode::unsupported, "output {} of type {} is no tensor of numbers",
                        port.description.name, port.description.element_type);
  }
  values_ = converted_;
  return {};
}

}  // namespace ridgeline::workload
