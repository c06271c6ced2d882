// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {

/// What kernels of a trace could do without, by kind.
struct KernelTallies {
  explicit KernelTallies(const StringTable& strings)
      : chains(strings),
        attention(strings),
        tf32_products(strings),
        half_products(strings),
        fp16_products(strings),
        layouts(strings),
        few_blocks(strings),
        partial_waves(strings) {}

  Tally chains;     ///< of elementwise kernels
  Tally attention;  ///< that is not fused
  // In FP32 on ordinary cores, of a GPU whose products are faster in that format.
  Tally tf32_products;
  Tally half_products;
  Tally fp16_products;
  Tally layouts;        ///< changes of a tensor's layout
  Tally few_blocks;     ///< launches with fewer blocks than multiprocessors
  Tally partial_waves;  ///< launches whose last wave does not fill the GPU; only where counters tell
};

[[nodiscard]] KernelTallies tally_kernels(const Case& of);

}  // namespace ridgeline::trace
