// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_memory.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/charts/chart_parts.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileMemory;
using schema::ProfileRun;

constexpr double kBytesPerMib = 1024.0 * 1024.0;
// What the allocator keeps is worth a line from there on: less is how it works.
constexpr double kMostUnusedShare = 0.2;
constexpr std::int64_t kMostUnusedBytes = 500'000'000;

std::string bytes_words(std::int64_t bytes) { return base::format_bytes(static_cast<double>(bytes)); }
std::string after_words(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

std::string gpu_name(const ProfileRun& run, const ProfileMemory& row) {
  const auto& all = run.tables.memory;
  const bool several = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.process != row.process; });
  return several ? fmt::format("{} (process {})", row.device, row.process) : fmt::format("{}", row.device);
}

base::Json line_series(const std::string& name, std::string_view role, base::Json data) {
  return {{"type", "line"},   {"name", name},  {"role", role},
          {"symbol", "none"}, {"step", "end"}, {"data", std::move(data)}};
}

}  // namespace

bool is_memory_only(const ProfileRun& run) {
  return !run.tables.memory.empty() && run.tables.devices.empty() && run.tables.nodes.empty();
}

bool is_host_only(const ProfileRun& run) {
  return !is_memory_only(run) && run.tables.devices.empty() && run.tables.nodes.empty();
}

Table memory_table(const ProfileRun& run) {
  Table table;
  if (run.tables.memory.empty()) return table;
  table.columns = {{"GPU", Align::left},         {"Peak", Align::right},        {"At", Align::right},
                   {"Reserved", Align::right},   {"Unused", Align::right},      {"Peak reserved", Align::right, true},
                   {"At the end", Align::right}, {"Allocations", Align::right}, {"Frees", Align::right, true}};
  for (const auto& row : run.tables.memory)
    table.rows.push_back(
        {{gpu_name(run, row), bytes_words(row.peak_allocated_bytes), after_words(row.peak_ns),
          bytes_words(row.reserved_at_peak_bytes), bytes_words(std::max<std::int64_t>(0, row.unused_bytes())),
          bytes_words(row.peak_reserved_bytes), bytes_words(row.end_bytes), fmt::format("{}", row.allocations),
          fmt::format("{}", row.frees)},
         Tone::neutral,
         ""});
  return table;
}

Table holders_table(const ProfileRun& run) {
  Table table;
  table.columns = {{"GPU", Align::left},
                   {"Allocated at the peak by", Align::left, false, true},
                   {"Bytes", Align::right},
                   {"Share", Align::right},
                   {"Allocations", Align::right, true}};
  for (const auto& row : run.tables.memory)
    for (const auto& holder : row.holders) {
      const auto share = row.peak_allocated_bytes > 0
                             ? 100 * static_cast<double>(holder.bytes) / static_cast<double>(row.peak_allocated_bytes)
                             : 0;
      table.rows.push_back({{gpu_name(run, row), plain_text(holder.place), bytes_words(holder.bytes),
                             fmt::format("{:.{}f} %", share, share < 9.95 ? 1 : 0),
                             holder.allocations > 0 ? fmt::format("{}", holder.allocations) : std::string(kAbsent)},
                            Tone::neutral,
                            ""});
    }
  return table;
}

std::optional<Chart> memory_chart(const schema::MessageRenderer& words, const ProfileRun& run) {
  const auto& all = run.tables.memory;
  std::int64_t span_ns = 0;
  for (const auto& row : all)
    for (const auto& point : row.series) span_ns = std::max(span_ns, point.time_ns);
  if (span_ns == 0) return std::nullopt;
  const bool long_time = span_ns > 10'000'000'000;
  const double unit_ns = long_time ? 1e9 : 1e6;
  Chart chart;
  chart.id = "memory-chart";
  chart.title = "Memory over time";
  chart.height_px = 280;
  auto series = base::Json::array();
  constexpr std::array<std::string_view, 5> kRoles{"best", "series-1", "series-2", "series-3", "series-4"};
  const ProfileMemory* most = &all.front();
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto allocated = base::Json::array();
    auto reserved = base::Json::array();
    for (const auto& point : all[i].series) {
      const auto x = rounded(static_cast<double>(point.time_ns) / unit_ns);
      allocated.push_back({x, rounded(static_cast<double>(point.allocated_bytes) / kBytesPerMib)});
      reserved.push_back({x, rounded(static_cast<double>(point.reserved_bytes) / kBytesPerMib)});
    }
    const auto where = all.size() > 1 ? fmt::format("GPU {} ", gpu_name(run, all[i])) : std::string();
    series.push_back(line_series(where + "allocated", kRoles[std::min(i, kRoles.size() - 1)], std::move(allocated)));
    series.push_back(line_series(where + "reserved", "other", std::move(reserved)));
    if (all[i].peak_allocated_bytes > most->peak_allocated_bytes) most = &all[i];
  }
  chart.option = {
      {"series", std::move(series)}, {"xAxis", value_axis(long_time ? "s" : "ms", 0)}, {"yAxis", value_axis("MiB", 0)}};
  chart.alternative = words.text(messages::chart_memory({.bytes = static_cast<double>(most->peak_allocated_bytes),
                                                         .gpu = gpu_name(run, *most),
                                                         .after = static_cast<double>(most->peak_ns)}));
  return chart;
}

std::vector<schema::Message> memory_notes(const ProfileRun& run) {
  std::vector<schema::Message> out;
  for (const auto& row : run.tables.memory) {
    const auto gpu = gpu_name(run, row);
    for (const auto& failed : row.out_of_memory)
      out.push_back(messages::profile_out_of_memory(
          {.gpu = gpu,
           .after = static_cast<double>(failed.time_ns),
           .asked = static_cast<double>(failed.asked_bytes),
           .free = failed.free_bytes >= 0 ? std::optional(static_cast<double>(failed.free_bytes)) : std::nullopt,
           .place = failed.place}));
    const auto unused = static_cast<double>(row.unused_bytes());
    const auto allocated = static_cast<double>(row.peak_allocated_bytes);
    if (row.unused_bytes() > kMostUnusedBytes && unused > kMostUnusedShare * allocated)
      out.push_back(messages::profile_fragmentation({.gpu = gpu,
                                                     .unused = unused,
                                                     .reserved = static_cast<double>(row.reserved_at_peak_bytes),
                                                     .share = unused / std::max(1.0, allocated)}));
  }
  return out;
}

Section memory_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"memory", "Memory", {}};
  auto table = memory_table(run);
  if (table.rows.empty()) return section;
  table.caption = words.text(messages::profile_peak());
  section.blocks.emplace_back(std::move(table));
  if (auto chart = memory_chart(words, run)) section.blocks.emplace_back(std::move(*chart));
  BulletList lines;
  for (const auto& note : words.texts(memory_notes(run))) lines.items.push_back(sentence(plain_text(note)));
  if (!lines.items.empty()) section.blocks.emplace_back(std::move(lines));
  if (auto holders = holders_table(run); !holders.rows.empty()) {
    holders.caption = words.text(messages::profile_held());
    section.blocks.emplace_back(std::move(holders));
  }
  return section;
}

}  // namespace ridgeline::report
