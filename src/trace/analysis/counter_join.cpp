// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_join.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "trace/analysis/launch_index.hpp"
#include "trace/analysis/plain_kernel_name.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

using Launch = std::tuple<std::string, std::array<std::int32_t, 3>, std::array<std::int32_t, 3>>;

std::array<std::int32_t, 3> numbers(const Dim3& extent) { return {extent.x, extent.y, extent.z}; }

schema::Message launches_of(const Launch& launch, std::size_t count) {
  const auto& [name, grid, block] = launch;
  return messages::launches_of_kernel({.count = static_cast<std::int64_t>(count),
                                       .name = name,
                                       .grid_x = grid[0],
                                       .grid_y = grid[1],
                                       .grid_z = grid[2],
                                       .block_x = block[0],
                                       .block_y = block[1],
                                       .block_z = block[2]});
}

constexpr double kMostDramBytes = 0x1p58;  // what sums of 64 bits hold by far

constexpr std::string_view kBoth = "dram__bytes.sum";
constexpr std::array kReadAndWritten{
    std::pair<std::string_view, std::string_view>{kDramBytesRead, kDramBytesWritten},
    std::pair<std::string_view, std::string_view>{"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}};
constexpr double kOtherProgram = 3;  // times as long: clocks and cold caches explain less

/// nullptr also where it is in another unit: sectors are no bytes.
const KernelCounters::Metric* find_bytes(const KernelCounters& counters, std::string_view name) {
  const auto* metric = counters.find(name);
  return metric != nullptr && (metric->unit.empty() || metric->unit == "byte") ? metric : nullptr;
}

/// Of a row: read and written, or both in one.
double dram_bytes_of(const KernelCounters& counters, Place row) {
  const auto value = [&](std::string_view name) {
    const auto* metric = find_bytes(counters, name);
    const auto is = metric == nullptr ? std::numeric_limits<double>::quiet_NaN() : metric->values[row];
    return is < 0 ? std::numeric_limits<double>::quiet_NaN() : is;
  };
  for (const auto& [read, write] : kReadAndWritten)
    if (const auto sum = value(read) + value(write); !std::isnan(sum)) return sum;
  return value(kBoth);
}

/// Durations that both have of the same launches; empty: they agree, or there are none.
schema::Message time_note(const Trace& trace, const KernelCounters& counters, const CounterJoin& join) {
  const auto* metric = counters.find("gpu__time_duration.sum");
  if (metric == nullptr) metric = counters.find("Duration");
  if (metric == nullptr || metric->unit != "ns") return {};
  double counted_ns = 0;
  double traced_ns = 0;
  double launches = 0;
  for (std::size_t i = 0; i < join.row.size(); ++i) {
    if (join.row[i] == kNowhere || !(metric->values[join.row[i]] > 0)) continue;
    counted_ns += metric->values[join.row[i]];
    traced_ns += static_cast<double>(trace.kernels.duration_ns[i]);
    ++launches;
  }
  if (launches == 0 || (counted_ns < kOtherProgram * traced_ns && traced_ns < kOtherProgram * counted_ns)) return {};
  return messages::counters_of_other_times({.counted = counted_ns / launches, .traced = traced_ns / launches});
}

}  // namespace

std::vector<Place> in_launch_order(const Trace& trace) {
  const auto& kernels = trace.kernels;
  const auto calls = LaunchIndex(trace).calls_of(kernels);
  std::vector<Place> order(kernels.size());
  std::iota(order.begin(), order.end(), Place{0});
  const auto key = [&](Place kernel) {
    const auto begin = kernels.start_ns[kernel];
    return std::pair(calls[kernel] == kNowhere ? begin : trace.calls.start_ns[calls[kernel]], begin);
  };
  std::stable_sort(order.begin(), order.end(), [&](Place one, Place other) { return key(one) < key(other); });
  return order;
}

CounterJoin join_counters(const Trace& trace, const KernelCounters& counters) {
  const auto& kernels = trace.kernels;
  std::map<NameId, std::string> plain;
  std::map<Launch, std::vector<Place>> in_trace;
  for (const auto kernel : in_launch_order(trace)) {
    auto& name = plain[kernels.name[kernel]];
    if (name.empty()) name = plain_kernel_name(trace.strings.text(kernels.name[kernel]));
    in_trace[{name, numbers(kernels.grid[kernel]), numbers(kernels.block[kernel])}].push_back(kernel);
  }
  std::map<Launch, std::vector<Place>> in_counters;
  for (Place row = 0; row < counters.size(); ++row)
    in_counters[{plain_kernel_name(counters.strings.text(counters.name[row])), numbers(counters.grid[row]),
                 numbers(counters.block[row])}]
        .push_back(row);
  CounterJoin out;
  out.row.assign(kernels.size(), kNowhere);
  out.source.assign(kernels.size(), schema::BytesSource::unknown);
  for (const auto& [launch, rows] : in_counters) {
    const auto found = in_trace.find(launch);
    if (found == in_trace.end()) {
      out.only_counters.push_back(launches_of(launch, rows.size()));
      continue;
    }
    const auto& launches = found->second;
    const bool repeats = launches.size() % rows.size() == 0;
    for (std::size_t i = 0; i < launches.size(); ++i)
      if (i < rows.size() || repeats) out.row[launches[i]] = rows[i % rows.size()];
    out.matched += std::min(rows.size(), launches.size());
    if (rows.size() > launches.size())
      out.only_counters.push_back(launches_of(launch, rows.size() - launches.size()));
    else if (!repeats)
      out.only_trace.push_back(launches_of(launch, launches.size() - rows.size()));
  }
  for (const auto& [launch, launches] : in_trace)
    if (!in_counters.contains(launch)) out.only_trace.push_back(launches_of(launch, launches.size()));
  for (std::size_t i = 0; i < out.row.size(); ++i)
    if (out.row[i] != kNowhere) out.source[i] = schema::BytesSource::nsight_compute;
  return out;
}

std::vector<double> dram_bytes(const KernelCounters& counters, const CounterJoin& join) {
  std::vector<double> out(join.row.size(), std::numeric_limits<double>::quiet_NaN());
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (join.row[i] == kNowhere) continue;
    const auto bytes = dram_bytes_of(counters, join.row[i]);
    if (!(bytes >= 0 && bytes <= kMostDramBytes - sum)) continue;
    out[i] = bytes;
    sum += bytes;
  }
  return out;
}

std::vector<schema::Message> counter_notes(const Trace& trace, const KernelCounters& counters, const CounterJoin& join,
                                           const std::vector<double>& bytes) {
  std::vector<schema::Message> out;
  const std::int64_t known = std::count_if(bytes.begin(), bytes.end(), [](double value) { return !std::isnan(value); });
  std::int64_t without_value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    without_value += join.row[i] != kNowhere && std::isnan(bytes[i]) ? 1 : 0;
  if (missing_bytes(counters).empty() && known < std::ssize(bytes))
    out.push_back(
        messages::bytes_of_some({.known = known,
                                 .all = std::ssize(bytes),
                                 .without_value = without_value > 0 ? std::optional(without_value) : std::nullopt}));
  if (auto note = time_note(trace, counters, join); !note.empty()) out.push_back(std::move(note));
  return out;
}

schema::Message missing_bytes(const KernelCounters& counters) {
  const auto has = [&](std::string_view name) { return find_bytes(counters, name) != nullptr; };
  for (const auto name : {kBoth, kReadAndWritten[0].first, kReadAndWritten[0].second, kReadAndWritten[1].first,
                          kReadAndWritten[1].second})
    if (const auto* metric = counters.find(name); metric != nullptr && !has(name))
      return messages::bytes_in_other_unit({.metric = std::string(name), .unit = metric->unit});
  if (has(kBoth)) return {};
  for (const auto& [read, write] : kReadAndWritten) {
    if (has(read) && has(write)) return {};
    if (has(read) || has(write))
      return messages::half_of_bytes(
          {.missing = has(read) ? messages::HalfOfBytesMissing::written : messages::HalfOfBytesMissing::read,
           .metric = std::string(has(read) ? write : read)});
  }
  return messages::no_bytes({std::string(kReadAndWritten[0].first), std::string(kReadAndWritten[0].second)});
}

std::vector<double> tensor_shares(const KernelCounters& counters, const CounterJoin& join) {
  std::vector<double> out(join.row.size(), std::numeric_limits<double>::quiet_NaN());
  const auto* active = counters.find(kTensorActivity);
  for (std::size_t i = 0; active != nullptr && i < out.size(); ++i)
    if (join.row[i] != kNowhere) out[i] = active->values[join.row[i]] / 100;
  return out;
}

std::vector<double> launch_waves(const KernelCounters& counters, const CounterJoin& join) {
  std::vector<double> out(join.row.size(), std::numeric_limits<double>::quiet_NaN());
  const auto* waves = counters.find("launch__waves_per_multiprocessor");
  if (waves == nullptr) waves = counters.find("Waves Per SM");
  for (std::size_t i = 0; waves != nullptr && i < out.size(); ++i)
    if (join.row[i] != kNowhere) out[i] = waves->values[join.row[i]];
  return out;
}

}  // namespace ridgeline::trace
