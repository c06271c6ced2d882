// SPDX-License-Identifier: Apache-2.0
// libFuzzer target; run with `config_patch_fuzzer -max_len=4096 NEW_CORPUS tests/data/yaml`.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/config_patch_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto broken = ridgeline::fuzz::broken_property({reinterpret_cast<const char*>(data), size});
  if (!broken.empty()) {
    std::fprintf(stderr, "broken property: %s\n", broken.c_str());
    std::abort();
  }
  return 0;
}
