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
  if (name.starts_with("_Z")) {
    name.remove_prefix(2);
    name.remove_prefix(std::min(name.find_first_not_of("N0123456789"), name.size()));
  } else if (name.starts_with("void ")) {
    name.remove_prefix(5);
  }
  for (const std::string_view begin : std::array{"nccl", "rccl", "nvshmem"})
    if (name.starts_with(begin)) return true;
  return false;
}

}  // namespace ridgeline::inject
