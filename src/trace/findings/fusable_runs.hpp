// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trace/findings/classed_kernels.hpp"
#include "trace/findings/tally.hpp"

namespace ridgeline::trace {

/// Kernels of one module, one after the other, that do little with each element: one kernel in their place would read
/// and write once.
struct FusableRuns {
  explicit FusableRuns(const StringTable& strings) : tally(strings) {}

  Tally tally;  ///< its bytes: of intermediate results, which fusing saves
  // Of those whose saving follows from bytes, by the bandwidth that their kernels reach.
  std::int64_t measured_ns = 0;
  std::int64_t measured_saving_ns = 0;
  double measured_bytes = 0;
};

/// Runs of elementwise kernels go to `chains`, those with reductions or a softmax among them to `with_reductions`.
/// `taken`: kernels that a finding has, to which those of runs are added.
void tally_fusable_runs(const ClassedKernels& kernels, std::vector<bool>& taken, FusableRuns& chains,
                        FusableRuns& with_reductions);

}  // namespace ridgeline::trace
