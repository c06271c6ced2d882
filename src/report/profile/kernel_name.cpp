// SPDX-License-Identifier: Apache-2.0
#include "report/profile/kernel_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ridgeline::report {
namespace {

constexpr std::array<std::string_view, 6> kCommon{
    "at::native::", "(anonymous namespace)::", "at::cuda::", "cutlass::", "pytorch_flash::", "std::"};

/// Where the list of parameters begins that the name ends with.
std::size_t parameters_at(std::string_view name) {
  if (!name.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (auto at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? std::string_view::npos : at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string short_kernel_name(std::string name) {
  name.resize(std::min(name.size(), parameters_at(name)));
  if (name.starts_with("void ")) name.erase(0, 5);
  for (const auto common : kCommon)
    for (auto at = name.find(common); at != std::string::npos; at = name.find(common, at))
      name.erase(at, common.size());
  return name;
}

}  // namespace ridgeline::report
