// SPDX-License-Identifier: Apache-2.0
#include "trace/export/page_timeline.hpp"
#include "tracefile/varint.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>
#include <zlib.h>

#include "base/json.hpp"
#include "trace/analysis/range_names.hpp"
#include "trace/export/base64.hpp"
#include "trace/export/slice_lanes.hpp"

namespace ridgeline::trace {
namespace {

using base::Json;

constexpr std::size_t kHostLevels = 6;
constexpr std::size_t kMostPieces = 1'100'000;               // a page of 8 MB; work of GPUs is kept whatever it takes
constexpr std::int64_t kLastMoment = std::int64_t{1} << 52;  // JavaScript's numbers are exact up to here
constexpr std::size_t kColumns = 6;

enum class PieceKind : std::uint8_t { kernel, copy, set, module, operation, node };

std::string deflated(const std::string& bytes) {
  auto size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  // Fails only without memory or with too small a buffer.
  ::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
              Z_BEST_COMPRESSION);
  out.resize(size);
  return out;
}

/// Of one stream or thread.
struct PieceGroup {
  std::string title;
  bool is_gpu = false;
  std::vector<SliceLane> rows;
};

class PageTimeline {
 public:
  explicit PageTimeline(const AnalysedTrace& analysed) : analysed_(analysed), trace_(analysed.trace), times_(trace_) {}

  std::string pack() {
    add_streams();
    add_threads();
    find_extent();
    if (first_ns_ > last_ns_) return "";
    auto groups = Json::array();
    for (const auto& group : groups_) {
      auto rows = Json::array();
      for (const auto& row : group.rows) rows.push_back(add_row(row));
      groups.push_back({{"title", group.title}, {"gpu", group.is_gpu}, {"rows", std::move(rows)}});
    }
    const auto header = base::dump_json({{"span_ns", moment(last_ns_)},
                                         {"names", std::move(names_)},
                                         {"modules", modules()},
                                         {"shapes", std::move(shapes_)},
                                         {"steps", steps()},
                                         {"groups", std::move(groups)},
                                         {"levels", levels_},
                                         {"hidden_levels", hidden_levels_}});
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(header.size() >> shift & 255);
    return base64(deflated(bytes + header + columns_));
  }

 private:
  using StreamKey = std::tuple<std::int64_t, std::int32_t, std::int64_t>;  // process, device, stream

  void add_streams() {
    std::map<StreamKey, std::vector<Slice>> streams;
    for (const auto table : {Table::kernels, Table::copies, Table::sets}) {
      const auto& work = spans_of(trace_, table);
      for (std::size_t i = 0; i < work.size(); ++i) {
        const auto& lane = trace_.gpu_lanes[work.lane[i]];
        streams[{lane.process, lane.device, lane.stream}].push_back({static_cast<Place>(i), table});
      }
      pieces_ += work.size();
    }
    const bool one_process =
        streams.empty() || std::get<0>(streams.begin()->first) == std::get<0>(streams.rbegin()->first);
    for (auto& [key, slices] : streams) {
      const auto [process, device, stream] = key;
      groups_.push_back({fmt::format("GPU {} · stream {}{}", device, stream,
                                     one_process ? "" : fmt::format(" · process {}", process)),
                         true, split_into_rows(times_, std::move(slices), std::numeric_limits<std::size_t>::max())});
    }
  }

  /// The busiest thread first.
  void add_threads() {
    std::vector<std::vector<Slice>> threads(trace_.thread_lanes.size());
    for (std::size_t i = 0; i < trace_.ranges.size(); ++i)
      if (analysed_.attribution.opens_row[i])
        threads[trace_.ranges.lane[i]].push_back({static_cast<Place>(i), Table::ranges});
    for (std::size_t i = 0; i < trace_.nodes.size(); ++i)
      threads[trace_.nodes.lane[i]].push_back({static_cast<Place>(i), Table::nodes});
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < threads.size(); ++i)
      if (!threads[i].empty()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return threads[a].size() > threads[b].size(); });
    std::array<std::size_t, kHostLevels> sizes{};
    const auto first_thread = groups_.size();
    for (const auto i : order) {
      const auto& lane = trace_.thread_lanes[i];
      auto rows = split_into_rows(times_, std::move(threads[i]), kHostLevels);
      for (std::size_t level = 0; level < rows.size(); ++level) sizes[level] += rows[level].size();
      groups_.push_back({fmt::format("Thread {} · process {}", lane.thread, lane.process), false, std::move(rows)});
    }
    auto pieces = pieces_;
    for (levels_ = 0; levels_ < kHostLevels && sizes[levels_] > 0; ++levels_) {
      pieces += sizes[levels_];
      if (pieces > kMostPieces) break;
    }
    for (auto level = levels_; level < kHostLevels; ++level) hidden_levels_ += sizes[level] > 0 ? 1 : 0;
    for (auto i = first_thread; i < groups_.size(); ++i)
      groups_[i].rows.resize(std::min(groups_[i].rows.size(), levels_));
    if (levels_ == 0) groups_.resize(first_thread);
  }

  void find_extent() {
    for (const auto& group : groups_)
      for (const auto& row : group.rows) {
        first_ns_ = std::min(first_ns_, times_.start(row.front()));
        last_ns_ = std::max(last_ns_, times_.end(row.back()));  // none of a row ends after the last
      }
  }

  /// From the first moment.
  [[nodiscard]] std::int64_t moment(std::int64_t at_ns) const {
    if (at_ns <= first_ns_) return 0;
    const auto from_first = static_cast<std::uint64_t>(at_ns) - static_cast<std::uint64_t>(first_ns_);
    return static_cast<std::int64_t>(std::min<std::uint64_t>(from_first, kLastMoment));
  }

  Json add_row(const SliceLane& row) {
    std::array<std::string, kColumns> columns;
    std::int64_t end = 0;
    std::int64_t module = 0;
    std::int64_t step = 0;
    for (const auto slice : row) {
      const auto start = moment(times_.start(slice));
      put_varint(columns[0], static_cast<std::uint64_t>(start - end));
      end = moment(times_.end(slice));
      put_varint(columns[1], static_cast<std::uint64_t>(end - start));
      put_varint(columns[2], name_of_piece(slice));
      put_varint(columns[3], detail_of(slice));
      const auto [next_module, next_step] = places_of(slice);
      put_varint(columns[4], zigzag(next_module - module));
      put_varint(columns[5], zigzag(next_step - step));
      module = next_module;
      step = next_step;
    }
    auto out = Json::array({row.size()});
    for (const auto& column : columns) {
      out.push_back(column.size());
      columns_ += column;
    }
    return out;
  }

  [[nodiscard]] PieceKind kind_of(Slice slice) const {
    switch (slice.table) {
      case Table::copies: return PieceKind::copy;
      case Table::sets: return PieceKind::set;
      case Table::nodes: return PieceKind::node;
      case Table::ranges:
        return trace_.ranges.kind[slice.row] == RangeKind::operation ? PieceKind::operation : PieceKind::module;
      default: return PieceKind::kernel;
    }
  }

  std::uint64_t name_of_piece(Slice slice) {
    const auto name = spans_of(trace_, slice.table).name[slice.row];
    const auto kind = kind_of(slice);
    const auto [found, is_new] = name_places_.try_emplace(static_cast<std::uint64_t>(kind) << 32 | name, names_.size());
    if (is_new) {
      auto text = std::string(trace_.strings.text(name));
      if (kind == PieceKind::module)
        text =
            trace_.ranges.kind[slice.row] == RangeKind::python ? std::string(module_name(text)) : annotation_name(text);
      names_.push_back(Json::array({static_cast<int>(kind), std::move(text)}));
    }
    return found->second;
  }

  std::uint64_t detail_of(Slice slice) {
    if (slice.table == Table::ranges) return 0;
    if (slice.table == Table::kernels) return shape_of(trace_.kernels.grid[slice.row], trace_.kernels.block[slice.row]);
    const auto bytes = slice.table == Table::copies ? trace_.copies.bytes[slice.row]
                       : slice.table == Table::sets ? trace_.sets.bytes[slice.row]
                                                    : trace_.nodes.bytes(slice.row);
    return bytes < 0 ? 0 : static_cast<std::uint64_t>(std::min(bytes, kLastMoment)) + 1;
  }

  std::uint64_t shape_of(const Dim3& grid, const Dim3& block) {
    if (grid == Dim3() && block == Dim3()) return 0;
    const std::array shape{grid.x, grid.y, grid.z, block.x, block.y, block.z};
    const auto [found, is_new] = shape_places_.try_emplace(shape, shapes_.size() + 1);
    if (is_new) shapes_.push_back(shape);
    return found->second;
  }

  /// Module and step, from 1.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> places_of(Slice slice) const {
    const auto from_one = [](Place place) { return place == kNowhere ? 0 : std::int64_t{place} + 1; };
    const auto of = [&](const PlacedWork& work) {
      return std::pair(from_one(work.row[slice.row]), from_one(work.step[slice.row]));
    };
    const auto at = [&](Place row, const Spans& spans) {
      return std::pair(from_one(row), from_one(analysed_.steps.at(spans.start_ns[slice.row])));
    };
    switch (slice.table) {
      case Table::copies: return of(analysed_.copies);
      case Table::sets: return of(analysed_.sets);
      case Table::ranges: return at(analysed_.attribution.row_of_range[slice.row], trace_.ranges);
      case Table::nodes:
        return std::pair(from_one(analysed_.attribution.row_of_node[slice.row]),
                         from_one(analysed_.step_of_node[slice.row]));
      default: return of(analysed_.kernels);
    }
  }

  [[nodiscard]] Json modules() const {
    auto out = Json::array();
    for (const auto& row : analysed_.attribution.rows)
      out.push_back(Json::array({row.parent == kNowhere ? -1 : static_cast<std::int64_t>(row.parent), row.name,
                                 row.kind == schema::ModuleKind::module ? 1 : 0}));
    return out;
  }

  [[nodiscard]] Json steps() const {
    auto out = Json::array();
    for (const auto& step : analysed_.steps.steps) {
      const auto start = moment(step.start_ns);
      out.push_back(Json::array(
          {step.range == kNowhere ? std::string_view() : trace_.strings.text(trace_.ranges.name[step.range]), start,
           moment(step.end_ns) - start}));
    }
    return out;
  }

  const AnalysedTrace& analysed_;
  const Trace& trace_;
  SliceTimes times_;
  std::vector<PieceGroup> groups_;
  std::size_t pieces_ = 0;
  std::size_t levels_ = 0;
  std::size_t hidden_levels_ = 0;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
  Json names_ = Json::array();
  std::unordered_map<std::uint64_t, std::size_t> name_places_;
  Json shapes_ = Json::array();
  std::map<std::array<std::int32_t, 6>, std::size_t> shape_places_;
  std::string columns_;
};

}  // namespace

std::string page_timeline(const AnalysedTrace& analysed) { return PageTimeline(analysed).pack(); }

}  // namespace ridgeline::trace
