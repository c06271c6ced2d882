// SPDX-License-Identifier: Apache-2.0
#include "monitor/stream_panels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "monitor/draw.hpp"

namespace ridgeline::monitor {
namespace {

constexpr int kPercentRoom = 6;

struct TimePart {
  const char* key;
  const char* label;
  Palette palette;
};
constexpr std::array kTimeParts{TimePart{"inference", "inference", Palette::load},
                                TimePart{"crops", "second model", Palette::load},
                                TimePart{"copy", "copies", Palette::heat},
                                TimePart{"wait", "waiting for GPU", Palette::heat},
                                TimePart{"preprocess", "host: preparing", Palette::heat},
                                TimePart{"postprocess", "host: decoding", Palette::heat},
                                TimePart{"no_frame", "idle: source", Palette::load},
                                TimePart{"filling", "idle: fuller batch", Palette::load},
                                TimePart{"output", "idle: order, output", Palette::heat}};
/// Room for these is kept, so that the screen does not move when copies begin.
constexpr int kUsualTimeParts = 7;

std::string ms_text(const std::optional<double>& ms) {
  return !ms ? "-" : fmt::format("{:.{}f}", *ms, *ms < 9.995 ? 2 : *ms < 999.5 ? 1 : 0);
}

void heading(CellGrid& canvas, const StreamArea& area, std::string_view left, std::string_view right) {
  canvas.fill(area.row, area.from, area.to, Style::header);
  canvas.put(area.row, area.from + 1, left, Style::header, area.to - area.from - 2);
  if (columns_of(left) + columns_of(right) + 3 <= area.to - area.from)
    canvas.put_right(area.row, area.to - 1, right, Style::header);
}

/// Label, bar, percent.
void share_row(CellGrid& canvas, const StreamArea& area, int row, std::string_view label, int label_room, double share,
               Palette palette) {
  canvas.put(row, area.from + 1, label, Style::dim, label_room);
  const int begin = area.from + 1 + label_room + 1;
  draw_bar(canvas, row, begin, std::max(area.to - 1 - kPercentRoom - begin, 0), share, palette);
  canvas.put_right(row, area.to - 1, fmt::format("{:.0f} %", 100 * share), Style::bold);
}

float highest(const StreamArea& area, const CellGrid& canvas, const std::function<float(std::size_t)>& reading) {
  float most = 0;
  const int shown = readings_in(area.to - area.from, canvas.unicode());
  for (int age = 0; age < shown; ++age)
    if (const auto value = reading(static_cast<std::size_t>(age)); std::isfinite(value)) most = std::max(most, value);
  return most;
}

void plot_below(CellGrid& canvas, const StreamArea& area, double high, Palette palette,
                std::function<float(std::size_t)> reading) {
  Plot plot;
  plot.row = area.row + 1;
  plot.column = area.from;
  plot.rows = area.rows - 1;
  plot.columns = area.to - area.from;
  plot.high = high;
  plot.palette = palette;
  plot.reading = std::move(reading);
  draw_plot(canvas, plot);
}

std::string reach(const StreamArea& area, const CellGrid& canvas, const StreamHistory& history) {
  const auto shown = static_cast<std::size_t>(readings_in(area.to - area.from, canvas.unicode()));
  return "last " + span_text(history.seconds_back(shown));
}

}  // namespace

void draw_stream_rate(CellGrid& canvas, const StreamArea& area, const StreamView& view) {
  const auto reading = [&](std::size_t age) { return view.history.frames_per_s(age); };
  const auto now = reading(0);
  heading(canvas, area, fmt::format("{} FPS", std::isfinite(now) ? fmt::format("{:.1f}", now) : "-"),
          fmt::format("top {:.4g} · {}", highest(area, canvas, reading), reach(area, canvas, view.history)));
  plot_below(canvas, area, highest(area, canvas, reading), Palette::load, reading);
}

void draw_stream_p99(CellGrid& canvas, const StreamArea& area, const StreamView& view) {
  const auto reading = [&](std::size_t age) { return view.history.p99(age); };
  const double top = std::max(static_cast<double>(highest(area, canvas, reading)), view.slo_ms);
  heading(canvas, area, fmt::format("p99 {} ms", ms_text(view.progress.recent.p99)),
          view.slo_ms > 0 && top <= view.slo_ms ? fmt::format("top: SLO {:g} ms", view.slo_ms)
          : view.slo_ms > 0                     ? fmt::format("top {:.4g} · SLO {:g} ms", top, view.slo_ms)
                                                : fmt::format("top {:.4g} ms", top));
  plot_below(canvas, area, top, view.slo_ms > 0 ? Palette::heat : Palette::load, reading);
}

void draw_stream_latency(CellGrid& canvas, const StreamArea& area, const StreamView& view) {
  const auto& [status, recent] = view.progress;
  const int room = (area.to - area.from - 14) / 3;
  heading(canvas, area, "Latency, ms", "");
  const auto row_of = [&](int row, const char* label, const std::array<std::optional<double>, 3>& values) {
    canvas.put(row, area.from + 1, label, Style::dim);
    for (int i = 0; i < 3; ++i) {
      const auto& value = values[static_cast<std::size_t>(i)];
      const bool late = view.slo_ms > 0 && value && *value > view.slo_ms;
      canvas.put_right(row, area.to - 1 - room * (2 - i), ms_text(value), late ? Style::bad : Style::bold);
    }
  };
  constexpr std::array kNames{"p50", "p95", "p99"};
  for (int i = 0; i < 3; ++i)
    canvas.put_right(area.row, area.to - 1 - room * (2 - i), kNames[static_cast<std::size_t>(i)], Style::header);
  row_of(area.row + 1, "last second", {recent.p50, recent.p95, recent.p99});
  const auto& all = status.latency;
  row_of(area.row + 2, "since start", {all.count > 0 ? std::optional(all.p50) : std::nullopt, all.p95, all.p99});
  const auto size = static_cast<double>(status.queue_size);
  canvas.put(area.row + 3, area.from + 1, "queue", Style::dim);
  const auto queue = fmt::format("{}/{}", status.queued, status.queue_size);
  const int queue_room = std::max(columns_of(queue) + 1, kPercentRoom);
  draw_bar(canvas, area.row + 3, area.from + 13, std::max(area.to - 1 - queue_room - area.from - 13, 0),
           size > 0 ? std::optional(static_cast<double>(status.queued) / size) : std::nullopt, Palette::heat);
  canvas.put_right(area.row + 3, area.to - 1, queue, Style::bold);
  share_row(canvas, area, area.row + 4, "busy", 11, status.busy, Palette::load);
}

void draw_stream_batches(CellGrid& canvas, const StreamArea& area, const StreamView& view) {
  const auto& status = view.progress.status;
  heading(canvas, area, "Frames in an inference", fmt::format("mean {:.1f}", status.mean_batch));
  const int sizes = static_cast<int>(status.batches.size()) - 1;
  const int rows = area.rows - 1;
  if (sizes < 1 || rows < 1) return;
  const int a_row = (sizes + rows - 1) / rows;
  double all = 0;
  for (const auto count : status.batches) all += static_cast<double>(count);
  for (int row = 0, first = 1; row < rows && first <= sizes; ++row, first += a_row) {
    const int last = std::min(first + a_row - 1, sizes);
    double count = 0;
    for (int size = first; size <= last; ++size)
      count += static_cast<double>(status.batches[static_cast<std::size_t>(size)]);
    share_row(canvas, area, area.row + 1 + row,
              first == last ? fmt::format("{:>5}", first) : fmt::format("{:>5}", fmt::format("{}-{}", first, last)), 7,
              all > 0 ? count / all : 0, Palette::load);
  }
}

int stream_time_rows(const StreamView& view) {
  const auto parts = std::ranges::count_if(
      kTimeParts, [&](const TimePart& part) { return view.progress.status.worker_s.contains(part.key); });
  return 1 + std::max(static_cast<int>(parts), kUsualTimeParts);
}

void draw_stream_time(CellGrid& canvas, const StreamArea& area, const StreamView& view) {
  heading(canvas, area, "Workers' time", "");
  const auto& worker_s = view.progress.status.worker_s;
  double all = 0;
  for (const auto& [key, seconds] : worker_s) all += seconds;
  int row = area.row;
  for (const auto& part : kTimeParts) {
    const auto found = worker_s.find(part.key);
    if (found == worker_s.end()) continue;
    share_row(canvas, area, ++row, part.label, 19, all > 0 ? found->second / all : 0, part.palette);
  }
}

void draw_stream_frames(CellGrid& canvas, const StreamArea& area, const StreamView& view) {
  const auto& status = view.progress.status;
  heading(canvas, area, "Frames", "since start");
  const auto dropped = status.all_dropped();
  int row = area.row;
  const int end = area.row + area.rows;
  const auto line = [&](const std::string& label, std::int64_t count, Style style) {
    if (++row >= end) return;
    canvas.put(row, area.from + 1, label, Style::dim, area.to - area.from - 14);
    canvas.put_right(row, area.to - 1, fmt::format("{}", count), style);
  };
  line("came in", status.offered, Style::bold);
  line("delivered", status.delivered, Style::bold);
  if (status.skipped > 0) line("skipped", status.skipped, Style::bold);
  line("in the pipeline", status.in_flight, Style::bold);
  line("dropped", dropped, dropped > 0 ? Style::bad : Style::good);
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  for (const auto& [reason, count] : status.dropped) reasons.emplace_back(count, reason);
  std::sort(reasons.rbegin(), reasons.rend());
  for (const auto& [count, reason] : reasons) line("  " + reason, count, Style::warn);
}

int draw_stream_gpu(CellGrid& canvas, int row, const StreamView& view) {
  if (const auto busy = schema::gpu_busy_text(view.progress.status); !busy.empty()) {
    canvas.put(row, 1, "GPU", Style::accent);
    canvas.put(row, 6, busy, Style::normal);
    ++row;
  }
  const auto& gpu = view.progress.recent.gpu;
  if (!gpu) return row;
  canvas.put(row, 1, "GPU", Style::accent);
  canvas.put(row, 6,
             fmt::format("busy {}   memory {}   {}   {}", percent_text(gpu->utilization_percent),
                         memory_text(gpu->memory_used_bytes, gpu->memory_total_bytes),
                         gpu->temperature_c ? fmt::format("{:.0f} °C", *gpu->temperature_c) : "- °C",
                         gpu->power_w ? fmt::format("{:.0f} W", *gpu->power_w) : "- W"),
             Style::normal);
  return row + 1;
}

}  // namespace ridgeline::monitor
