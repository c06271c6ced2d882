// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// What is plotted over time.
enum class Series : unsigned char {
  utilization,
  sm,
  tensor,
  dram,
  memory,       ///< percent
  power,        ///< W
  temperature,  ///< C
  clock,        ///< MHz
  pcie_in,      ///< bytes a second
  pcie_out,
  nvlink_in,
  nvlink_out,
  count
};
enum class HostSeries : unsigned char { cpu, memory, count };  ///< percent

/// The last readings, a fixed number of them: memory stays the same however long it runs. Unknown values are NaN.
class History {
 public:
  /// Enough for a terminal of 500 columns, two readings a column.
  static constexpr std::size_t kDefaultLength = 1000;

  explicit History(std::size_t length = kDefaultLength) : length_(length) {}

  void add(const Snapshot& snapshot);

  /// Readings taken so far, at most the length.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// From the reading of age `readings`, or the oldest that is kept, to the newest.
  [[nodiscard]] double seconds_back(std::size_t readings) const;
  /// Newest first: `age` 0 is the last one. NaN when unknown, not yet there, or forgotten.
  [[nodiscard]] float at(int gpu, Series series, std::size_t age) const;
  [[nodiscard]] float at(HostSeries series, std::size_t age) const;

 private:
  struct Ring {
    std::vector<float> values;
  };
  using GpuRings = std::array<Ring, static_cast<std::size_t>(Series::count)>;
  void put(Ring& ring, const std::optional<double>& value);
  [[nodiscard]] std::size_t slot(std::size_t age) const noexcept { return (next_ + length_ - 1 - age) % length_; }
  [[nodiscard]] float look_up(const Ring& ring, std::size_t age) const;

  std::size_t length_;
  std::size_t size_ = 0;
  std::size_t next_ = 0;
  std::vector<double> since_start_s_;
  std::map<int, GpuRings> gpus_;
  std::array<Ring, static_cast<std::size_t>(HostSeries::count)> host_;
};

}  // namespace ridgeline::monitor
