// SPDX-License-Identifier: Apache-2.0
#include "schema/kernel_name.hpp"

#include <array>

namespace ridgeline::schema {
namespace {

constexpr std::array<std::string_view, 6> kCommon{
    "at::native::", "(anonymous namespace)::", "at::cuda::", "cutlass::", "pytorch_flash::", "std::"};

}  // namespace

std::string_view without_parameters(std::string_view name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (auto at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    // Behind a blank it belongs to the name: "Memcpy HtoD (Pinned -> Device)".
    if (name[at] == '(' && --depth == 0) return at == 0 || name[at - 1] == ' ' ? name : name.substr(0, at);
  }
  return name;
}

std::string short_kernel_name(std::string name) {
  name.resize(without_parameters(name).size());
  if (name.starts_with("void ")) name.erase(0, 5);
  for (const auto common : kCommon)
    for (auto at = name.find(common); at != std::string::npos; at = name.find(common, at))
      name.erase(at, common.size());
  return name;
}

}  // namespace ridgeline::schema
