// SPDX-License-Identifier: Apache-2.0
#include "monitor/screen.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "monitor/draw.hpp"
#include "monitor/panels.hpp"

namespace ridgeline::monitor {
namespace {

constexpr int kLeastProcesses = 4;  // rows with the header
constexpr int kLeastPlots = 5;
constexpr double kNoteSeconds = 5;

void draw_title(CellGrid& canvas, const Snapshot& snapshot, const ViewState* view) {
  const int width = canvas.columns();
  canvas.fill(0, 0, width, Style::title);
  std::string left = "Ridgeline monitor";
  if (!snapshot.driver_version.empty()) left += fmt::format(" · driver {}", snapshot.driver_version);
  std::string right = snapshot.time_utc;
  if (view != nullptr) {
    const auto every = view->interval.count() % 1000 == 0 ? fmt::format("{} s", view->interval.count() / 1000)
                                                          : fmt::format("{} ms", view->interval.count());
    right = fmt::format("{} · {}every {}", span_text(snapshot.since_start_s), view->paused ? "PAUSED · " : "", every);
  }
  const int end = canvas.put(0, 1, left, Style::title);
  if (end + columns_of(right) + 1 < width) canvas.put_right(0, width - 1, right, Style::title);
}

void draw_keys(CellGrid& canvas, const ViewState& view) {
  const int row = canvas.rows() - 1;
  if (view.editing_filter) {
    const int end = canvas.put(row, 1, "filter: " + view.order.filter, Style::key);
    canvas.put(row, end, "_  Enter keeps, Esc clears", Style::dim);
    return;
  }
  struct Hint {
    const char* key;
    const char* text;
  };
  const auto gpu_keys = canvas.unicode() ? "←→" : "<>";
  int column = 1;
  for (const auto& hint :
       {Hint{"q", "Quit"}, Hint{"h", "Help"}, Hint{"s", "Sort"}, Hint{"r", "Reverse"}, Hint{"/", "Filter"},
        Hint{gpu_keys, "GPU"}, Hint{"g", "Plots"}, Hint{"+-", "Interval"}, Hint{"space", "Pause"}}) {
    if (column + columns_of(hint.key) + 1 + columns_of(hint.text) >= canvas.columns()) break;
    column = canvas.put(row, column, hint.key, Style::key);
    column = canvas.put(row, column + 1, hint.text, Style::dim) + 2;
  }
  if (!view.order.filter.empty())
    canvas.put_right(row, canvas.columns() - 1, fmt::format(" filter: {}", view.order.filter), Style::warn);
}

void draw_help(CellGrid& canvas) {
  const auto& keys = key_help();
  const int width = std::min(canvas.columns(), 64);
  const int height = std::min(canvas.rows(), static_cast<int>(keys.size()) + 4);
  const bool narrow = width < 64;
  const int margin = narrow ? 1 : 3;
  const int keys_width = narrow ? 16 : 18;
  const int top = (canvas.rows() - height) / 2;
  const int left = (canvas.columns() - width) / 2;
  for (int row = top; row < top + height; ++row)
    for (int column = left; column < left + width; ++column) {
      const bool edge_row = row == top || row == top + height - 1;
      const bool edge_column = column == left || column == left + width - 1;
      const bool corner = edge_row && edge_column;
      canvas.put_glyph(row, column, corner ? U'+' : edge_row ? U'─' : edge_column ? U'│' : U' ', Style::dim);
    }
  canvas.put(top, left + 3, " Keys ", Style::bold);
  int row = top + 2;
  for (const auto& key : keys) {
    if (row >= top + height - 1) break;
    canvas.put(row, left + margin, key.key, Style::key, keys_width);
    canvas.put(row, left + margin + keys_width, key.text, Style::normal, width - margin - keys_width - 1);
    ++row;
  }
}

int draw_notes(CellGrid& canvas, int row, int rows, const Snapshot& snapshot, Style style) {
  const int end = row + rows;
  for (const auto& note : snapshot.notes)
    if (row < end) row = draw_text(canvas, row, end - row, note, style);
  return row;
}

/// What follows the host's line when there is no GPU.
void draw_without_gpu(CellGrid& canvas, int row, const Snapshot& snapshot, const History& history,
                      const ViewState& view) {
  const int last = canvas.rows() - 1;
  row = draw_notes(canvas, row + 1, std::min(6, last - row - 1), snapshot, Style::warn);
  if (row + 1 < last) canvas.put(row++, 1, "ridgeline doctor shows what is missing and how to fix it", Style::dim);
  if (view.plots && last - row >= kLeastPlots)
    draw_plots(canvas, row + 1, std::min(last - row - 1, 14), nullptr, history);
}

/// There is one line for notes: several take turns on it.
std::string note_in_turn(const Snapshot& snapshot) {
  const auto count = snapshot.notes.size();
  const auto at = static_cast<std::size_t>(std::max(snapshot.since_start_s, 0.0) / kNoteSeconds) % count;
  return count == 1 ? snapshot.notes[0] : fmt::format("{} of {}: {}", at + 1, count, snapshot.notes[at]);
}

}  // namespace

CellGrid draw_screen(const Snapshot& snapshot, const History& history, const ViewState& view, const ScreenSize& size) {
  CellGrid canvas(size.rows, size.columns, size.unicode);
  if (size.rows < 6 || size.columns < 40) {
    canvas.put(0, 0, "too small: 40x6 at least", Style::bad);
    return canvas;
  }
  draw_title(canvas, snapshot, &view);
  int row = draw_host(canvas, 1, snapshot.host);
  const int last = size.rows - 1;  // the line of keys
  if (snapshot.gpus.empty()) {
    draw_without_gpu(canvas, row, snapshot, history, view);
  } else {
    const auto gpus = static_cast<int>(snapshot.gpus.size());
    const int selected = std::clamp(view.selected, 0, gpus - 1);
    const auto& gpu = snapshot.gpus[static_cast<std::size_t>(selected)];
    if (gpus > 1) row = draw_gpu_list(canvas, row, std::min(gpus + 1, last - row), snapshot, selected);
    if (last - row >= gpu_rows(gpu) + (gpus > 1 ? kLeastProcesses : 0))
      row = draw_gpu(canvas, row, gpu, snapshot.since_start_s);
    int room = last - row;
    const int notes = snapshot.notes.empty() || room < kLeastProcesses + 2 ? 0 : 1;
    room -= notes;
    const int wanted = std::clamp(static_cast<int>(snapshot.processes.size()) + 1, kLeastProcesses,
                                  std::max(room / 2, kLeastProcesses));
    if (view.plots && room - wanted >= kLeastPlots) {
      const int plots = std::min(room - wanted, 40);
      row = draw_plots(canvas, row, plots, &gpu, history);
      room -= plots;
    }
    if (room >= 2) draw_processes(canvas, row, room, snapshot, view);
    if (notes > 0) canvas.put(last - 1, 1, note_in_turn(snapshot), Style::dim);
  }
  draw_keys(canvas, view);
  if (view.help) draw_help(canvas);
  return canvas;
}

CellGrid draw_once(const Snapshot& snapshot, const ProcessOrder& order, int columns, bool unicode) {
  int rows = 4 + 8 + static_cast<int>(snapshot.processes.size()) + 8 * static_cast<int>(snapshot.notes.size());
  for (const auto& gpu : snapshot.gpus) rows += gpu_rows(gpu) + 1;
  CellGrid canvas(rows, std::max(columns, 60), unicode);
  draw_title(canvas, snapshot, nullptr);
  int row = draw_host(canvas, 1, snapshot.host);
  for (const auto& gpu : snapshot.gpus) row = draw_gpu(canvas, row + 1, gpu, snapshot.since_start_s);
  ViewState view;
  view.order = order;
  if (!snapshot.gpus.empty())
    row = draw_processes(canvas, row + 1, std::max(static_cast<int>(snapshot.processes.size()), 1) + 1, snapshot, view);
  if (!snapshot.notes.empty()) draw_notes(canvas, row + 1, rows - row - 1, snapshot, Style::warn);
  return canvas;
}

}  // namespace ridgeline::monitor
