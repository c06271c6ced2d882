// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "tracefile/block_format.hpp"
#include "tracefile/event_tables.hpp"

namespace ridgeline::trace {

/// Every table of events, with the kind of its blocks: `visit(kind, table)`.
template <typename TablesOrConst, typename Visit>
void each_table(TablesOrConst& tables, Visit visit) {
  visit(BlockKind::kernels, tables.kernels);
  visit(BlockKind::copies, tables.copies);
  visit(BlockKind::sets, tables.sets);
  visit(BlockKind::syncs, tables.syncs);
  visit(BlockKind::calls, tables.calls);
  visit(BlockKind::ranges, tables.ranges);
  visit(BlockKind::nodes, tables.nodes);
  visit(BlockKind::allocations, tables.allocations);
  visit(BlockKind::counted, tables.counted);
}

/// Whether a table's lanes are Trace::gpu_lanes.
template <typename Kept>
inline constexpr bool kIsOfGpu = std::is_same_v<Kept, Kernels> || std::is_same_v<Kept, MemoryWork> ||
                                 std::is_same_v<Kept, Syncs> || std::is_same_v<Kept, CountedLaunches>;

template <typename Coder, typename KeptOrConst>
void code_allocations(Coder& coder, KeptOrConst& table) {
  coder.deltas(table.time_ns);
  coder.numbers(table.bytes);
  coder.deltas(table.address);
  coder.deltas(table.allocated_bytes);
  coder.deltas(table.reserved_bytes);
  coder.numbers(table.device);
  coder.template lanes<false>(table.lane);
  coder.names(table.place);
  coder.kinds(table.kind);
}

template <typename Coder, typename KeptOrConst>
void code_spans(Coder& coder, KeptOrConst& table) {
  coder.deltas(table.start_ns);
  coder.durations(table.duration_ns, table.start_ns);
  coder.names(table.name);
  coder.template lanes<kIsOfGpu<std::remove_const_t<KeptOrConst>>>(table.lane);
  coder.deltas(table.correlation);
}

/// The columns of a table in the order of the file, the same for who writes (ColumnWriter) and who reads
/// (ColumnReader).
template <typename Coder, typename KeptOrConst>
void code_columns(Coder& coder, KeptOrConst& table) {
  using Kept = std::remove_const_t<KeptOrConst>;
  if constexpr (std::is_same_v<Kept, Allocations>)
    code_allocations(coder, table);
  else
    code_spans(coder, table);
  if constexpr (std::is_same_v<Kept, Kernels>) {
    coder.extents(table.grid);
    coder.extents(table.block);
    coder.numbers(table.registers);
    coder.numbers(table.shared_bytes);
    coder.deltas(table.graph_node);
  }
  if constexpr (std::is_same_v<Kept, MemoryWork>) coder.numbers(table.bytes);
  if constexpr (std::is_same_v<Kept, Ranges>) {
    coder.kinds(table.kind);
    coder.deltas(table.sequence);
    coder.numbers(table.forward_thread);
  }
  if constexpr (std::is_same_v<Kept, Nodes>) {
    coder.names(table.operation);
    coder.names(table.provider);
    coder.numbers(table.activation_bytes);
    coder.numbers(table.parameter_bytes);
    coder.numbers(table.output_bytes);
    coder.numbers(table.flops);
  }
  if constexpr (std::is_same_v<Kept, CountedLaunches>) {
    coder.extents(table.grid);
    coder.extents(table.block);
    coder.names(table.path);
    coder.numbers(table.step);
    coder.numbers(table.graph_nodes);
    coder.numbers(table.dram_read_bytes);
    coder.numbers(table.dram_write_bytes);
    coder.numbers(table.l2_bytes);
    coder.numbers(table.tensor_permille);
  }
}

}  // namespace ridgeline::trace
