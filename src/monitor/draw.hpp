// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "monitor/cell_grid.hpp"

namespace ridgeline::monitor {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// Which colours a bar or plot gets as it rises.
enum class Palette { load, heat };

/// Of a level between 0 and 1.
[[nodiscard]] Style style_of(Palette palette, double level) noexcept;

/// A horizontal bar of `width` columns; an unknown level leaves an empty one.
void draw_bar(CellGrid& canvas, int row, int column, int width, const std::optional<double>& level, Palette palette);

/// Where and what to plot: the newest reading at the right edge, as many readings as fit.
struct Plot {
  int row = 0;
  int column = 0;
  int rows = 0;  ///< of dots, without the title
  int columns = 0;
  double low = 0;
  double high = 1;
  Palette palette = Palette::load;
  std::function<float(std::size_t age)> reading;  ///< NaN: no dots
};

/// A filled curve: braille dots, two readings a column and four steps a row; one reading a column and two steps in
/// ASCII.
void draw_plot(CellGrid& canvas, const Plot& plot);

/// Readings that a plot of so many columns shows.
[[nodiscard]] int readings_in(int columns, bool unicode) noexcept;

// Numbers as shown. "-" when unknown.
[[nodiscard]] std::string percent_text(const std::optional<double>& percent);
/// "58.2/93.1 GiB"
[[nodiscard]] std::string memory_text(const std::optional<double>& used, const std::optional<double>& total);
/// "1.62 GB/s"
[[nodiscard]] std::string rate_text(const std::optional<double>& bytes_per_s);
/// "12.3 kJ", "4.1 Wh" beyond a megajoule's third
[[nodiscard]] std::string energy_text(const std::optional<double>& joules);
/// "3.2 s", "1:12", "2:03:45"
[[nodiscard]] std::string span_text(double seconds);
[[nodiscard]] std::string number_text(const std::optional<double>& value);

}  // namespace ridgeline::monitor
