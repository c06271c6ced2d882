// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/kernel_table.hpp"

#include <algorithm>

namespace ridgeline::trace {

std::vector<KernelRow> kernel_table(const Trace& trace) {
  std::vector<KernelRow> by_name(trace.strings.size());
  const auto& kernels = trace.kernels;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto& row = by_name[kernels.name[i]];
    const auto took = kernels.duration_ns[i];
    row.name = kernels.name[i];
    row.least_ns = row.calls == 0 ? took : std::min(row.least_ns, took);
    row.most_ns = std::max(row.most_ns, took);
    row.total_ns += took;
    ++row.calls;
  }
  std::erase_if(by_name, [](const auto& row) { return row.calls == 0; });
  std::sort(by_name.begin(), by_name.end(), [&](const auto& one, const auto& other) {
    return one.total_ns != other.total_ns ? one.total_ns > other.total_ns
                                          : trace.strings.text(one.name) < trace.strings.text(other.name);
  });
  return by_name;
}

}  // namespace ridgeline::trace
