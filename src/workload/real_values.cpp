// SPDX-License-Identifier: Apache-2.0
#include "workload/real_values.hpp"

#include <cstring>

#include "workload/element_type.hpp"
#include "workload/half.hpp"

namespace ridgeline::workload {
namespace {

template <typename T, typename Convert>
std::vector<double> convert(const std::string& bytes, Convert to_double) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (std::size_t at = 0; at < values.size(); ++at) {
    T raw;
    std::memcpy(&raw, bytes.data() + at * sizeof(T), sizeof(T));
    values[at] = to_double(raw);
  }
  return values;
}

template <typename T>
std::vector<double> plain(const std::string& bytes) {
  return convert<T>(bytes, [](T value) { return static_cast<double>(value); });
}

}  // namespace

std::vector<double> real_values(const NamedTensor& tensor) {
  const auto type = element_type_from_name(tensor.element_type);
  if (!type) return {};
  switch (*type) {
    case ElementType::float32:
    case ElementType::complex64: return plain<float>(tensor.bytes);
    case ElementType::float64:
    case ElementType::complex128: return plain<double>(tensor.bytes);
    case ElementType::float16:
      return convert<std::uint16_t>(tensor.bytes,
                                    [](std::uint16_t v) { return static_cast<double>(half_to_float(v)); });
    case ElementType::bfloat16:
      return convert<std::uint16_t>(tensor.bytes,
                                    [](std::uint16_t v) { return static_cast<double>(bfloat16_to_float(v)); });
    case ElementType::uint8:
    case ElementType::boolean: return plain<std::uint8_t>(tensor.bytes);
    case ElementType::int8: return plain<std::int8_t>(tensor.bytes);
    case ElementType::uint16: return plain<std::uint16_t>(tensor.bytes);
    case ElementType::int16: return plain<std::int16_t>(tensor.bytes);
    case ElementType::uint32: return plain<std::uint32_t>(tensor.bytes);
    case ElementType::int32: return plain<std::int32_t>(tensor.bytes);
    case ElementType::uint64: return plain<std::uint64_t>(tensor.bytes);
    case ElementType::int64: return plain<std::int64_t>(tensor.bytes);
    default: return {};
  }
}

}  // namespace ridgeline::workload
