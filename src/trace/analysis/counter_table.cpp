// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_table.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace ridgeline::trace {
namespace {

void count(schema::ProfileCounter& counter, double value) {
  if (!std::isfinite(counter.sum + value)) return;  // there is none, or the file is damaged; JSON has no such number
  counter.least = counter.launches == 0 ? value : std::min(counter.least, value);
  counter.most = counter.launches == 0 ? value : std::max(counter.most, value);
  counter.sum += value;
  ++counter.launches;
}

/// Of the machine, not of the kernel.
bool is_constant(std::string_view metric) { return metric.starts_with("device__attribute"); }

}  // namespace

void add_counters(const Trace& trace, const KernelCounters& counters, const CounterJoin& join,
                  std::vector<schema::ProfileKernel>& kernels) {
  std::unordered_map<std::string_view, schema::ProfileKernel*> known;
  for (auto& kernel : kernels) known[kernel.name] = &kernel;
  for (std::size_t i = 0; i < join.row.size(); ++i) {
    const auto row = join.row[i];
    const auto found = known.find(trace.strings.text(trace.kernels.name[i]));
    if (row == kNowhere || found == known.end()) continue;
    auto& own = found->second->counters;
    own.resize(counters.metrics.size());
    for (std::size_t metric = 0; metric < own.size(); ++metric)
      count(own[metric], counters.metrics[metric].values[row]);
  }
  for (auto& kernel : kernels) {
    for (std::size_t metric = 0; metric < kernel.counters.size(); ++metric) {
      kernel.counters[metric].name = counters.metrics[metric].name;
      kernel.counters[metric].unit = counters.metrics[metric].unit;
    }
    std::erase_if(kernel.counters, [](const auto& one) { return one.launches == 0 || is_constant(one.name); });
    std::sort(kernel.counters.begin(), kernel.counters.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
  }
}

}  // namespace ridgeline::trace
