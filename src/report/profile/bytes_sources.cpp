// SPDX-License-Identifier: Apache-2.0
#include "report/profile/bytes_sources.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/profile_cells.hpp"
#include "report/profile/profile_figures.hpp"

namespace ridgeline::report {
namespace {

using schema::BytesSource;
using schema::ProfileRun;

constexpr double kRecordedShare = 0.5;  // of the time that an average is over

schema::Message words_of(const schema::ProfileBytes& bytes, std::optional<double> share) {
  using enum messages::ProfileBytesOfSource;
  const auto source = [&] {
    switch (bytes.source) {
      case BytesSource::range_profiler: return bytes.second_run ? rerun : window;
      case BytesSource::uncaptured_step: return graph;
      case BytesSource::nsight_compute: return ncu;
      default: return other;
    }
  };
  return messages::profile_bytes_of(
      {.source = source(),
       .first = bytes.first_step > 0 ? std::optional(bytes.first_step) : std::nullopt,
       .last = bytes.last_step > bytes.first_step ? std::optional(bytes.last_step) : std::nullopt,
       .share = share});
}

std::int64_t per_launch(std::int64_t sum, std::int64_t launches) {
  return sum < 0 ? sum : sum / std::max<std::int64_t>(1, launches);
}

}  // namespace

schema::Message bytes_source_name(BytesSource source) {
  using enum messages::ProfileBytesSourceSource;
  const auto word = [&] {
    switch (source) {
      case BytesSource::range_profiler: return range;
      case BytesSource::uncaptured_step: return graph;
      case BytesSource::nsight_compute: return ncu;
      case BytesSource::shapes: return shapes;
      case BytesSource::recorded: return recorded;
      case BytesSource::mixed: return mixed;
      case BytesSource::unknown: break;
    }
    return unknown;
  };
  return messages::profile_bytes_source(word());
}

std::vector<schema::Message> bytes_notes(const ProfileRun& run) {
  std::vector<schema::Message> out;
  const auto& rows = run.tables.bytes;
  std::int64_t kernel_ns = 0;
  for (const auto& kernel : run.tables.kernels) kernel_ns += kernel.total_ns;
  std::int64_t known_ns = 0;
  std::vector<schema::Message> sources;
  for (const auto& row : rows) {
    known_ns += row.kernel_ns;
    sources.push_back(
        words_of(row, rows.size() > 1 ? std::optional(share_of(row.kernel_ns, kernel_ns)) : std::nullopt));
  }
  if (!rows.empty())
    out.push_back(messages::profile_bytes({.share = share_of(known_ns, kernel_ns), .sources = std::move(sources)}));
  std::int64_t graph_bytes = 0;
  std::int64_t graph_launches = 0;
  for (const auto& row : run.tables.graphs) {
    if (row.read_bytes < 0 || row.write_bytes < 0) continue;
    graph_bytes += row.read_bytes + row.write_bytes;
    graph_launches += row.launches;
  }
  if (graph_launches > 0)
    out.push_back(messages::profile_bytes_of_graphs(static_cast<double>(per_launch(graph_bytes, graph_launches))));
  double span_s = 0;
  for (const auto& device : run.tables.devices) span_s = std::max(span_s, static_cast<double>(device.span_ns) / 1e9);
  for (const auto& row : run.bandwidths) {
    if (span_s < kRecordedShare * row.seconds) continue;  // mostly of what was not recorded
    out.push_back(
        messages::profile_bandwidth({.gpu = row.device,
                                     .rate = row.bytes_per_s / 1e9,
                                     .time = row.seconds * 1e9,
                                     .share = row.peak_bytes_per_s > 0 ? row.bytes_per_s / row.peak_bytes_per_s : 0}));
  }
  return out;
}

Table graphs_table(const schema::MessageRenderer& words, const ProfileRun& run) {
  Table table;
  const auto& graphs = run.tables.graphs;
  if (graphs.empty()) return table;
  const auto peak = peak_bytes_per_s(run);
  const bool has_l2 = std::any_of(graphs.begin(), graphs.end(), [](const auto& row) { return row.l2_bytes >= 0; });
  const bool has_tensor =
      std::any_of(graphs.begin(), graphs.end(), [](const auto& row) { return row.tensor_share >= 0; });
  table.columns = {{"CUDA graph", Align::left}, {"Nodes", Align::right}, {"Counted", Align::right, true},
                   {"Time", Align::right},      {"Read", Align::right},  {"Written", Align::right},
                   {"GB/s", Align::right}};
  if (has_l2) table.columns.push_back({"L2 bytes", Align::right, true});
  if (has_tensor) table.columns.push_back({"Tensor", Align::right, true});
  table.columns.push_back({"Bytes from", Align::left, true});
  table.columns.push_back({"Launched in", Align::left, true, true});
  for (const auto& row : graphs) {
    const auto both = row.read_bytes < 0 || row.write_bytes < 0 ? -1 : row.read_bytes + row.write_bytes;
    std::vector<std::string> cells{
        code_mark(row.name),
        row.nodes > 1 ? fmt::format("{}", row.nodes) : std::string(),  // 1 also where nobody counted them
        fmt::format("{}", row.launches),
        row.total_ns < 0 ? std::string(kAbsent) : cell_time(per_launch(row.total_ns, row.launches)),
        cell_bytes(per_launch(row.read_bytes, row.launches)),
        cell_bytes(per_launch(row.write_bytes, row.launches)),
        cell_rate(peak, both, std::max<std::int64_t>(0, row.total_ns))};
    if (has_l2) cells.push_back(cell_bytes(per_launch(row.l2_bytes, row.launches)));
    if (has_tensor) cells.push_back(row.tensor_share < 0 ? std::string(kAbsent) : percent(row.tensor_share));
    cells.push_back(words.text(bytes_source_name(row.bytes_source)));
    cells.push_back(plain_text(row.module));
    table.rows.push_back({std::move(cells), Tone::neutral, ""});
  }
  return table;
}

}  // namespace ridgeline::report
