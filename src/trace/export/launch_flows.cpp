// SPDX-License-Identifier: Apache-2.0
#include "trace/export/launch_flows.hpp"

#include "trace/analysis/launch_index.hpp"

namespace ridgeline::trace {
namespace {

constexpr Table kWorkTables[] = {Table::kernels, Table::copies, Table::sets};

}  // namespace

LaunchFlows::LaunchFlows(const Trace& trace) : offsets_(trace.calls.size() + 1) {
  const LaunchIndex index(trace);
  std::uint32_t next = 1;
  for (std::size_t table = 0; table < kWork; ++table) {
    const auto& work = spans_of(trace, kWorkTables[table]);
    calls_[table] = index.calls_of(work);
    first_[table] = next;
    next += static_cast<std::uint32_t>(work.size());
    for (std::size_t i = 0; i < work.size(); ++i) {
      auto& call = calls_[table][i];
      if (call == kNowhere) continue;
      if (work.start_ns[i] < trace.calls.start_ns[call])
        call = kNowhere;
      else
        ++offsets_[call + 1];
    }
  }
  for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
  flows_.resize(offsets_.back());
  // From the last one down, so that each offset ends where its call's arrows begin.
  auto ends = offsets_;
  for (std::size_t table = kWork; table-- > 0;)
    for (std::size_t i = calls_[table].size(); i-- > 0;)
      if (const auto call = calls_[table][i]; call != kNowhere)
        flows_[--ends[call + 1]] = first_[table] + static_cast<std::uint32_t>(i);
}

std::size_t LaunchFlows::index_of(Table table) {
  for (std::size_t i = 0; i < kWork; ++i)
    if (kWorkTables[i] == table) return i;
  return kWork;
}

std::span<const std::uint32_t> LaunchFlows::of_call(Place call) const {
  return std::span(flows_).subspan(offsets_[call], offsets_[call + 1] - offsets_[call]);
}

Place LaunchFlows::call_of(Slice slice) const {
  const auto table = index_of(slice.table);
  return table == kWork ? kNowhere : calls_[table][slice.row];
}

std::uint32_t LaunchFlows::of_work(Slice slice) const {
  return call_of(slice) == kNowhere ? 0 : first_[index_of(slice.table)] + slice.row;
}

}  // namespace ridgeline::trace
