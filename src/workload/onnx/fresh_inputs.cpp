// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/fresh_inputs.hpp"

#include <algorithm>

namespace ridgeline::workload {
namespace {

bool is_floating_point(ElementType type) {
  return type == ElementType::float32 || type == ElementType::float64 || type == ElementType::float16 ||
         type == ElementType::bfloat16;
}

}  // namespace

std::vector<Tensor> fresh_inputs(std::vector<Tensor> tensors) {
  constexpr std::size_t kLongEnough = 16;
  for (auto& tensor : tensors) {
    const auto bits = element_bits(tensor.type);
    if (bits < 8 || bits % 8 != 0) continue;  // text and packed types
    const auto size = static_cast<std::size_t>(bits / 8);
    const auto elements = tensor.bytes.size() / size;
    if (elements < 2 || (!is_floating_point(tensor.type) && elements < kLongEnough)) continue;
    std::rotate(tensor.bytes.begin(), tensor.bytes.begin() + static_cast<std::ptrdiff_t>(size), tensor.bytes.end());
  }
  return tensors;
}

}  // namespace ridgeline::workload
