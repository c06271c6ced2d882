// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counted_launches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/analysis/range_paths.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kMostSteps = 8;  // that a kernel is looked for in

/// Numbers a function with its grid and block.
class Shapes {
 public:
  std::uint32_t of(NameId name, const Dim3& grid, const Dim3& block) {
    return numbers_
        .try_emplace({name, {grid.x, grid.y, grid.z, block.x, block.y, block.z}},
                     static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }

 private:
  std::map<std::pair<NameId, std::array<std::int32_t, 6>>, std::uint32_t> numbers_;
};

/// By what a kernel and a counted launch are the same.
struct LaunchKey {
  std::uint32_t shape = 0;
  std::uint32_t path = RangePaths::kNone;
  std::uint32_t path_class = RangePaths::kNone;
};

std::uint64_t joined(std::uint32_t shape, std::uint32_t path) { return std::uint64_t{shape} << 32U | path; }

/// The counted launches of a step, each to be taken once for a group of kernels.
class CountedStep {
 public:
  void add(Place row, const LaunchKey& key) {
    const auto put = [&](Lists& lists, std::uint64_t by) { lists[by].rows.push_back(row); };
    put(exact_, joined(key.shape, key.path));
    put(alike_, joined(key.shape, key.path_class));
    put(any_, key.shape);
    if (key.path == RangePaths::kNone) put(without_path_, key.shape);
    ++size_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  enum class By { path, path_class, shape };
  /// The first that the group has not taken; kNowhere: none.
  [[nodiscard]] Place take(By by, const LaunchKey& key, std::uint32_t group, std::vector<std::uint32_t>& taken_by) {
    auto& lists = by == By::path                  ? exact_
                  : by == By::path_class          ? alike_
                  : key.path == RangePaths::kNone ? any_
                                                  : without_path_;
    const auto found = lists.find(by == By::path         ? joined(key.shape, key.path)
                                  : by == By::path_class ? joined(key.shape, key.path_class)
                                                         : std::uint64_t{key.shape});
    if (found == lists.end()) return kNowhere;
    auto& list = found->second;
    if (std::exchange(list.group, group) != group) list.next = 0;
    while (list.next < list.rows.size() && taken_by[list.rows[list.next]] == group) ++list.next;
    if (list.next == list.rows.size()) return kNowhere;
    taken_by[list.rows[list.next]] = group;
    return list.rows[list.next++];
  }

 private:
  struct List {
    std::vector<Place> rows;
    std::size_t next = 0;  ///< for the group
    std::uint32_t group = 0;
  };
  using Lists = std::unordered_map<std::uint64_t, List>;
  Lists exact_;
  Lists alike_;
  Lists any_;
  Lists without_path_;
  std::size_t size_ = 0;
};

class CountedJoiner {
 public:
  explicit CountedJoiner(const AnalysedTrace& analysed)
      : analysed_(analysed),
        trace_(analysed.trace),
        paths_(trace_, analysed.nesting, RangePaths::Names::exact),
        classes_(trace_, analysed.nesting, RangePaths::Names::classes),
        taken_by_(trace_.counted.size(), 0) {
    out_.row.assign(trace_.kernels.size(), kNowhere);
    out_.source.assign(trace_.kernels.size(), schema::BytesSource::unknown);
    read_counted();
    for (const auto& node : trace_.graph_nodes) path_of_node_[{node.process, node.node}] = node.path;
  }

  CounterJoin join() {
    const auto& kernels = trace_.kernels;
    std::map<Place, std::vector<Place>> of_steps;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Place>> of_graphs;  // by the launch that is seen first
    std::map<std::pair<std::int64_t, std::uint64_t>, Place> first_of_node;
    for (const auto kernel : in_launch_order(trace_)) {
      const auto process = trace_.gpu_lanes[kernels.lane[kernel]].process;
      if (const auto node = kernels.graph_node[kernel]; node == 0)
        of_steps[analysed_.kernels.step[kernel]].push_back(kernel);
      else if (first_of_node.try_emplace({process, node}, kernel).second)
        of_graphs[{process, kernels.correlation[kernel]}].push_back(kernel);
    }
    for (const auto& [step, group] : of_steps) match(group, number_of(step), schema::BytesSource::range_profiler);
    for (const auto& [launch, group] : of_graphs) match(group, {}, schema::BytesSource::uncaptured_step);
    for (Place kernel = 0; kernel < kernels.size(); ++kernel) {
      if (kernels.graph_node[kernel] == 0) continue;
      const auto first = first_of_node.at({trace_.gpu_lanes[kernels.lane[kernel]].process, kernels.graph_node[kernel]});
      out_.row[kernel] = out_.row[first];
      out_.source[kernel] = out_.source[first];
    }
    std::set<Place> rows(out_.row.begin(), out_.row.end());
    rows.erase(kNowhere);
    out_.matched = rows.size();
    return std::move(out_);
  }

 private:
  void read_counted() {
    const auto& counted = trace_.counted;
    std::vector<Place> order(counted.size());
    std::iota(order.begin(), order.end(), Place{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Place one, Place other) { return counted.start_ns[one] < counted.start_ns[other]; });
    for (const auto row : order)
      if (counted.graph_nodes[row] == 0)
        steps_[counted.step[row]].add(row, {shapes_.of(counted.name[row], counted.grid[row], counted.block[row]),
                                            paths_.of_text(counted.path[row]), classes_.of_text(counted.path[row])});
    for (const auto& [number, step] : steps_) by_size_.push_back(number);
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [&](auto one, auto other) { return steps_.at(one).size() > steps_.at(other).size(); });
  }

  /// "ProfilerStep#6" is the sixth of the program; nullopt: it has no number there.
  [[nodiscard]] std::optional<std::int64_t> number_of(Place step) const {
    if (step == kNowhere) return 0;
    const auto name = trace_.strings.text(trace_.ranges.name[analysed_.steps.steps[step].range]);
    if (!is_profiler_step(name)) return std::nullopt;
    const auto number = base::parse_integer(name.substr(name.find('#') + 1), "step");
    return number ? std::optional(*number) : std::nullopt;
  }

  [[nodiscard]] LaunchKey key_of(Place kernel) {
    const auto& kernels = trace_.kernels;
    LaunchKey key;
    key.shape = shapes_.of(kernels.name[kernel], kernels.grid[kernel], kernels.block[kernel]);
    if (const auto node = kernels.graph_node[kernel]; node != 0) {
      const auto found = path_of_node_.find({trace_.gpu_lanes[kernels.lane[kernel]].process, node});
      if (found == path_of_node_.end()) return key;
      key.path = paths_.of_text(found->second);
      key.path_class = classes_.of_text(found->second);
    } else if (const auto call = analysed_.kernels.call[kernel]; call != kNowhere) {
      key.path = paths_.of_range(analysed_.nesting.range_of_call[call]);
      key.path_class = classes_.of_range(analysed_.nesting.range_of_call[call]);
    }
    return key;
  }

  void match(const std::vector<Place>& kernels, std::optional<std::int64_t> number, schema::BytesSource source) {
    ++group_;
    std::vector<CountedStep*> candidates;
    if (const auto own = number ? steps_.find(*number) : steps_.end(); own != steps_.end())
      candidates.push_back(&own->second);
    for (const auto one : by_size_)
      if (candidates.size() < kMostSteps && number != one) candidates.push_back(&steps_.at(one));
    std::vector<std::pair<Place, LaunchKey>> open;
    open.reserve(kernels.size());
    for (const auto kernel : kernels) open.emplace_back(kernel, key_of(kernel));
    for (const auto by : {CountedStep::By::path, CountedStep::By::path_class, CountedStep::By::shape})
      for (auto* step : candidates)
        std::erase_if(open, [&](const auto& one) {
          const auto row = step->take(by, one.second, group_, taken_by_);
          if (row == kNowhere) return false;
          out_.row[one.first] = row;
          out_.source[one.first] = source;
          return true;
        });
  }

  const AnalysedTrace& analysed_;
  const Trace& trace_;
  RangePaths paths_;
  RangePaths classes_;
  Shapes shapes_;
  std::map<std::int64_t, CountedStep> steps_;  ///< by their numbers
  std::vector<std::int64_t> by_size_;          ///< their numbers, the fullest first
  std::map<std::pair<std::int64_t, std::uint64_t>, NameId> path_of_node_;
  std::vector<std::uint32_t> taken_by_;  ///< of each counted launch: the last group that it was taken for
  std::uint32_t group_ = 0;
  CounterJoin out_;
};

/// "ViT_0/Block_3" of a GraphNode::path.
std::string module_of(std::string_view path) {
  std::string out;
  each_part(path, [&](RangeKind kind, std::string_view name) {
    std::string part;
    if (kind == RangeKind::python && is_module_call(name)) part = module_name(name);
    if (kind == RangeKind::annotation) part = annotation_name(name);
    if (!part.empty()) out += (out.empty() ? "" : "/") + part;
  });
  return out;
}

void add_known(std::int64_t& sum, std::int64_t value) {
  if (value >= 0) sum = std::max<std::int64_t>(sum, 0) + value;
}

}  // namespace

KernelCounters counters_of(const Trace& trace) {
  const auto& counted = trace.counted;
  KernelCounters out;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const auto& lane = trace.gpu_lanes[counted.lane[i]];
    out.process.push_back(lane.process);
    out.process_name.push_back(0);
    out.name.push_back(out.strings.id(trace.strings.text(counted.name[i])));
    out.device.push_back(lane.device);
    out.context.push_back(lane.context);
    out.stream.push_back(lane.stream);
  }
  out.grid = counted.grid;
  out.block = counted.block;
  out.step = counted.step;
  const auto add = [&](std::string_view name, std::string_view unit, const auto& column, double scale, auto is_known) {
    KernelCounters::Metric metric{std::string(name), std::string(unit), {}};
    metric.values.reserve(column.size());
    for (const auto value : column)
      metric.values.push_back(is_known(value) ? static_cast<double>(value) * scale
                                              : std::numeric_limits<double>::quiet_NaN());
    const bool any =
        std::any_of(metric.values.begin(), metric.values.end(), [](double value) { return !std::isnan(value); });
    if (any) out.metrics.push_back(std::move(metric));
  };
  const auto is_counted = [](auto value) { return value >= 0; };
  add(kDramBytesRead, "byte", counted.dram_read_bytes, 1, is_counted);
  add(kDramBytesWritten, "byte", counted.dram_write_bytes, 1, is_counted);
  add("lts__t_bytes.sum", "byte", counted.l2_bytes, 1, is_counted);
  add("gpu__time_duration.sum", "ns", counted.duration_ns, 1, [](auto value) { return value > 0; });
  add(kTensorActivity, "%", counted.tensor_permille, 0.1, is_counted);
  return out;
}

CounterJoin join_counted(const AnalysedTrace& analysed) { return CountedJoiner(analysed).join(); }

std::vector<schema::ProfileGraph> counted_graphs(const Trace& trace) {
  const auto& counted = trace.counted;
  std::map<std::tuple<NameId, NameId, std::int32_t>, std::pair<schema::ProfileGraph, std::int64_t>> graphs;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted.graph_nodes[i] <= 0) continue;
    auto& [row, with_tensor] = graphs[{counted.name[i], counted.path[i], counted.graph_nodes[i]}];
    row.name = trace.strings.text(counted.name[i]);
    row.module = module_of(trace.strings.text(counted.path[i]));
    row.nodes = counted.graph_nodes[i];
    ++row.launches;
    add_known(row.read_bytes, counted.dram_read_bytes[i]);
    add_known(row.write_bytes, counted.dram_write_bytes[i]);
    add_known(row.l2_bytes, counted.l2_bytes[i]);
    if (counted.duration_ns[i] > 0) add_known(row.total_ns, counted.duration_ns[i]);
    if (counted.tensor_permille[i] < 0) continue;
    ++with_tensor;
    row.tensor_share = std::max(0.0, row.tensor_share) + counted.tensor_permille[i] / 1000.0;
  }
  std::vector<schema::ProfileGraph> out;
  for (auto& [key, graph] : graphs) {
    if (graph.second > 0) graph.first.tensor_share /= static_cast<double>(graph.second);
    out.push_back(std::move(graph.first));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& one, const auto& other) {
    return one.read_bytes + one.write_bytes > other.read_bytes + other.write_bytes;
  });
  return out;
}

}  // namespace ridgeline::trace
