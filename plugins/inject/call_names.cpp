// SPDX-License-Identifier: Apache-2.0
#include "call_names.hpp"

#include <algorithm>
#include <array>

namespace ridgeline::inject {

std::string_view without_version(std::string_view name) {
  const auto at = name.rfind("_v");
  if (at == std::string_view::npos || at + 2 == name.size()) return name;
  const auto digits = name.substr(at + 2);
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(0, at) : name;
}

bool matters(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kBegin{
      "cudaLaunch",    "cudaGraphLaunch", "cudaMemcpy",    "cudaMemset",   "cudaMalloc",   "cudaFree",
      "cudaHostAlloc", "cuLaunch",        "cuGraphLaunch", "cuModuleLoad", "cuLibraryLoad"};
  return name.find("Synchronize") != std::string_view::npos ||
         std::any_of(kBegin.begin(), kBegin.end(), [name](auto begin) { return name.starts_with(begin); });
}

}  // namespace ridgeline::inject
