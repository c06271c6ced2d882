// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/bytes_sources.hpp"
#include "report/profile/profile_cells.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "schema/execution_provider.hpp"
#include "schema/kernel_name.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileRun;

/// What times of nodes are a share of: on a GPU the rows of the module tree have other times.
std::int64_t whole_of_nodes(const ProfileRun& run) {
  if (run.tables.devices.empty()) return whole_ns(run);
  std::int64_t sum = 0;
  for (const auto& node : run.tables.nodes) sum += node.total_ns;
  return sum;
}

/// Whether rows have bytes of different sources, so that each has to name its own.
bool has_several_sources(const std::vector<schema::ProfileKernel>& work) {
  auto all = schema::BytesSource::unknown;
  for (const auto& row : work) all = merged(all, row.bytes_source);
  return all == schema::BytesSource::mixed;
}

/// `peak` 0: of no use for this work.
Table named_work(const schema::MessageRenderer& words, const std::vector<schema::ProfileKernel>& work,
                 std::int64_t whole, std::size_t most, std::string_view title, double peak) {
  Table table;
  const bool has_bytes = std::any_of(work.begin(), work.end(), [](const auto& row) { return row.bytes >= 0; });
  const bool has_sources = has_several_sources(work);
  const bool has_modules = std::any_of(work.begin(), work.end(), [](const auto& row) { return !row.module.empty(); });
  table.columns = {{std::string(title), Align::left},
                   {"Calls", Align::right},
                   {"Time", Align::right},
                   {"Share", Align::right},
                   {"Mean", Align::right, true}};
  if (has_bytes) {
    table.columns.push_back({"Bytes", Align::right});
    table.columns.push_back({"GB/s", Align::right});
    if (peak > 0) table.columns.push_back({"Share of peak", Align::right});
    if (has_sources) table.columns.push_back({"Bytes from", Align::left, true});
  }
  const bool has_lines = std::any_of(work.begin(), work.end(), [](const auto& row) { return !row.line.empty(); });
  if (has_modules) table.columns.push_back({"Mostly in", Align::left, true, true});
  if (has_lines) table.columns.push_back({"Line", Align::left, true, true});
  for (std::size_t i = 0; i < std::min(most, work.size()); ++i) {
    const auto& row = work[i];
    std::vector<std::string> cells{code_mark(schema::short_kernel_name(row.name)), fmt::format("{}", row.calls),
                                   cell_time(row.total_ns), cell_share(row.total_ns, whole),
                                   cell_time(row.total_ns / std::max<std::int64_t>(1, row.calls))};
    if (has_bytes) {
      cells.push_back(cell_bytes(row.bytes));
      cells.push_back(cell_rate(peak, row.bytes, row.rated_ns()));
      if (peak > 0) cells.push_back(cell_peak(peak, row.bytes, row.rated_ns()));
      if (has_sources) cells.push_back(row.bytes < 0 ? "" : words.text(bytes_source_name(row.bytes_source)));
    }
    if (has_modules) cells.push_back(plain_text(row.module));
    if (has_lines) cells.push_back(plain_text(row.line));
    table.rows.push_back({std::move(cells), Tone::neutral, ""});
  }
  return table;
}

schema::Message cause_of(schema::IdleCause cause) {
  using enum messages::ProfileIdleCause;
  const auto word = [&] {
    switch (cause) {
      case schema::IdleCause::launch: return launch;
      case schema::IdleCause::host_work: return host_work;
      case schema::IdleCause::host_wait: return host_wait;
      case schema::IdleCause::pageable_copy: return pageable_copy;
      case schema::IdleCause::host_unrecorded: return host_unrecorded;
      case schema::IdleCause::sync: return sync;
      case schema::IdleCause::data_loading: return data_loading;
      case schema::IdleCause::allocation: return allocation;
      case schema::IdleCause::compilation: return compilation;
      case schema::IdleCause::profiler: return profiler;
      case schema::IdleCause::queue: return queue;
      case schema::IdleCause::unknown: break;
    }
    return unknown;
  };
  return messages::profile_idle(word());
}

}  // namespace

Table time_table(const schema::MessageRenderer& words, const ProfileRun& run) {
  Table table;
  const auto& devices = run.tables.devices;
  if (devices.empty()) return table;
  table.columns = {{"GPU", Align::left}, {"Activity", Align::left}, {"Time", Align::right}, {"Share", Align::right}};
  const bool several = std::any_of(devices.begin(), devices.end(),
                                   [&](const auto& one) { return one.process != devices.front().process; });
  for (const auto& device : devices) {
    const auto name =
        fmt::format("{}{}", device.device, several ? fmt::format(" (process {})", device.process) : std::string());
    const auto add = [&](std::string_view what, std::int64_t ns, Tone tone) {
      if (ns > 0)
        table.rows.push_back({{name, std::string(what), cell_time(ns), cell_share(ns, device.span_ns)}, tone, ""});
    };
    add(kernel_words(device.kernels, device.graph_launches), device.kernel_ns, Tone::good);
    add(words.text(messages::profile_copies_alone()), device.copy_ns - device.both_ns, Tone::neutral);
    for (const auto& idle : device.idle) add(words.text(cause_of(idle.cause)), idle.total_ns, Tone::warning);
  }
  return table;
}

std::string kernels_title(const ProfileRun& run) {
  std::int64_t kernels = 0;
  std::int64_t graph_launches = 0;
  for (const auto& device : run.tables.devices) {
    kernels += device.kernels;
    graph_launches += device.graph_launches;
  }
  std::string title(kernel_words(kernels, graph_launches));
  title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

Table kernels_table(const schema::MessageRenderer& words, const ProfileRun& run, std::size_t most) {
  return named_work(words, run.tables.kernels, whole_ns(run), most, "Kernel", peak_bytes_per_s(run));
}

Table copies_table(const schema::MessageRenderer& words, const ProfileRun& run, std::size_t most) {
  return named_work(words, run.tables.copies, whole_ns(run), most, "Copy", 0);
}

Table lines_table(const ProfileRun& run, std::size_t most) {
  Table table;
  const auto& lines = run.tables.lines;
  if (lines.empty()) return table;
  table.columns = {{"Line", Align::left},          {"Function", Align::left},  {"Kernels", Align::right},
                   {"Copies", Align::right, true}, {"GPU time", Align::right}, {"Share", Align::right},
                   {"Waits", Align::right, true},  {"Waited", Align::right}};
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    const auto& row = lines[i];
    const auto end = row.line.find("): ");
    const auto has_function = end != std::string::npos;
    table.rows.push_back(
        {{code_mark(has_function ? row.line.substr(0, end + 1) : row.line),
          has_function ? code_mark(row.line.substr(end + 3)) : std::string(), fmt::format("{}", row.kernels),
          fmt::format("{}", row.copies), cell_time(row.work_ns), cell_share(row.work_ns, whole_ns(run)),
          fmt::format("{}", row.waits), row.waits > 0 ? cell_time(row.waited_ns) : std::string(kAbsent)},
         Tone::neutral,
         ""});
  }
  return table;
}

Table nodes_table(const ProfileRun& run, std::size_t most) {
  Table table;
  table.columns = {{"Node", Align::left},         {"Operation", Align::left}, {"Provider", Align::left, true},
                   {"Calls", Align::right, true}, {"Time", Align::right},     {"Share", Align::right},
                   {"Bytes", Align::right},       {"GB/s", Align::right},     {"GFLOP/s", Align::right}};
  if (has_roof(run)) table.columns.push_back({"% of roof", Align::right});
  const auto& nodes = run.tables.nodes;
  for (std::size_t i = 0; i < std::min(most, nodes.size()); ++i) {
    const auto& node = nodes[i];
    const auto* row = schema::find_provider_named(node.provider);
    const auto provider = row == nullptr ? node.provider : row->title;
    const auto told_ns = tells_rate(run, node.calls, node.total_ns) ? node.total_ns : 0;
    table.rows.push_back({{code_mark(node.name.empty() ? "(no name)" : node.name), node.operation, provider,
                           fmt::format("{}", node.calls), cell_time(node.total_ns),
                           cell_share(node.total_ns, whole_of_nodes(run)), cell_bytes(node.bytes),
                           cell_rate(node.bytes, told_ns > 0 ? node.rated_ns() : 0), cell_flops(node.flops, told_ns)},
                          Tone::neutral,
                          ""});
    if (has_roof(run)) table.rows.back().cells.push_back(cell_roof(run.roof, node.bytes, node.flops, told_ns));
  }
  return table;
}

Table operations_table(const ProfileRun& run, std::size_t most) {
  struct Sum {
    std::int64_t nodes = 0;
    std::int64_t calls = 0;
    std::int64_t total_ns = 0;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    std::int64_t bytes_ns = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& node : run.tables.nodes) {
    auto& sum = sums[node.operation];
    ++sum.nodes;
    sum.calls += node.calls;
    sum.total_ns += node.total_ns;
    sum.bytes = node.bytes < 0 || sum.bytes < 0 ? -1 : sum.bytes + node.bytes;
    sum.bytes_ns += node.rated_ns();
    sum.flops = node.flops < 0 || sum.flops < 0 ? -1 : sum.flops + node.flops;
  }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  Table table;
  table.columns = {{"Operation", Align::left}, {"Nodes", Align::right}, {"Time", Align::right},
                   {"Share", Align::right},    {"Bytes", Align::right}, {"GB/s", Align::right},
                   {"GFLOP/s", Align::right}};
  if (has_roof(run)) table.columns.push_back({"% of roof", Align::right});
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    const auto& [name, sum] = sorted[i];
    const auto told_ns = tells_rate(run, sum.calls, sum.total_ns) ? sum.total_ns : 0;
    table.rows.push_back(
        {{name, fmt::format("{}", sum.nodes), cell_time(sum.total_ns), cell_share(sum.total_ns, whole_of_nodes(run)),
          cell_bytes(sum.bytes), cell_rate(sum.bytes, told_ns > 0 ? sum.bytes_ns : 0), cell_flops(sum.flops, told_ns)},
         Tone::neutral,
         ""});
    if (has_roof(run)) table.rows.back().cells.push_back(cell_roof(run.roof, sum.bytes, sum.flops, told_ns));
  }
  return table;
}

Table steps_table(const ProfileRun& run) {
  Table table;
  const auto& steps = run.tables.steps;
  if (steps.empty()) return table;
  const bool has_gpu = !run.tables.devices.empty();
  std::vector<double> durations;
  std::vector<double> work;
  for (const auto& step : steps) {
    durations.push_back(static_cast<double>(step.duration_ns));
    work.push_back(static_cast<double>(step.work_ns));
  }
  table.columns = {{"Per " + plain_text(run.tables.step_name), Align::left},
                   {"Median", Align::right},
                   {"Min", Align::right},
                   {"Max", Align::right},
                   {"Spread", Align::right}};
  const auto add = [&](const std::string& name, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto middle = stats::quantile(values, 0.5);
    const auto spread = values.size() < 2 || middle <= 0
                            ? std::string(kAbsent)
                            : fmt::format("{:.1f} %", 100 * std::sqrt(stats::variance(values)) / middle);
    table.rows.push_back({{name, base::format_duration(middle), base::format_duration(values.front()),
                           base::format_duration(values.back()), spread},
                          Tone::neutral,
                          ""});
  };
  add("time on the host", durations);
  if (!is_host_only(run)) add(has_gpu ? "work on the GPU" : "time of its nodes", work);
  return table;
}

Table idle_table(const schema::MessageRenderer& words, const ProfileRun& run) {
  Table table;
  table.columns = {{"GPU", Align::left},   {"Cause", Align::left},    {"Gaps", Align::right},
                   {"Time", Align::right}, {"Longest", Align::right}, {"Program location", Align::left, false, true}};
  for (const auto& device : run.tables.devices)
    for (const auto& idle : device.idle) {
      std::string places;
      for (const auto& [place, ns] : idle.places)
        places += fmt::format("{}{} ({})", places.empty() ? "" : ", ", place, cell_time(ns));
      table.rows.push_back(
          {{fmt::format("{}", device.device), words.text(cause_of(idle.cause)), fmt::format("{}", idle.gaps),
            cell_time(idle.total_ns), cell_time(idle.longest_ns), plain_text(places)},
           Tone::neutral,
           ""});
    }
  return table;
}

}  // namespace ridgeline::report
