// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "monitor/draw.hpp"
#include "monitor/panels.hpp"
#include "monitor/slowdown_text.hpp"

namespace ridgeline::monitor {
namespace {

constexpr int kDetailRows = 7;
constexpr int kLabel = 9;

std::optional<double> share(const std::optional<double>& part, const std::optional<double>& whole) {
  if (!part || !whole || *whole <= 0) return std::nullopt;
  return *part / *whole;
}

std::optional<double> of_hundred(const std::optional<double>& percent) {
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

/// One half of the detail block: label, bar, value right-aligned at the end.
struct Half {
  int from = 0;
  int to = 0;

  void bar(CellGrid& canvas, int row, const char* label, const std::optional<double>& level, const std::string& value,
           Palette palette) const {
    canvas.put(row, from, label, Style::dim);
    constexpr int kValue = 14;
    const int room = std::max(columns_of(value), kValue);
    draw_bar(canvas, row, from + kLabel, std::max(to - from - kLabel - room - 1, 0), level, palette);
    canvas.put_right(row, to, value, value == "-" ? Style::dim : Style::bold);
  }
  void text(CellGrid& canvas, int row, const char* label, const std::string& value, Style style = Style::normal) const {
    canvas.put(row, from, label, Style::dim);
    canvas.put(row, from + kLabel, value, style, to - from - kLabel);
  }
};

std::string short_name(const GpuReading& gpu) {
  if (gpu.name.empty()) return gpu.pci_bus_id.empty() ? "NVIDIA GPU" : "NVIDIA GPU at " + gpu.pci_bus_id;
  return gpu.name;
}

std::string list_name(const GpuReading& gpu) {
  auto name = short_name(gpu);
  if (name.rfind("NVIDIA ", 0) == 0) name.erase(0, 7);
  return name;
}

std::string links_text(const GpuReading& gpu) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " · ") + part; };
  if (gpu.performance_state) add(fmt::format("P{:.0f}", *gpu.performance_state));
  if (gpu.pcie_generation && gpu.pcie_width) {
    auto link = fmt::format("PCIe {:.0f} x{:.0f}", *gpu.pcie_generation, *gpu.pcie_width);
    const bool lower =
        gpu.max_pcie_generation.value_or(0) > *gpu.pcie_generation || gpu.max_pcie_width.value_or(0) > *gpu.pcie_width;
    if (lower)
      link += fmt::format(" (of {} x{})", number_text(gpu.max_pcie_generation), number_text(gpu.max_pcie_width));
    add(link);
  }
  if (gpu.nvlink_links_present)
    add(fmt::format("NVLink {}/{}", number_text(gpu.nvlink_links_active), number_text(gpu.nvlink_links_present)));
  return text;
}

std::string traffic(const std::optional<double>& in, const std::optional<double>& out, int room) {
  if (!in && !out) return "-";
  auto text = fmt::format("↓ {}  ↑ {}", rate_text(in), rate_text(out));
  if (columns_of(text) <= room) return text;
  const auto tight = [](std::string rate) {
    rate.erase(std::remove(rate.begin(), rate.end(), ' '), rate.end());
    return rate;
  };
  return fmt::format("↓{} ↑{}", tight(rate_text(in)), tight(rate_text(out)));
}

int draw_slowdowns(CellGrid& canvas, int row, const GpuReading& gpu, double since_start_s) {
  canvas.put(row, 1, "Slowed", Style::dim);
  const int column = 1 + kLabel;
  const int end = canvas.columns() - 1;
  const auto energy = gpu.nvlink_links_present ? "energy " + energy_text(gpu.energy_since_start_j) : std::string();
  const int room = end - column - (energy.empty() ? 0 : columns_of(energy) + 1);
  const auto text = slowdown_text(gpu, since_start_s, room);
  int after = canvas.put(row, column, text.now, Style::bad);
  after = canvas.put(row, after, text.times, Style::warn);
  if (text.now.empty() && text.times.empty())
    after = canvas.put(row, column,
                       gpu.slowdown_since_start_s.empty() ? "not now; this driver keeps no record" : "not since start",
                       gpu.slowdown_since_start_s.empty() ? Style::dim : Style::good);
  if (after < end - columns_of(energy)) canvas.put_right(row, end, energy, Style::dim);
  return row + 1;
}

/// What tells a slice from others with its name: the beginning of its UUID, "MIG-1a2b3c4d". Drivers before 470 begin
/// them all with the GPU's UUID; there it is the end, "1c87eb3f/7/0".
std::string slice_mark(const SliceReading& slice, const std::vector<SliceReading>& slices) {
  constexpr std::size_t kMark = 12;
  bool named_alike = false;
  bool begin_alike = false;
  for (const auto& other : slices) {
    if (&other == &slice || other.name != slice.name) continue;
    named_alike = true;
    begin_alike = begin_alike || other.uuid.compare(0, kMark, slice.uuid, 0, kMark) == 0;
  }
  if (!named_alike || slice.uuid.size() <= kMark) return named_alike ? slice.uuid : "";
  return begin_alike ? slice.uuid.substr(slice.uuid.size() - kMark) : slice.uuid.substr(0, kMark);
}

int draw_slice(CellGrid& canvas, int row, const SliceReading& slice, const std::vector<SliceReading>& slices) {
  const int middle = canvas.columns() / 2;
  const auto mark = slice_mark(slice, slices);
  const int room = middle - 2 - (mark.empty() ? 0 : columns_of(mark) + 1);
  auto name = slice.name;
  // Where it is too long, the GPU's name before it can be left out: it stands above.
  if (const auto mig = name.rfind(" MIG "); columns_of(name) > room && mig != std::string::npos) name.erase(0, mig + 1);
  const int after = canvas.put(row, 1, name, Style::accent, room);
  canvas.put(row, after + 1, mark);
  const Half right{middle + 1, canvas.columns() - 1};
  right.bar(canvas, row, "Memory", share(slice.memory_used_bytes, slice.memory_total_bytes),
            memory_text(slice.memory_used_bytes, slice.memory_total_bytes) +
                (slice.sm_percent ? fmt::format("  SM {}", percent_text(slice.sm_percent)) : ""),
            Palette::heat);
  return row + 1;
}

}  // namespace

int gpu_rows(const GpuReading& gpu) noexcept {
  if (gpu.state != GpuState::ok) return 2;
  return kDetailRows + static_cast<int>(gpu.slices.size());
}

int draw_gpu(CellGrid& canvas, int row, const GpuReading& gpu, double since_start_s) {
  const int end = canvas.columns() - 1;
  const int after = canvas.put(row, 1, fmt::format("GPU {}  {}", gpu.index, short_name(gpu)), Style::accent);
  if (gpu.state != GpuState::ok) {
    canvas.put(row, after + 2, gpu.state == GpuState::lost ? "LOST" : "asleep",
               gpu.state == GpuState::lost ? Style::bad : Style::dim);
    canvas.put(row + 1, 1, gpu.note, gpu.state == GpuState::lost ? Style::bad : Style::dim, end - 1);
    return row + 2;
  }
  if (const auto links = links_text(gpu); after + columns_of(links) + 2 < end)
    canvas.put_right(row, end, links, Style::dim);
  ++row;
  const int middle = canvas.columns() / 2;
  const Half left{1, middle - 1};
  const Half right{middle + 1, end};
  left.bar(canvas, row, "Busy", of_hundred(gpu.utilization_percent), percent_text(gpu.utilization_percent),
           Palette::load);
  left.bar(canvas, row + 1, "Memory", share(gpu.memory_used_bytes, gpu.memory_total_bytes),
           memory_text(gpu.memory_used_bytes, gpu.memory_total_bytes), Palette::heat);
  left.bar(canvas, row + 2, "Power", share(gpu.power_w, gpu.power_limit_w),
           gpu.power_w ? fmt::format("{}/{} W", number_text(gpu.power_w), number_text(gpu.power_limit_w)) : "-",
           Palette::heat);
  left.bar(canvas, row + 3, "Clock", share(gpu.sm_clock_mhz, gpu.max_sm_clock_mhz),
           gpu.sm_clock_mhz ? fmt::format("{}/{} MHz", number_text(gpu.sm_clock_mhz), number_text(gpu.max_sm_clock_mhz))
                            : "-",
           Palette::load);
  const auto limit = gpu.slowdown_temperature_c.value_or(95);
  auto heat = gpu.temperature_c ? fmt::format("{:.0f} °C", *gpu.temperature_c) : std::string("-");
  if (gpu.memory_temperature_c) heat += fmt::format(" mem {:.0f}", *gpu.memory_temperature_c);
  left.bar(canvas, row + 4, "Heat", share(gpu.temperature_c, limit), heat, Palette::heat);

  if (gpu.sm_percent || gpu.tensor_percent || gpu.dram_percent) {
    right.bar(canvas, row, "SMs", of_hundred(gpu.sm_percent), percent_text(gpu.sm_percent), Palette::load);
    right.bar(canvas, row + 1, "Tensor", of_hundred(gpu.tensor_percent), percent_text(gpu.tensor_percent),
              Palette::load);
    auto dram = percent_text(gpu.dram_percent);
    if (gpu.dram_bytes_per_s) dram += " " + rate_text(gpu.dram_bytes_per_s);
    right.bar(canvas, row + 2, "DRAM", of_hundred(gpu.dram_percent), dram, Palette::load);
  } else {
    right.bar(canvas, row, "Mem busy", of_hundred(gpu.memory_busy_percent), percent_text(gpu.memory_busy_percent),
              Palette::load);
    right.text(canvas, row + 1, "SMs", gpu.note.empty() ? "after the next look" : gpu.note, Style::dim);
    right.text(
        canvas, row + 2, "Codecs",
        fmt::format("encoder {}  decoder {}", percent_text(gpu.encoder_percent), percent_text(gpu.decoder_percent)));
  }
  const int room = right.to - right.from - kLabel;
  right.text(canvas, row + 3, "PCIe", traffic(gpu.pcie_received_bytes_per_s, gpu.pcie_sent_bytes_per_s, room));
  if (gpu.nvlink_links_present)
    right.text(canvas, row + 4, "NVLink", traffic(gpu.nvlink_received_bytes_per_s, gpu.nvlink_sent_bytes_per_s, room));
  else
    right.text(canvas, row + 4, "Energy", energy_text(gpu.energy_since_start_j) + " since start");
  row += 5;
  row = draw_slowdowns(canvas, row, gpu, since_start_s);
  for (const auto& slice : gpu.slices) row = draw_slice(canvas, row, slice, gpu.slices);
  return row;
}

int draw_gpu_list(CellGrid& canvas, int row, int rows, const Snapshot& snapshot, int selected) {
  const int width = canvas.columns();
  const int spare = std::max(width - 80, 0);
  int longest = 4;
  for (const auto& gpu : snapshot.gpus) longest = std::max(longest, columns_of(list_name(gpu)));
  const int name = std::min(longest, 12 + std::min(spare / 6, 12));
  const int bar = 8 + std::min(spare / 6, 24);
  struct Columns {
    int busy, memory, power, temperature, clock, sm, tensor, dram, slowed;
  } at{};
  at.busy = 4 + name + 1;
  at.memory = at.busy + bar + 6;
  at.power = at.memory + 12;
  at.temperature = at.power + 8;
  at.clock = at.temperature + 4;
  at.sm = at.clock + 5;
  at.tensor = at.sm + 4;
  at.dram = at.tensor + 4;
  at.slowed = at.dram + 6;
  canvas.fill(row, 0, width, Style::header);
  canvas.put(row, 1, "GPU", Style::header);
  canvas.put(row, at.busy, "Busy", Style::header);
  canvas.put_right(row, at.power - 1, "Mem GiB", Style::header);
  canvas.put_right(row, at.temperature - 1, "W/limit", Style::header);
  canvas.put_right(row, at.clock, "C", Style::header);
  canvas.put_right(row, at.sm, "MHz", Style::header);
  canvas.put_right(row, at.tensor, "SM%", Style::header);
  canvas.put_right(row, at.dram, "Ten", Style::header);
  canvas.put_right(row, at.slowed - 1, "DRAM", Style::header);
  canvas.put(row, at.slowed, "Slowed by", Style::header);
  const int shown = std::min(rows - 1, static_cast<int>(snapshot.gpus.size()));
  const int first = std::clamp(selected - shown + 1, 0, std::max(static_cast<int>(snapshot.gpus.size()) - shown, 0));
  for (int i = 0; i < shown; ++i) {
    const auto& gpu = snapshot.gpus[static_cast<std::size_t>(first + i)];
    ++row;
    canvas.put(row, 0, first + i == selected ? ">" : " ", Style::key);
    canvas.put_right(row, 3, std::to_string(gpu.index), Style::bold);
    canvas.put(row, 4, list_name(gpu), Style::accent, name);
    if (gpu.state != GpuState::ok) {
      canvas.put(row, at.busy, gpu.state == GpuState::lost ? "LOST: " + gpu.note : gpu.note,
                 gpu.state == GpuState::lost ? Style::bad : Style::dim);
      continue;
    }
    draw_bar(canvas, row, at.busy, bar, of_hundred(gpu.utilization_percent), Palette::load);
    canvas.put_right(row, at.memory - 1,
                     gpu.utilization_percent ? fmt::format("{:.0f}%", *gpu.utilization_percent) : "-", Style::bold);
    const auto level = share(gpu.memory_used_bytes, gpu.memory_total_bytes);
    canvas.put_right(
        row, at.power - 1,
        level ? fmt::format("{:.1f}/{:.1f}", *gpu.memory_used_bytes / kGiB, *gpu.memory_total_bytes / kGiB) : "-",
        level.value_or(0) > 0.9 ? Style::heat_high : Style::normal);
    canvas.put_right(
        row, at.temperature - 1,
        gpu.power_w ? fmt::format("{}/{}", number_text(gpu.power_w), number_text(gpu.power_limit_w)) : "-");
    canvas.put_right(
        row, at.clock, number_text(gpu.temperature_c),
        style_of(Palette::heat, share(gpu.temperature_c, gpu.slowdown_temperature_c.value_or(95)).value_or(0)));
    canvas.put_right(row, at.sm, number_text(gpu.sm_clock_mhz));
    canvas.put_right(row, at.tensor, number_text(gpu.sm_percent));
    canvas.put_right(row, at.dram, number_text(gpu.tensor_percent));
    canvas.put_right(row, at.slowed - 1, number_text(gpu.dram_percent));
    auto reasons = reasons_text(gpu);
    if (columns_of(reasons) > width - at.slowed) reasons = reasons_text(gpu, true);
    canvas.put(row, at.slowed, reasons.empty() ? "-" : reasons, reasons.empty() ? Style::dim : Style::bad);
  }
  return row + 1;
}

}  // namespace ridgeline::monitor
