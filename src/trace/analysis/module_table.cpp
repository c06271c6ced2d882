// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/module_table.hpp"

#include <algorithm>
#include <cmath>

#include "trace/analysis/range_names.hpp"
#include "trace/node_launches.hpp"

namespace ridgeline::trace {
namespace {

class Rows {
 public:
  explicit Rows(const AnalysedTrace& analysed)
      : analysed_(analysed), rows_(analysed.attribution.rows.size()), steps_(analysed.steps.steps.size()) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto& from = analysed.attribution.rows[i];
      auto& row = rows_[i];
      row.name = from.name;
      row.kind = from.kind;
      row.line = from.line;
      row.parent = from.parent == kNowhere ? -1 : static_cast<int>(from.parent);
      row.path = row.parent <= 0 ? from.name : rows_[from.parent].path + "/" + from.name;
      row.step_ns.assign(steps_, 0);
    }
  }

  std::vector<schema::ProfileModule> fill() {
    add_host_times();
    add_work(analysed_.trace.kernels, analysed_.kernels, true);
    add_work(analysed_.trace.copies, analysed_.copies, false);
    add_work(analysed_.trace.sets, analysed_.sets, false);
    add_nodes();
    roll_up();
    return std::move(rows_);
  }

 private:
  void add_host_times() {
    const auto& ranges = analysed_.trace.ranges;
    const auto& attribution = analysed_.attribution;
    const auto& parents = analysed_.nesting.parent_of_range;
    const bool of_host = analysed_.trace.is_of_host();
    for (Place range = 0; range < ranges.size(); ++range) {
      if (!attribution.opens_row[range]) continue;
      auto& row = rows_[attribution.row_of_range[range]];
      const auto step = of_host ? analysed_.steps.at(ranges.start_ns[range]) : kNowhere;
      row.host_self_ns += ranges.duration_ns[range];
      if (step != kNowhere) row.step_ns[step] += ranges.duration_ns[range];
      // A backward operation is no call of the module whose gradient it computes.
      row.calls += attribution.is_backward[range] ? 0 : 1;
      if (of_host && attribution.is_backward[range]) row.backward_ns += ranges.duration_ns[range];
      auto above = parents[range];
      while (above != kNowhere && !attribution.opens_row[above]) above = parents[above];
      if (above == kNowhere) continue;
      rows_[attribution.row_of_range[above]].host_self_ns -= ranges.duration_ns[range];
      if (of_host && attribution.is_backward[above])
        rows_[attribution.row_of_range[above]].backward_ns -= ranges.duration_ns[range];
      if (step != kNowhere) rows_[attribution.row_of_range[above]].step_ns[step] -= ranges.duration_ns[range];
    }
  }

  void add_work(const Spans& work, const PlacedWork& placed, bool kernels) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      const auto at = placed.row[i];
      if (at == kNowhere) continue;
      auto& row = rows_[at];
      row.gpu_self_ns += work.duration_ns[i];
      row.kernels += kernels && !is_graph_launch(analysed_.trace.strings.text(work.name[i])) ? 1 : 0;
      if (analysed_.is_backward(placed.call[i])) row.backward_ns += work.duration_ns[i];
      const auto step = placed.step[i];
      if (step != kNowhere) row.step_ns[step] += work.duration_ns[i];
      if (!kernels) continue;
      add_tensor(row, i);
      const auto bytes = analysed_.bytes_of(i);
      if (std::isnan(bytes)) continue;
      add_bytes(row, std::llround(bytes), work.duration_ns[i], analysed_.bytes_source(i));
      add_step_bytes(row, std::llround(bytes), step);
    }
  }

  void add_nodes() {
    const auto& nodes = analysed_.trace.nodes;
    const bool has_gpu = analysed_.trace.kernels.size() > 0;
    const LaunchNodes launches(analysed_.trace);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      auto& row = rows_[analysed_.attribution.row_of_node[i]];
      const auto own_ns = analysed_.nodes.own_ns[i];
      const auto step = analysed_.step_of_node[i];
      if (!has_gpu && step != kNowhere) row.step_ns[step] += own_ns;
      const bool has_bytes =
          nodes.bytes(i) >= 0 && !launches.contains(i) && !analysed_.nodes.has_parts[i];  // else its parts have them
      if (has_bytes) add_step_bytes(row, nodes.bytes(i), step);
      if (analysed_.is_unusual(i)) continue;
      row.host_self_ns += own_ns;
      if (const auto range = analysed_.attribution.range_of_node[i]; range != kNowhere)
        rows_[analysed_.attribution.row_of_range[range]].host_self_ns -= own_ns;
      ++row.calls;
      if (has_bytes) add_bytes(row, nodes.bytes(i), own_ns, schema::BytesSource::shapes);
      if (launches.contains(i) || analysed_.nodes.has_parts[i]) continue;
      if (nodes.flops[i] < 0) continue;
      row.flops = std::max<std::int64_t>(row.flops, 0) + nodes.flops[i];
      row.flops_ns = std::max<std::int64_t>(row.flops_ns, 0) + own_ns;
    }
    if (nodes.size() > 0 && !has_gpu) add_rest_of_runs();
  }

  /// What runs took beside their nodes, which may overlap.
  void add_rest_of_runs() {
    const auto& steps = analysed_.steps.steps;
    if (steps.empty() || analysed_.attribution.unattributed == kNowhere) return;
    std::vector<std::int64_t> rest;
    for (const auto& step : steps) rest.push_back(step.end_ns - step.start_ns);
    for (std::size_t i = 0; i < analysed_.trace.nodes.size(); ++i)
      if (const auto step = analysed_.step_of_node[i]; step != kNowhere) rest[step] -= analysed_.nodes.own_ns[i];
    auto& row = rows_[analysed_.attribution.unattributed];
    for (std::size_t step = 0; step < rest.size(); ++step) {
      row.step_ns[step] = std::max<std::int64_t>(0, rest[step]);
      if (!analysed_.unusual_runs[step]) row.host_self_ns += row.step_ns[step];
    }
  }

  static void add_bytes(schema::ProfileModule& row, std::int64_t bytes, std::int64_t ns, schema::BytesSource source) {
    row.bytes = std::max<std::int64_t>(row.bytes, 0) + bytes;
    row.bytes_ns = std::max<std::int64_t>(row.bytes_ns, 0) + ns;
    row.bytes_source = merged(row.bytes_source, source);
  }
  void add_tensor(schema::ProfileModule& row, std::size_t kernel) const {
    const auto& shares = analysed_.kernel_tensor;
    if (shares.empty() || std::isnan(shares[kernel])) return;
    const auto ns = analysed_.trace.kernels.duration_ns[kernel];
    row.tensor_ns = std::max<std::int64_t>(row.tensor_ns, 0) +
                    std::llround(static_cast<double>(ns) * std::clamp(shares[kernel], 0.0, 1.0));
    row.tensor_of_ns = std::max<std::int64_t>(row.tensor_of_ns, 0) + ns;
  }
  void add_step_bytes(schema::ProfileModule& row, std::int64_t bytes, Place step) const {
    if (step == kNowhere) return;
    row.step_bytes.resize(steps_);
    row.step_bytes[step] += bytes;
  }

  void roll_up() {
    for (auto& row : rows_) {
      row.host_total_ns = row.host_self_ns;
      row.gpu_total_ns = row.gpu_self_ns;
    }
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      if (row->parent < 0) continue;
      auto& parent = rows_[static_cast<std::size_t>(row->parent)];
      parent.host_total_ns += row->host_total_ns;
      parent.gpu_total_ns += row->gpu_total_ns;
      parent.backward_ns += row->backward_ns;
      parent.kernels += row->kernels;
      if (row->bytes >= 0) parent.bytes = std::max<std::int64_t>(parent.bytes, 0) + row->bytes;
      if (row->bytes_ns >= 0) parent.bytes_ns = std::max<std::int64_t>(parent.bytes_ns, 0) + row->bytes_ns;
      parent.bytes_source = merged(parent.bytes_source, row->bytes_source);
      if (row->tensor_ns >= 0) parent.tensor_ns = std::max<std::int64_t>(parent.tensor_ns, 0) + row->tensor_ns;
      if (row->tensor_of_ns >= 0)
        parent.tensor_of_ns = std::max<std::int64_t>(parent.tensor_of_ns, 0) + row->tensor_of_ns;
      if (row->flops >= 0) parent.flops = std::max<std::int64_t>(parent.flops, 0) + row->flops;
      if (row->flops_ns >= 0) parent.flops_ns = std::max<std::int64_t>(parent.flops_ns, 0) + row->flops_ns;
      for (std::size_t step = 0; step < steps_; ++step) parent.step_ns[step] += row->step_ns[step];
      if (row->step_bytes.empty()) continue;
      parent.step_bytes.resize(steps_);
      for (std::size_t step = 0; step < steps_; ++step) parent.step_bytes[step] += row->step_bytes[step];
    }
  }

  const AnalysedTrace& analysed_;
  std::vector<schema::ProfileModule> rows_;
  std::size_t steps_;
};

}  // namespace

std::vector<schema::ProfileModule> module_rows(const AnalysedTrace& analysed) { return Rows(analysed).fill(); }

}  // namespace ridgeline::trace
