// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

/// A quantity that counters of Nsight Compute tell, by the name that people know it by.
struct KernelQuantity {
  std::string title;                               ///< "L2 hit rate"
  const schema::ProfileCounter* source = nullptr;  ///< that it is read from
  std::string value;                               ///< mean of a launch, with its unit
};

/// A reason that warps do not issue, by how long they wait for each instruction that is issued.
struct WarpStall {
  std::string reason;         ///< "long scoreboard"
  schema::Message waits_for;  ///< "data from L2 or DRAM"; empty where the reason says it
  const schema::ProfileCounter* source = nullptr;
  std::string value;  ///< mean of a launch, with its unit
  double share = 0;   ///< of what all warps did, those that issued included
};

/// What a kernel's counters tell, in the order of reading: time, DRAM, L2, L1/TEX, occupancy and what limits it,
/// instructions. Only what the profiler recorded.
[[nodiscard]] std::vector<KernelQuantity> kernel_quantities(const schema::ProfileKernel& kernel);

/// The longest first. Empty: the profiler recorded none.
[[nodiscard]] std::vector<WarpStall> warp_stalls(const schema::ProfileKernel& kernel);

/// A counter's value with its unit: "1.25 MiB", "48.5 %", "32 block".
[[nodiscard]] std::string counter_text(double value, const std::string& unit);

}  // namespace ridgeline::report
