// SPDX-License-Identifier: Apache-2.0
#include "report/profile/kernel_detail.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/profile/bytes_sources.hpp"
#include "report/profile/kernel_counters.hpp"
#include "report/profile/profile_cells.hpp"
#include "report/profile/profile_tables.hpp"
#include "schema/kernel_name.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileCounter;
using schema::ProfileKernel;

constexpr std::size_t kShownStalls = 5;

/// Quantities that tell kernels from each other, and the heads of their columns.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kCompared{
    {{"DRAM read", "DRAM read"},
     {"DRAM written", "DRAM written"},
     {"L2 bytes", "L2 bytes"},
     {"L2 hit rate", "L2 hits"},
     {"L1/TEX bytes", "L1 bytes"},
     {"L1/TEX hit rate", "L1 hits"},
     {"achieved occupancy", "Achieved occupancy"},
     {"theoretical occupancy", "Theoretical occupancy"},
     {"occupancy limited by", "Limited by"},
     {"tensor pipe active", "Tensor pipe"}}};

std::string launch_extent(const std::array<std::int32_t, 3>& extent) {
  return extent[0] == 0 ? std::string(kAbsent) : fmt::format("{}", fmt::join(extent, "x"));
}

Table launch_table(const schema::MessageRenderer& words, const ProfileKernel& kernel, double peak) {
  Table table;
  table.columns = {{plain_text(kernel.name), Align::left}, {"Value", Align::right}};
  const auto add = [&](std::string what, std::string value) {
    table.rows.push_back({{std::move(what), std::move(value)}, Tone::neutral, ""});
  };
  const auto time = [](std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); };
  add("launches", fmt::format("{}", kernel.calls));
  add("time", time(kernel.total_ns));
  add("minimum, mean, maximum",
      fmt::format("{}, {}, {}", time(kernel.least_ns), time(kernel.total_ns / std::max<std::int64_t>(1, kernel.calls)),
                  time(kernel.most_ns)));
  add("grid of the longest launch", launch_extent(kernel.grid));
  add("block", launch_extent(kernel.block));
  if (kernel.registers > 0) {
    add("registers per thread", fmt::format("{}", kernel.registers));
    add("shared memory per block", base::format_bytes(kernel.shared_bytes));
  }
  if (kernel.bytes >= 0) {
    const auto source = kernel.bytes_source == schema::BytesSource::unknown
                            ? std::string("measured")
                            : words.text(bytes_source_name(kernel.bytes_source));
    add(fmt::format("DRAM bytes ({})", source), base::format_bytes(static_cast<double>(kernel.bytes)));
    const auto rate =
        kernel.rated_ns() > 0 ? static_cast<double>(kernel.bytes) / static_cast<double>(kernel.rated_ns()) : 0;
    if (rate > 0 && (peak <= 0 || rate * 1e9 <= kMostOfPeak * peak)) add("GB/s", fmt::format("{:.4g}", rate));
  }
  if (!kernel.module.empty()) add("mostly in", plain_text(kernel.module));
  return table;
}

bool varies(const ProfileCounter& counter) { return counter.least < counter.most; }

/// Columns of a counter's values; the least and the most where a launch differs from another.
void add_value_columns(Table& table, bool with_spread) {
  table.columns.push_back({"Mean", Align::right});
  if (!with_spread) return;
  table.columns.push_back({"Min", Align::right, true});
  table.columns.push_back({"Max", Align::right, true});
}
void add_spread(std::vector<std::string>& cells, const ProfileCounter& counter, bool with_spread) {
  if (!with_spread) return;
  cells.push_back(varies(counter) ? counter_text(counter.least, counter.unit) : "");
  cells.push_back(varies(counter) ? counter_text(counter.most, counter.unit) : "");
}

Table quantities_table(const std::vector<KernelQuantity>& quantities) {
  Table table;
  if (quantities.empty()) return table;
  const bool with_spread =
      std::any_of(quantities.begin(), quantities.end(), [](const auto& one) { return varies(*one.source); });
  table.columns = {{"Per launch", Align::left}};
  add_value_columns(table, with_spread);
  table.columns.push_back({"Counter", Align::left});
  for (const auto& quantity : quantities) {
    std::vector<std::string> cells{quantity.title, plain_text(quantity.value)};
    add_spread(cells, *quantity.source, with_spread);
    cells.push_back(code_mark(quantity.source->name));
    table.rows.push_back({std::move(cells), Tone::neutral, ""});
  }
  return table;
}

Table stalls_table(const schema::MessageRenderer& words, const std::vector<WarpStall>& stalls) {
  Table table;
  table.columns = {{"Reason", Align::left},
                   {"Share", Align::right},
                   {"Mean", Align::right},
                   {"Warps wait for", Align::left},
                   {"Counter", Align::left, true}};
  for (std::size_t i = 0; i < std::min(kShownStalls, stalls.size()); ++i) {
    const auto& stall = stalls[i];
    if (stall.share <= 0) continue;
    table.rows.push_back({{plain_text(stall.reason), percent(stall.share), stall.value, words.text(stall.waits_for),
                           code_mark(stall.source->name)},
                          Tone::neutral,
                          ""});
  }
  return table;
}

Table other_counters_table(const ProfileKernel& kernel) {
  std::set<const ProfileCounter*> shown;
  for (const auto& quantity : kernel_quantities(kernel)) shown.insert(quantity.source);
  const auto stalls = warp_stalls(kernel);
  for (std::size_t i = 0; i < std::min(kShownStalls, stalls.size()); ++i) shown.insert(stalls[i].source);
  std::vector<const ProfileCounter*> others;
  for (const auto& counter : kernel.counters)
    if (!shown.contains(&counter)) others.push_back(&counter);
  Table table;
  const bool with_spread = std::any_of(others.begin(), others.end(), [](const auto* one) { return varies(*one); });
  table.columns = {{"Counter", Align::left}};
  add_value_columns(table, with_spread);
  for (const auto* counter : others) {
    std::vector<std::string> cells{code_mark(counter->name), plain_text(counter_text(counter->mean(), counter->unit))};
    add_spread(cells, *counter, with_spread);
    table.rows.push_back({std::move(cells), Tone::neutral, ""});
  }
  return table;
}

void add_titled(std::vector<TitledTable>& out, std::string title, Table table) {
  if (!table.rows.empty()) out.push_back({std::move(title), std::move(table)});
}

}  // namespace

const ProfileKernel* find_kernel(const schema::ProfileRun& run, const std::string& name) {
  const auto& kernels = run.tables.kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const auto& kernel) { return kernel.name.find(name) != std::string::npos; });
  return found == kernels.end() ? nullptr : &*found;
}

std::vector<TitledTable> counter_detail(const schema::MessageRenderer& words, const ProfileKernel& kernel) {
  std::vector<TitledTable> out;
  add_titled(out, "Hardware counters", quantities_table(kernel_quantities(kernel)));
  add_titled(out, "Warp stalls", stalls_table(words, warp_stalls(kernel)));
  return out;
}

std::vector<TitledTable> kernel_detail(const schema::MessageRenderer& words, const ProfileKernel& kernel, double peak) {
  std::vector<TitledTable> out;
  add_titled(out, "Launches", launch_table(words, kernel, peak));
  for (auto& table : counter_detail(words, kernel)) out.push_back(std::move(table));
  add_titled(out, "Other counters", other_counters_table(kernel));
  return out;
}

Table counters_table(const schema::ProfileRun& run, std::size_t most) {
  struct Shown {
    std::string kernel;
    std::array<std::string, kCompared.size()> values;
    std::string stall;
  };
  std::vector<Shown> rows;
  std::array<bool, kCompared.size()> has{};
  bool has_stalls = false;
  for (const auto& kernel : run.tables.kernels) {
    if (kernel.counters.empty() || rows.size() >= most) continue;
    Shown row;
    row.kernel = code_mark(schema::short_kernel_name(kernel.name));
    for (const auto& quantity : kernel_quantities(kernel))
      for (std::size_t i = 0; i < kCompared.size(); ++i)
        if (quantity.title == kCompared[i].first) {
          row.values[i] = plain_text(quantity.value);
          has[i] = true;
        }
    if (const auto stalls = warp_stalls(kernel); !stalls.empty()) {
      row.stall = fmt::format("{} ({})", plain_text(stalls.front().reason), percent(stalls.front().share));
      has_stalls = true;
    }
    rows.push_back(std::move(row));
  }
  Table table;
  if (!has_stalls && std::none_of(has.begin(), has.end(), [](bool one) { return one; })) return table;
  table.columns = {{"Kernel", Align::left}};
  for (std::size_t i = 0; i < kCompared.size(); ++i)
    if (has[i])
      table.columns.push_back(
          {std::string(kCompared[i].second), kCompared[i].second == "Limited by" ? Align::left : Align::right});
  if (has_stalls) table.columns.push_back({"Longest stall", Align::left});
  for (auto& row : rows) {
    std::vector<std::string> cells{std::move(row.kernel)};
    for (std::size_t i = 0; i < kCompared.size(); ++i)
      if (has[i]) cells.push_back(std::move(row.values[i]));
    if (has_stalls) cells.push_back(std::move(row.stall));
    table.rows.push_back({std::move(cells), Tone::neutral, ""});
  }
  return table;
}

}  // namespace ridgeline::report
