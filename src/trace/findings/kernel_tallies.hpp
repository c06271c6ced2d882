// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/findings/fusable_runs.hpp"
#include "trace/findings/rules.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {

/// How much of the time of kernels tensor cores worked, by hardware counters.
struct TensorActivity {
  double active_ns = 0;
  double known_ns = 0;  ///< 0: not counted
};

/// What kernels of a trace could do without, by kind.
struct KernelTallies {
  explicit KernelTallies(const StringTable& strings)
      : chains(strings),
        reduced(strings),
        attention(strings),
        tf32_products(strings),
        fast_tf32_products(strings),
        half_products(strings),
        fp16_products(strings),
        products_in_tf32(strings),
        layouts(strings),
        strided_copies(strings),
        few_blocks(strings),
        partial_waves(strings) {}

  FusableRuns chains;   ///< of elementwise kernels
  FusableRuns reduced;  ///< of elementwise kernels and reductions
  Tally attention;      ///< that is not fused
  // In FP32 on ordinary cores, of a GPU whose products are faster in that format.
  Tally tf32_products;
  Tally fast_tf32_products;  ///< of a GPU whose TF32 is several times as fast
  Tally half_products;
  Tally fp16_products;
  TensorActivity fp32_activity;  ///< of all these
  Tally products_in_tf32;        ///< which half precision makes faster
  Tally layouts;                 ///< changes of a tensor's layout by a library
  Tally strided_copies;          ///< by the program: of permuted tensors
  Tally few_blocks;              ///< launches with fewer blocks than multiprocessors
  Tally partial_waves;           ///< launches whose last wave does not fill the GPU; only where counters tell
};

[[nodiscard]] KernelTallies tally_kernels(const Case& of);

}  // namespace ridgeline::trace
