// SPDX-License-Identifier: Apache-2.0
#include "monitor/stream_screen.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "monitor/draw.hpp"
#include "monitor/panels.hpp"
#include "monitor/stream_panels.hpp"

namespace ridgeline::monitor {
namespace {

constexpr int kLeastRows = 18;
constexpr int kLeastColumns = 60;
constexpr int kMostPlotRows = 14;
constexpr int kRoomyRows = 30;  ///< from which a blank line stands between the parts
constexpr int kMostSourceRows = 3;

void draw_stream_title(CellGrid& canvas, const StreamView& view) {
  const int width = canvas.columns();
  canvas.fill(0, 0, width, Style::title);
  std::string right = span_text(view.progress.status.elapsed_s);
  if (view.slo_ms > 0) right = fmt::format("SLO {:g} ms · {}", view.slo_ms, right);
  if (!view.load.empty()) right = fmt::format("{} · {}", view.load, right);
  if (view.is_stopping) right = "STOPPING · " + right;
  canvas.put(0, 1, "Ridgeline stream · " + view.subject, Style::title, width - columns_of(right) - 4);
  canvas.put_right(0, width - 1, right, Style::title);
}

int draw_sources(CellGrid& canvas, int row, int rows, const StreamView& view) {
  const auto& sources = view.ready.sources;
  for (std::size_t i = 0; i < sources.size() && i < static_cast<std::size_t>(rows); ++i) {
    const auto& source = sources[i];
    auto text = fmt::format("{}  {}x{}", source.name, source.width, source.height);
    if (source.fps > 0) text += fmt::format(", {:.4g} FPS", source.fps);
    if (source.frames > 0) text += fmt::format(", {} frames", source.frames);
    const auto more = sources.size() - i - 1;
    if (more > 0 && i + 1 == static_cast<std::size_t>(rows)) text += fmt::format("  and {} more", more);
    canvas.put(row++, 1, text, Style::normal);
  }
  return row;
}

int draw_stream_notes(CellGrid& canvas, int row, int end, const StreamView& view) {
  // The newest ones.
  const auto first = view.notes.size() - std::min(view.notes.size(), static_cast<std::size_t>(std::max(end - row, 0)));
  for (auto i = first; i < view.notes.size() && row < end; ++i)
    row = draw_text(canvas, row, end - row, view.notes[i], Style::warn);
  return row;
}

}  // namespace

CellGrid draw_stream_screen(const StreamView& view, const ScreenSize& size) {
  CellGrid canvas(size.rows, size.columns, size.unicode);
  if (size.rows < kLeastRows || size.columns < kLeastColumns) {
    canvas.put(0, 0, fmt::format("too small: {}x{} at least", kLeastColumns, kLeastRows), Style::bad);
    return canvas;
  }
  draw_stream_title(canvas, view);
  const int last = size.rows - 1;
  const int gap = size.rows >= kRoomyRows ? 1 : 0;
  const int middle = size.columns / 2;
  const int time_rows = stream_time_rows(view);
  const int fixed = 1 + gap + kStreamLatencyRows + gap + time_rows + gap;
  const int gpu_rows = (view.progress.recent.gpu ? 1 : 0) + (view.progress.status.gpu_busy ? 1 : 0);
  int spare = last - 1 - fixed - gpu_rows;
  const int note_rows = std::clamp(static_cast<int>(view.notes.size()), 0, std::max(spare - 3, 0));
  const int source_rows =
      std::clamp(spare - note_rows - 5, 0, std::min(kMostSourceRows, static_cast<int>(view.ready.sources.size())));
  const int plot_rows = std::clamp(spare - std::min(note_rows, gap ? 6 : 2) - source_rows, 0, kMostPlotRows);
  int row = 1;
  canvas.put(row++, 1,
             fmt::format("{} · {} · {} · {} in flight", view.model, view.ready.runtime, view.ready.decoder,
                         view.ready.workers),
             Style::dim);
  row = draw_sources(canvas, row, source_rows, view) + gap;
  if (plot_rows > 1) {
    draw_stream_rate(canvas, {row, 0, middle, plot_rows}, view);
    draw_stream_p99(canvas, {row, middle + 1, size.columns, plot_rows}, view);
    row += plot_rows + gap;
  }
  draw_stream_latency(canvas, {row, 0, middle, kStreamLatencyRows}, view);
  draw_stream_batches(canvas, {row, middle + 1, size.columns, kStreamLatencyRows}, view);
  row += kStreamLatencyRows + gap;
  draw_stream_time(canvas, {row, 0, middle, time_rows}, view);
  draw_stream_frames(canvas, {row, middle + 1, size.columns, time_rows}, view);
  row += time_rows;
  if (row < last) row = draw_stream_gpu(canvas, row, view);
  draw_stream_notes(canvas, row, last, view);
  const int after = canvas.put(last, 1, "q", Style::key);
  canvas.put(last, after + 1, view.is_stopping ? "Stopping: what is under way comes to its end" : "Stop", Style::dim);
  return canvas;
}

}  // namespace ridgeline::monitor
