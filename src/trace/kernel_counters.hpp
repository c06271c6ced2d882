// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/message.hpp"
#include "tracefile/events.hpp"

namespace ridgeline::trace {

/// Hardware counters of kernels that a profiler replayed one by one, a column each; rows in the order of the launches.
struct KernelCounters {
  StringTable strings;
  std::vector<std::int64_t> process;
  std::vector<NameId> process_name;
  std::vector<NameId> name;
  std::vector<std::int32_t> device;
  std::vector<std::int64_t> context;
  std::vector<std::int64_t> stream;
  std::vector<Dim3> grid;
  std::vector<Dim3> block;
  std::vector<std::int64_t> step;  ///< of the program, as CountedLaunches::step; empty: unknown

  struct Metric {
    std::string name;            ///< "dram__bytes_read.sum"
    std::string unit;            ///< "ns", "byte", "byte/s", "hz", or as the profiler has it
    std::vector<double> values;  ///< one a row; NaN where there is none
  };
  std::vector<Metric> metrics;
  std::vector<schema::Message> notes;  ///< what was left out

  [[nodiscard]] std::size_t size() const noexcept { return name.size(); }
  [[nodiscard]] const Metric* find(std::string_view metric) const {
    for (const auto& one : metrics)
      if (one.name == metric) return &one;
    return nullptr;
  }
};

}  // namespace ridgeline::trace
