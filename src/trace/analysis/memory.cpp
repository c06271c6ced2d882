// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/memory.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "trace/analysis/gpu_allocations.hpp"
#include "trace/analysis/places.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kHolders = 10;
constexpr std::size_t kMostFailed = 20;
constexpr std::int64_t kParts = 500;
constexpr const char* kBefore = "(before the recording)";
constexpr const char* kNoPlace = "(unknown place)";

/// Of one GPU of a process: its rows of Trace::allocations.
class DeviceMemory {
 public:
  /// `rows` in order of time, what was held before the recording first. `zero_ns`: the first event of memory.
  DeviceMemory(const AnalysedTrace& analysed, const std::vector<std::size_t>& rows, std::int64_t zero_ns)
      : analysed_(analysed), all_(analysed.trace.allocations), rows_(rows), zero_ns_(zero_ns) {
    first_ns_ = all_.time_ns[rows.front()];
    for (const auto row : rows) first_ns_ = std::min(first_ns_, all_.time_ns[row]);
  }

  schema::ProfileMemory row() {
    find_peak();
    find_holders();
    find_series();
    find_failed();
    return std::move(out_);
  }

 private:
  /// What was held before the recording is there from its beginning on, whatever the file says.
  [[nodiscard]] std::int64_t time_of(std::size_t row) const {
    return all_.kind[row] == AllocationKind::held ? first_ns_ : all_.time_ns[row];
  }

  void find_peak() {
    out_.peak_allocated_bytes = -1;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = rows_[i];
      out_.allocations += all_.kind[row] == AllocationKind::allocated ? 1 : 0;
      out_.frees += all_.kind[row] == AllocationKind::freed ? 1 : 0;
      out_.peak_reserved_bytes = std::max(out_.peak_reserved_bytes, all_.reserved_bytes[row]);
      if (all_.allocated_bytes[row] <= out_.peak_allocated_bytes) continue;
      peak_ = i;
      out_.peak_allocated_bytes = all_.allocated_bytes[row];
    }
    out_.peak_ns = time_of(rows_[peak_]) - zero_ns_;
    out_.reserved_at_peak_bytes = all_.reserved_bytes[rows_[peak_]];
    out_.end_bytes = all_.allocated_bytes[rows_.back()];
  }

  /// Rows that were allocated until the peak and not freed.
  [[nodiscard]] std::vector<std::size_t> live_at_peak() const {
    std::unordered_map<std::int64_t, std::size_t> by_address;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = rows_[i];
      const auto kind = all_.kind[row];
      if (i > peak_ && kind != AllocationKind::held) break;
      if (kind == AllocationKind::allocated || kind == AllocationKind::held)
        by_address[all_.address[row]] = row;
      else if (kind == AllocationKind::freed)
        by_address.erase(all_.address[row]);
    }
    std::vector<std::size_t> out;
    for (const auto& [address, row] : by_address) out.push_back(row);
    std::sort(out.begin(), out.end());
    return out;
  }

  void find_holders() {
    const auto live = live_at_peak();
    const auto places = places_of(live);
    Places sums;
    auto unknown = out_.peak_allocated_bytes;
    for (std::size_t i = 0; i < live.size(); ++i) {
      if (all_.place[live[i]] != 0)
        sums.add_alone(places[i], all_.bytes[live[i]]);
      else
        sums.add(places[i], all_.bytes[live[i]]);
      unknown -= all_.bytes[live[i]];
    }
    auto largest = sums.largest(kHolders);
    if (unknown > 0) {
      // How many they are is not known.
      const auto known =
          std::find_if(largest.begin(), largest.end(), [](const auto& one) { return one.place == kBefore; });
      if (known == largest.end())
        largest.push_back({kBefore, unknown, 0});
      else
        *known = {kBefore, known->amount + unknown, 0};
      std::stable_sort(largest.begin(), largest.end(),
                       [](const auto& one, const auto& other) { return one.amount > other.amount; });
      if (largest.size() > kHolders) largest.pop_back();
    }
    for (auto& [place, bytes, count] : largest) out_.holders.push_back({std::move(place), bytes, count});
  }

  [[nodiscard]] std::vector<std::string> places_of(const std::vector<std::size_t>& rows) const {
    std::vector<Moment> moments;
    for (const auto row : rows) moments.push_back({all_.lane[row], all_.time_ns[row]});
    const auto ranges = ranges_at(analysed_.trace, analysed_.nesting, moments);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::string place(analysed_.trace.strings.text(all_.place[rows[i]]));
      if (place.empty() && ranges[i] != kNowhere)
        place = path_of(analysed_.attribution, analysed_.attribution.row_of_range[ranges[i]]);
      if (place.empty()) place = all_.kind[rows[i]] == AllocationKind::held ? kBefore : kNoPlace;
      out.push_back(std::move(place));
    }
    return out;
  }

  /// Equal parts of the time, of each the most.
  void find_series() {
    const auto part_ns = (time_of(rows_.back()) - first_ns_) / kParts + 1;
    std::int64_t last_part = -1;
    for (const auto row : rows_) {
      const auto part = (time_of(row) - first_ns_) / part_ns;
      const schema::ProfileMemoryPoint point{time_of(row) - zero_ns_, all_.allocated_bytes[row],
                                             all_.reserved_bytes[row]};
      if (part != last_part) {
        out_.series.push_back(point);
        last_part = part;
        continue;
      }
      auto& most = out_.series.back();
      if (point.allocated_bytes > most.allocated_bytes) {
        most.time_ns = point.time_ns;
        most.allocated_bytes = point.allocated_bytes;
      }
      most.reserved_bytes = std::max(most.reserved_bytes, point.reserved_bytes);
    }
  }

  void find_failed() {
    std::vector<std::size_t> failed;
    for (const auto row : rows_)
      if (all_.kind[row] == AllocationKind::out_of_memory && failed.size() < kMostFailed) failed.push_back(row);
    const auto places = places_of(failed);
    for (std::size_t i = 0; i < failed.size(); ++i) {
      const auto free = all_.address[failed[i]];
      out_.out_of_memory.push_back(
          {all_.time_ns[failed[i]] - zero_ns_, all_.bytes[failed[i]], free > 0 ? free : -1, places[i]});
    }
  }

  const AnalysedTrace& analysed_;
  const Allocations& all_;
  const std::vector<std::size_t>& rows_;
  std::int64_t zero_ns_;
  std::int64_t first_ns_ = 0;
  std::size_t peak_ = 0;  ///< into rows_
  schema::ProfileMemory out_;
};

}  // namespace

std::vector<schema::ProfileMemory> memory_rows(const AnalysedTrace& analysed) {
  const auto& times = analysed.trace.allocations.time_ns;
  std::vector<schema::ProfileMemory> out;
  if (times.empty()) return out;
  const auto zero_ns = *std::min_element(times.begin(), times.end());
  for (const auto& [where, rows] : gpu_allocations(analysed.trace)) {
    auto& row = out.emplace_back(DeviceMemory(analysed, rows, zero_ns).row());
    row.process = where.first;
    row.device = where.second;
  }
  return out;
}

}  // namespace ridgeline::trace
