// SPDX-License-Identifier: Apache-2.0
#include "report/profile/kernel_name.hpp"

#include <array>
#include <string_view>

#include "schema/profile.hpp"

namespace ridgeline::report {
namespace {

constexpr std::array<std::string_view, 6> kCommon{
    "at::native::", "(anonymous namespace)::", "at::cuda::", "cutlass::", "pytorch_flash::", "std::"};

}  // namespace

std::string short_kernel_name(std::string name) {
  name.resize(schema::without_parameters(name).size());
  if (name.starts_with("void ")) name.erase(0, 5);
  for (const auto common : kCommon)
    for (auto at = name.find(common); at != std::string::npos; at = name.find(common, at))
      name.erase(at, common.size());
  return name;
}

}  // namespace ridgeline::report
