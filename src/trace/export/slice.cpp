// SPDX-License-Identifier: Apache-2.0
#include "trace/export/slice.hpp"

#include <array>
#include <limits>

namespace ridgeline::trace {
namespace {

constexpr std::array<std::string_view, kSliceCategories> kCategoryNames{
    "cpu_op",      "user_annotation", "python_function", "overhead",   "Node",     "cuda_runtime",
    "cuda_driver", "kernel",          "gpu_memcpy",      "gpu_memset", "cuda_sync"};

/// "cuLaunchKernel", not "cudaLaunchKernel".
bool is_of_driver(std::string_view call) {
  return call.size() > 2 && call.starts_with("cu") && call[2] >= 'A' && call[2] <= 'Z';
}

}  // namespace

const Spans& spans_of(const Trace& trace, Table table) {
  switch (table) {
    case Table::ranges: return trace.ranges;
    case Table::nodes: return trace.nodes;
    case Table::calls: return trace.calls;
    case Table::kernels: return trace.kernels;
    case Table::copies: return trace.copies;
    case Table::sets: return trace.sets;
    case Table::syncs: return trace.syncs;
  }
  return trace.syncs;
}

SliceCategory category_of(const Trace& trace, Slice slice) {
  switch (slice.table) {
    case Table::ranges: return static_cast<SliceCategory>(trace.ranges.kind[slice.row]);
    case Table::nodes: return SliceCategory::node;
    case Table::calls:
      return is_of_driver(trace.strings.text(trace.calls.name[slice.row])) ? SliceCategory::driver_call
                                                                           : SliceCategory::runtime_call;
    case Table::kernels: return SliceCategory::kernel;
    case Table::copies: return SliceCategory::copy;
    case Table::sets: return SliceCategory::set;
    case Table::syncs: return SliceCategory::sync;
  }
  return SliceCategory::sync;
}
static_assert(static_cast<int>(SliceCategory::operation) == static_cast<int>(RangeKind::operation));
static_assert(static_cast<int>(SliceCategory::overhead) == static_cast<int>(RangeKind::overhead));

std::string_view name_of(SliceCategory category) { return kCategoryNames.at(static_cast<std::size_t>(category)); }

SliceTimes::SliceTimes(const Trace& trace) {
  for (std::size_t i = 0; i < kTables; ++i) tables_[i] = &spans_of(trace, static_cast<Table>(i));
}

std::int64_t SliceTimes::end(Slice slice) const {
  const auto begun = start(slice);
  const auto lasts = spans(slice).duration_ns[slice.row];
  return begun > std::numeric_limits<std::int64_t>::max() - lasts ? std::numeric_limits<std::int64_t>::max()
                                                                  : begun + lasts;
}

bool SliceTimes::before(Slice a, Slice b) const {
  if (start(a) != start(b)) return start(a) < start(b);
  const auto a_lasts = spans(a).duration_ns[a.row];
  const auto b_lasts = spans(b).duration_ns[b.row];
  if (a_lasts != b_lasts) return a_lasts > b_lasts;
  if (a.table != b.table) return a.table < b.table;
  return a.row < b.row;
}

}  // namespace ridgeline::trace
