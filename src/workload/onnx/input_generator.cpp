// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/input_generator.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "base/random.hpp"
#include "workload/half.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::Random;

// FNV-1a, so that every input has a stream of its own that does not depend on its position.
std::uint64_t stream_of(std::string_view name, std::uint64_t seed, std::size_t shape_set) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return Random(hash ^ Random(seed ^ (shape_set * 0x9E3779B97F4A7C15ULL)).next()).next();
}

double safe_real(Random& random) { return 0x1.0p-6 + (1 - 0x1.0p-6) * random.uniform(); }

template <typename T, typename Make>
void fill(std::string& bytes, Make make) {
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const T value = make();
    std::memcpy(bytes.data() + at, &value, sizeof(T));
  }
}

// int32 and wider.
template <typename T>
void fill_index(std::string& bytes, Random& random, bool single) {
  fill<T>(bytes, [&] { return single ? T{1} : static_cast<T>(random.next() >> 63U); });
}

template <typename T>
void fill_small(std::string& bytes, Random& random) {
  fill<T>(bytes, [&] { return static_cast<T>(random.below(128)); });
}

/// Calls `next` for each element, which gives it as T.
template <typename Next>
void fill_as(ElementType type, std::string& bytes, Next next) {
  switch (type) {
    case ElementType::float32:
    case ElementType::complex64: return fill<float>(bytes, [&] { return static_cast<float>(next()); });
    case ElementType::float64:
    case ElementType::complex128: return fill<double>(bytes, [&] { return static_cast<double>(next()); });
    case ElementType::float16:
      return fill<std::uint16_t>(bytes, [&] { return float_to_half(static_cast<float>(next())); });
    case ElementType::bfloat16:
      return fill<std::uint16_t>(bytes, [&] { return float_to_bfloat16(static_cast<float>(next())); });
    case ElementType::int32:
    case ElementType::uint32: return fill<std::int32_t>(bytes, [&] { return static_cast<std::int32_t>(next()); });
    case ElementType::int64:
    case ElementType::uint64: return fill<std::int64_t>(bytes, [&] { return static_cast<std::int64_t>(next()); });
    case ElementType::int16:
    case ElementType::uint16: return fill<std::int16_t>(bytes, [&] { return static_cast<std::int16_t>(next()); });
    case ElementType::int4:
    case ElementType::uint4:  // two in a byte
      return fill<std::uint8_t>(bytes, [&] {
        const auto one = static_cast<unsigned>(next()) & 0xFU;
        return static_cast<std::uint8_t>(one | (static_cast<unsigned>(next()) & 0xFU) << 4U);
      });
    default: return fill<std::int8_t>(bytes, [&] { return static_cast<std::int8_t>(next()); });
  }
}

void fill_by(const schema::InputValues& values, std::int64_t batch, ElementType type, std::string& bytes,
             Random& random) {
  if (values.real) return fill_as(type, bytes, [&] { return *values.real; });
  if (!values.elements.empty()) {
    std::size_t next = 0;
    return fill_as(type, bytes, [&] {
      const auto at = next++ % values.elements.size();
      return values.elements[at] + (at < values.per_batch.size() ? values.per_batch[at] * batch : 0);
    });
  }
  const auto high = std::max(values.low, values.high + values.high_per_batch * batch);
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(values.low) + 1;  // 0: all of 2^64
  fill_as(type, bytes, [&] {
    const auto above = span == 0 ? random.next() : random.below(span);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(values.low) + above);
  });
}

}  // namespace

base::Result<Tensor> generate_input(std::string_view name, ElementType type, const std::vector<std::int64_t>& dims,
                                    std::uint64_t seed, std::size_t shape_set, const schema::InputValues* values,
                                    std::int64_t batch) {
  if (element_bits(type) == 0)
    return base::fail(
        ErrorCode::unsupported,
        "input \"{}\" has element type {}: only number and bool tensors can be generated or read from .npy", name,
        element_type_name(type));
  RL_TRY_ASSIGN(const auto elements, element_count(dims));
  RL_TRY_ASSIGN(const auto size, tensor_bytes(type, dims));
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;
  if (size > kLargest)
    return base::fail(ErrorCode::invalid_argument,
                      "input \"{}\" of shape {} would take {} bytes: expected at most 2^40", name, shape_text(dims),
                      size)
        .hint("give smaller dimensions with --shape");
  Tensor tensor{type, dims, {}};
  try {
    tensor.bytes.assign(static_cast<std::size_t>(size), '\0');
  } catch (const std::bad_alloc&) {  // the only place that knows which input it was
    return base::fail(ErrorCode::out_of_memory, "input \"{}\" of shape {} takes {} bytes, which do not fit in memory",
                      name, shape_text(dims), size)
        .hint("give smaller dimensions with --shape");
  }
  Random random(stream_of(name, seed, shape_set));
  auto& bytes = tensor.bytes;
  if (values != nullptr) {
    fill_by(*values, batch, type, bytes, random);
    return tensor;
  }
  switch (type) {
    case ElementType::float32:
    case ElementType::complex64: fill<float>(bytes, [&] { return static_cast<float>(safe_real(random)); }); break;
    case ElementType::float64:
    case ElementType::complex128: fill<double>(bytes, [&] { return safe_real(random); }); break;
    case ElementType::float16:
      fill<std::uint16_t>(bytes, [&] { return float_to_half(static_cast<float>(safe_real(random))); });
      break;
    case ElementType::bfloat16:
      fill<std::uint16_t>(bytes, [&] { return float_to_bfloat16(static_cast<float>(safe_real(random))); });
      break;
    case ElementType::float8e4m3fn:
    case ElementType::float8e4m3fnuz:
    case ElementType::float8e5m2:
    case ElementType::float8e5m2fnuz:
      // Positive bit patterns around one half to one, ordered alike in all four formats.
      fill<std::uint8_t>(bytes, [&] { return static_cast<std::uint8_t>(0x28 + random.below(0x10)); });
      break;
    case ElementType::int32:
    case ElementType::uint32: fill_index<std::int32_t>(bytes, random, elements == 1); break;
    case ElementType::int64:
    case ElementType::uint64: fill_index<std::int64_t>(bytes, random, elements == 1); break;
    case ElementType::int8:
    case ElementType::uint8: fill_small<std::uint8_t>(bytes, random); break;
    case ElementType::int16:
    case ElementType::uint16: fill_small<std::uint16_t>(bytes, random); break;
    case ElementType::boolean:
      fill<std::uint8_t>(bytes, [&] { return static_cast<std::uint8_t>(random.next() >> 63U); });
      break;
    case ElementType::int4:
    case ElementType::uint4:
      fill<std::uint8_t>(bytes, [&] { return static_cast<std::uint8_t>(random.next() >> 32U & 0x11U); });
      break;
    case ElementType::string: break;  // refused above
  }
  return tensor;
}

}  // namespace ridgeline::workload
