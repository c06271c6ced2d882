// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/line_table.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "trace/analysis/idle_causes.hpp"

namespace ridgeline::trace {

std::vector<schema::ProfileLine> line_rows(const AnalysedTrace& analysed) {
  const auto& trace = analysed.trace;
  std::unordered_map<std::string_view, std::size_t> known;
  std::vector<schema::ProfileLine> rows;
  const auto row_of = [&](std::string_view line) -> schema::ProfileLine& {
    const auto [found, is_new] = known.try_emplace(line, rows.size());
    if (is_new) rows.emplace_back().line = line;
    return rows[found->second];
  };
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const auto line = analysed.lines.of_kernel(i, analysed.kernels.call[i]);
    if (line.empty()) continue;
    auto& row = row_of(line);
    ++row.kernels;
    row.work_ns += trace.kernels.duration_ns[i];
  }
  const auto add_memory = [&](const MemoryWork& work, const PlacedWork& placed) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      const auto line = analysed.lines.of_call(placed.call[i]);
      if (line.empty()) continue;
      auto& row = row_of(line);
      ++row.copies;
      row.work_ns += work.duration_ns[i];
    }
  };
  add_memory(trace.copies, analysed.copies);
  add_memory(trace.sets, analysed.sets);
  std::unordered_map<NameId, bool> waits;
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const auto [found, is_new] = waits.try_emplace(trace.calls.name[i], false);
    if (is_new) found->second = waits_for_gpu(trace.strings.text(trace.calls.name[i]));
    if (!found->second) continue;
    const auto line = analysed.lines.of_call(static_cast<Place>(i));
    if (line.empty()) continue;
    auto& row = row_of(line);
    ++row.waits;
    row.waited_ns += trace.calls.duration_ns[i];
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.work_ns, -a.waited_ns, std::string_view(a.line)) <
           std::tuple(-b.work_ns, -b.waited_ns, std::string_view(b.line));
  });
  return rows;
}

}  // namespace ridgeline::trace
