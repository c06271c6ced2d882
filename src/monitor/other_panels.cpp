// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "monitor/draw.hpp"
#include "monitor/panels.hpp"

namespace ridgeline::monitor {
namespace {

struct Panel {
  const char* title;
  Series series;
  double high;
  Palette palette;
  std::string value;
};

std::vector<Panel> panels_of(const GpuReading& gpu, const History& history, int readings) {
  std::vector<Panel> panels;
  const auto add = [&](const char* title, Series series, double high, Palette palette, const std::string& value) {
    // What was never read gets no plot.
    for (int age = 0; age < readings; ++age)
      if (std::isfinite(history.at(gpu.index, series, static_cast<std::size_t>(age)))) {
        panels.push_back({title, series, high, palette, value});
        return;
      }
  };
  const auto highest = [&](Series series) {
    float most = 1e6F;
    for (int age = 0; age < readings; ++age)
      if (const auto value = history.at(gpu.index, series, static_cast<std::size_t>(age)); value > most) most = value;
    return static_cast<double>(most);
  };
  const auto of_most = [](const std::optional<double>& value, double most) {
    return fmt::format("{} of {}", rate_text(value), rate_text(most));
  };
  add("GPU busy", Series::utilization, 100, Palette::load, percent_text(gpu.utilization_percent));
  add("Memory", Series::memory, 100, Palette::heat, memory_text(gpu.memory_used_bytes, gpu.memory_total_bytes));
  add("SM activity", Series::sm, 100, Palette::load, percent_text(gpu.sm_percent));
  add("Tensor cores", Series::tensor, 100, Palette::load, percent_text(gpu.tensor_percent));
  add("DRAM bandwidth", Series::dram, 100, Palette::load, rate_text(gpu.dram_bytes_per_s));
  add("Power", Series::power, gpu.power_limit_w.value_or(500), Palette::heat, number_text(gpu.power_w) + " W");
  add("SM clock", Series::clock, gpu.max_sm_clock_mhz.value_or(2000), Palette::load,
      number_text(gpu.sm_clock_mhz) + " MHz");
  add("Temperature", Series::temperature, gpu.slowdown_temperature_c.value_or(95), Palette::heat,
      number_text(gpu.temperature_c) + " °C");
  const double pcie = highest(Series::pcie_in);
  add("PCIe in", Series::pcie_in, pcie, Palette::load, of_most(gpu.pcie_received_bytes_per_s, pcie));
  const double nvlink = highest(Series::nvlink_in);
  add("NVLink in", Series::nvlink_in, nvlink, Palette::load, of_most(gpu.nvlink_received_bytes_per_s, nvlink));
  return panels;
}

struct Column {
  const char* title;
  int width;
  bool right;
  SortKey key;
};

std::string memory_cell(const std::optional<double>& bytes) {
  if (!bytes) return "-";
  return *bytes >= 100 * kGiB ? fmt::format("{:.0f} GiB", *bytes / kGiB)
         : *bytes >= kGiB     ? fmt::format("{:.1f} GiB", *bytes / kGiB)
                              : fmt::format("{:.0f} MiB", *bytes / (1024.0 * 1024.0));
}

std::string cell_of(const ProcessReading& process, const Column& column) {
  const std::string_view title = column.title;
  if (title == "TYPE") return process.kind == "both" ? "C+G" : process.kind == "graphics" ? "G" : "C";
  if (title == "CONTAINER") return process.container.empty() ? "-" : process.container;
  switch (column.key) {
    case SortKey::pid: return std::to_string(process.pid);
    case SortKey::user: return process.user.empty() ? "?" : process.user;
    case SortKey::gpu: return std::to_string(process.gpu);
    case SortKey::gpu_memory: return memory_cell(process.gpu_memory_bytes);
    case SortKey::sm: return number_text(process.sm_percent);
    case SortKey::cpu: return number_text(process.cpu_percent);
    case SortKey::host_memory: return memory_cell(process.host_memory_bytes);
    case SortKey::name:
    case SortKey::count: break;
  }
  if (process.name.empty()) return "(not visible from here)";
  // Without the folder of the program: the arguments tell more.
  const auto program = process.command.substr(0, process.command.find(' '));
  const auto slash = program.rfind('/');
  return slash == std::string::npos || slash + 1 == program.size() ? process.command
                                                                   : process.command.substr(slash + 1);
}

}  // namespace

int draw_host(CellGrid& canvas, int row, const HostReading& host) {
  const int width = canvas.columns();
  const int bar = std::clamp((width - 60) / 3, 6, 30);
  int column = canvas.put(row, 1, "CPU ", Style::dim);
  draw_bar(canvas, row, column, bar, host.cpu_percent ? std::optional(*host.cpu_percent / 100) : std::nullopt,
           Palette::load);
  column = canvas.put(row, column + bar + 1, percent_text(host.cpu_percent), Style::bold);
  column = canvas.put(row, column,
                      fmt::format(" of {}", host.cgroup_cpus ? fmt::format("{:.3g} of {}", *host.cgroup_cpus, host.cpus)
                                                             : std::to_string(host.cpus)),
                      Style::dim);
  const bool limited = host.cgroup_memory_limit_bytes && host.cgroup_memory_used_bytes &&
                       host.cgroup_memory_limit_bytes < host.memory_total_bytes;
  const auto used = limited ? host.cgroup_memory_used_bytes : host.memory_used_bytes;
  const auto total = limited ? host.cgroup_memory_limit_bytes : host.memory_total_bytes;
  column = canvas.put(row, column + 2, limited ? "Memory limit " : "Memory ", Style::dim);
  draw_bar(canvas, row, column, bar, used && total ? std::optional(*used / *total) : std::nullopt, Palette::heat);
  column = canvas.put(row, column + bar + 1, memory_text(used, total), Style::bold);
  if (host.load_1m) canvas.put(row, column + 2, fmt::format("load {:.1f}", *host.load_1m), Style::dim);
  return row + 1;
}

int draw_plots(CellGrid& canvas, int row, int rows, const GpuReading* gpu, const History& history) {
  const int width = canvas.columns();
  const int across = std::max(width / 38, 1);
  const int column_width = (width - 2 - (across - 1)) / across;
  const int readings = readings_in(column_width, canvas.unicode());
  const int end = row + rows;
  for (int column = 0; column < width; ++column) canvas.put_glyph(row, column, U'─', Style::dim);
  if (const auto shown = history.seconds_back(static_cast<std::size_t>(std::max(readings - 1, 0))); shown > 0)
    canvas.put(row, 2, fmt::format(" last {} ", span_text(shown)), Style::dim);
  ++row;
  std::vector<Panel> panels;
  if (gpu != nullptr) panels = panels_of(*gpu, history, readings);
  const auto count = gpu != nullptr ? static_cast<int>(panels.size()) : 2;
  if (count == 0) {
    canvas.put(row, 1, "nothing to plot yet", Style::dim);
    return end;
  }
  const int wanted = (count + across - 1) / across;
  const int down = std::clamp((end - row) / 4, 1, wanted);
  for (int i = 0; i < std::min(count, down * across); ++i) {
    const int band = i / across;
    const int top = row + (end - row) * band / down;
    const int bottom = row + (end - row) * (band + 1) / down;
    Plot plot;
    plot.row = top + 1;
    plot.rows = bottom - top - 1;
    plot.column = 1 + (i % across) * (column_width + 1);
    plot.columns = column_width;
    std::string title;
    std::string value;
    if (gpu != nullptr) {
      const auto& panel = panels[static_cast<std::size_t>(i)];
      title = panel.title;
      value = panel.value;
      plot.high = panel.high;
      plot.palette = panel.palette;
      plot.reading = [&history, index = gpu->index, series = panel.series](std::size_t age) {
        return history.at(index, series, age);
      };
    } else {
      const auto series = i == 0 ? HostSeries::cpu : HostSeries::memory;
      title = i == 0 ? "CPU" : "Memory";
      const auto last = history.at(series, 0);
      value = std::isfinite(last) ? fmt::format("{:.0f} %", last) : "-";
      plot.high = 100;
      plot.palette = i == 0 ? Palette::load : Palette::heat;
      plot.reading = [&history, series](std::size_t age) { return history.at(series, age); };
    }
    canvas.put(top, plot.column, title, Style::dim, column_width);
    canvas.put_right(top, plot.column + column_width - 1, value, Style::bold);
    draw_plot(canvas, plot);
  }
  return end;
}

int draw_processes(CellGrid& canvas, int row, int rows, const Snapshot& snapshot, const ViewState& view) {
  const int width = canvas.columns();
  auto order = view.order;
  if (view.only_selected && view.selected < static_cast<int>(snapshot.gpus.size()))
    order.gpu = snapshot.gpus[static_cast<std::size_t>(view.selected)].index;
  const auto list = ordered(snapshot.processes, order);
  const bool contained = std::any_of(snapshot.processes.begin(), snapshot.processes.end(),
                                     [](const ProcessReading& process) { return !process.container.empty(); });
  std::vector<Column> columns{
      {"PID", 8, true, SortKey::pid}, {"USER", 9, false, SortKey::user}, {"GPU", 3, true, SortKey::gpu}};
  if (width >= 90) columns.push_back({"TYPE", 4, false, SortKey::count});
  columns.push_back({"GPU MEM", 9, true, SortKey::gpu_memory});
  columns.push_back({"SM%", 4, true, SortKey::sm});
  columns.push_back({"CPU%", 5, true, SortKey::cpu});
  if (width >= (contained ? 96 : 72)) columns.push_back({"HOST MEM", 9, true, SortKey::host_memory});
  if (contained) columns.push_back({"CONTAINER", width >= 110 ? 24 : 13, false, SortKey::count});
  columns.push_back({"COMMAND", 0, false, SortKey::name});

  canvas.fill(row, 0, width, Style::header);
  const auto put = [&](int at_row, const Column& column, int at, std::string text, Style style) {
    if (column.right)
      canvas.put_right(at_row, at + column.width, text, style);
    else
      canvas.put(at_row, at, text, style, column.width > 0 ? column.width : width - at);
  };
  int at = 0;
  for (const auto& column : columns) {
    const bool sorted = column.key == order.key;
    std::string title = column.title;
    if (sorted) title = column.right ? (order.descending ? "▼" : "▲") + title : title + (order.descending ? "▼" : "▲");
    put(row, column, at, title, sorted ? Style::selected : Style::header);
    at += column.width + 1;
  }
  const int room = rows - 1;
  const int first = std::clamp(view.scroll, 0, std::max(static_cast<int>(list.size()) - 1, 0));
  for (int i = 0; i < room && first + i < static_cast<int>(list.size()); ++i) {
    at = 0;
    for (const auto& column : columns) {
      put(row + 1 + i, column, at, cell_of(*list[static_cast<std::size_t>(first + i)], column),
          list[static_cast<std::size_t>(first + i)]->name.empty() ? Style::dim : Style::normal);
      at += column.width + 1;
    }
  }
  if (list.empty() && room > 0)
    canvas.put(row + 1, 1, snapshot.processes.empty() ? "no process holds memory on these GPUs" : "no process matches",
               Style::dim);
  return row + rows;
}

int draw_text(CellGrid& canvas, int row, int rows, std::string_view text, Style style) {
  const auto width = static_cast<std::size_t>(std::max(canvas.columns() - 2, 1));
  const int end = row + rows;
  while (!text.empty() && row < end) {
    auto line = text.substr(0, width);
    if (line.size() < text.size())
      if (const auto blank = line.rfind(' '); blank != std::string_view::npos && blank > 0)
        line = line.substr(0, blank);
    canvas.put(row++, 1, line, style);
    text.remove_prefix(line.size());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  return row;
}

}  // namespace ridgeline::monitor
