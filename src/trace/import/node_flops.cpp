// SPDX-License-Identifier: Apache-2.0
#include "trace/import/node_flops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "schema/operator_flops.hpp"

namespace ridgeline::trace {
namespace {

constexpr double kLargestCount = 9e18;  // that 64 bits hold

std::vector<schema::Operand> operands_of(const Shapes& shapes) {
  std::vector<schema::Operand> out;
  for (const auto& shape : shapes) {
    const bool is_known = std::all_of(shape.begin(), shape.end(), [](auto extent) { return extent >= 0; });
    out.push_back({true, is_known ? std::optional(shape) : std::nullopt});
  }
  return out;
}

}  // namespace

std::int64_t node_flops(std::string_view operation, const Shapes& inputs, const Shapes& outputs) {
  const schema::OperatorCall call{operation, operands_of(inputs), operands_of(outputs)};
  auto count = schema::count_flops(call);
  if (count.knowledge == schema::FlopKnowledge::no_formula) {  // a profile has no domains
    const auto name = "com.microsoft." + std::string(operation);
    auto again = call;
    again.name = name;
    count = schema::count_flops(again);
  }
  const bool is_counted = count.knowledge == schema::FlopKnowledge::counted && count.flops < kLargestCount;
  return is_counted ? std::llround(count.flops) : -1;
}

bool lacks_operand(std::string_view operation, const Shapes& inputs) {
  // Of operators that multiply two operands, where a kernel for the CPU packs the second.
  static constexpr std::array<std::string_view, 8> kProducts{"MatMul",      "Gemm",      "Conv",      "ConvTranspose",
                                                             "FusedMatMul", "FusedGemm", "FusedConv", "MatMulNBits"};
  return std::find(kProducts.begin(), kProducts.end(), operation) != kProducts.end() && inputs.size() < 2;
}

}  // namespace ridgeline::trace
