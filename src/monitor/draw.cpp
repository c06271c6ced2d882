// SPDX-License-Identifier: Apache-2.0
#include "monitor/draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace ridgeline::monitor {
namespace {

/// Dots of a braille cell from the bottom up, left and right column (Unicode block U+2800).
constexpr std::array<std::array<char32_t, 4>, 2> kDots{{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}}};

/// Steps out of `all` that a reading fills; something above the low end shows at least one.
int steps_of(float value, const Plot& plot, int all) {
  if (!std::isfinite(value) || plot.high <= plot.low) return 0;
  const double share = (static_cast<double>(value) - plot.low) / (plot.high - plot.low);
  if (share <= 0) return 0;
  return std::clamp(static_cast<int>(std::lround(share * all)), 1, all);
}

}  // namespace

Style style_of(Palette palette, double level) noexcept {
  if (palette == Palette::load)
    return level < 0.34 ? Style::load_low : level < 0.67 ? Style::load_mid : Style::load_high;
  return level < 0.7 ? Style::heat_low : level < 0.9 ? Style::heat_mid : Style::heat_high;
}

void draw_bar(CellGrid& canvas, int row, int column, int width, const std::optional<double>& level, Palette palette) {
  const double share = std::clamp(level.value_or(0), 0.0, 1.0);
  const auto style = style_of(palette, share);
  const int eighths = static_cast<int>(std::lround(share * width * 8));
  for (int i = 0; i < width; ++i) {
    const int filled = std::clamp(eighths - i * 8, 0, 8);
    if (!canvas.unicode())
      canvas.put_glyph(row, column + i, filled >= 4 ? U'#' : U'.', filled >= 4 ? style : Style::dim);
    else if (filled == 0)
      canvas.put_glyph(row, column + i, U'·', Style::dim);
    else
      canvas.put_glyph(row, column + i, static_cast<char32_t>(U'\u2588' + (8 - filled)), style);  // full block to 1/8
  }
}

int readings_in(int columns, bool unicode) noexcept { return unicode ? columns * 2 : columns; }

void draw_plot(CellGrid& canvas, const Plot& plot) {
  const bool fine = canvas.unicode();
  const int steps_a_row = fine ? 4 : 2;
  const int all = plot.rows * steps_a_row;
  const int wide = fine ? 2 : 1;
  for (int x = 0; x < plot.columns; ++x) {
    std::array<int, 2> steps{};
    for (int half = 0; half < wide; ++half)
      steps[static_cast<std::size_t>(half)] = steps_of(
          plot.reading(static_cast<std::size_t>((plot.columns - 1 - x) * wide + (wide - 1 - half))), plot, all);
    for (int y = 0; y < plot.rows; ++y) {  // from the bottom
      const auto style = style_of(plot.palette, plot.rows > 1 ? (y + 0.5) / plot.rows : 0.5);
      const int row = plot.row + plot.rows - 1 - y;
      if (!fine) {
        const int here = steps[0] - y * 2;
        if (here > 0) canvas.put_glyph(row, plot.column + x, here >= 2 ? U'#' : U'_', style);
        continue;
      }
      char32_t dots = 0;
      for (std::size_t half = 0; half < 2; ++half)
        for (int dot = 0; dot < 4 && y * 4 + dot < steps[half]; ++dot)
          dots |= kDots[half][static_cast<std::size_t>(dot)];
      if (dots != 0) canvas.put_glyph(row, plot.column + x, U'\u2800' + dots, style);
    }
  }
}

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "-"; }

std::string percent_text(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.0f} %", *percent) : "-";
}

std::string memory_text(const std::optional<double>& used, const std::optional<double>& total) {
  if (!used) return "-";
  if (!total) return fmt::format("{:.1f} GiB", *used / kGiB);
  return *total < 10 * kGiB ? fmt::format("{:.2f}/{:.2f} GiB", *used / kGiB, *total / kGiB)
                            : fmt::format("{:.1f}/{:.1f} GiB", *used / kGiB, *total / kGiB);
}

std::string rate_text(const std::optional<double>& bytes_per_s) {
  if (!bytes_per_s) return "-";
  const double value = *bytes_per_s;
  if (value >= 999.5e9) return fmt::format("{:.2f} TB/s", value * 1e-12);
  if (value >= 99.5e9) return fmt::format("{:.0f} GB/s", value * 1e-9);
  if (value >= 9.95e9) return fmt::format("{:.1f} GB/s", value * 1e-9);
  if (value >= 999.5e6) return fmt::format("{:.2f} GB/s", value * 1e-9);
  if (value >= 999.5e3) return fmt::format("{:.0f} MB/s", value * 1e-6);
  return fmt::format("{:.0f} kB/s", value * 1e-3);
}

std::string energy_text(const std::optional<double>& joules) {
  if (!joules) return "-";
  if (*joules >= 3.6e6) return fmt::format("{:.2f} kWh", *joules / 3.6e6);
  if (*joules >= 1e4) return fmt::format("{:.1f} kJ", *joules * 1e-3);
  return fmt::format("{:.0f} J", *joules);
}

std::string span_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace ridgeline::monitor
