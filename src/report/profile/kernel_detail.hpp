// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

struct TitledTable {
  std::string title;
  Table table;
};

/// The kernel that takes longest of those whose name contains `name`; nullptr: there is none.
[[nodiscard]] const schema::ProfileKernel* find_kernel(const schema::ProfileRun& run, const std::string& name);

/// All that is known of one kernel: its launches, what counters tell by the quantities' names, why its warps wait, and
/// the other counters by theirs. Tables without rows are left out. `peak` as peak_bytes_per_s() has it: no GB/s beyond.
[[nodiscard]] std::vector<TitledTable> kernel_detail(const schema::MessageRenderer& words,
                                                     const schema::ProfileKernel& kernel, double peak = 0);

/// The second and third of these.
[[nodiscard]] std::vector<TitledTable> counter_detail(const schema::MessageRenderer& words,
                                                      const schema::ProfileKernel& kernel);

/// A row for each kernel that has counters, the longest first, at most so many: the quantities that are compared.
[[nodiscard]] Table counters_table(const schema::ProfileRun& run, std::size_t most);

}  // namespace ridgeline::report
