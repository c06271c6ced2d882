// SPDX-License-Identifier: Apache-2.0
// libFuzzer target; run with `loader_fuzzer -max_len=8192 NEW_CORPUS`.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/loader_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto broken = ridgeline::fuzz::broken_loader_property({reinterpret_cast<const std::byte*>(data), size});
  if (!broken.empty()) {
    std::fprintf(stderr, "broken property: %s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
