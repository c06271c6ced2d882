// SPDX-License-Identifier: Apache-2.0
#include "kernel_name.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace ridgeline::inject {

std::string plain_kernel_name(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 && plain ? plain.get() : mangled;
}

bool is_collective(std::string_view name) {
  // Those of other libraries, vLLM's and PyTorch's symmetric memory among them.
  static constexpr std::array<std::string_view, 9> kParts{"all_reduce",    "allreduce",  "AllReduce",
                                                          "all_gather",    "AllGather",  "reduce_scatter",
                                                          "ReduceScatter", "all_to_all", "cross_device_reduce"};
  if (std::any_of(kParts.begin(), kParts.end(), [&](auto part) { return name.find(part) != std::string_view::npos; }))
    return true;
  if (name.starts_with("_Z")) {
    name.remove_prefix(2);
    name.remove_prefix(std::min(name.find_first_not_of("N0123456789"), name.size()));
  } else if (name.starts_with("void ")) {
    name.remove_prefix(5);
  }
  static constexpr std::array<std::string_view, 3> kBegin{"nccl", "rccl", "nvshmem"};
  return std::any_of(kBegin.begin(), kBegin.end(), [&](auto begin) { return name.starts_with(begin); });
}

}  // namespace ridgeline::inject
