// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/profile_files.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "campaign/messages.hpp"
#include "trace/analysis/counted_launches.hpp"
#include "trace/analysis/counter_join.hpp"
#include "trace/analysis/counter_table.hpp"
#include "trace/analysis/gpu_counters.hpp"
#include "trace/analysis/lost_launches.hpp"
#include "trace/analysis/run_notes.hpp"
#include "trace/analysis/tables.hpp"
#include "trace/findings/find_savings.hpp"
#include "trace/import/import_file.hpp"
#include "tracefile/table_columns.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kMostUnmatched = 10;  // that are named

std::int64_t events_of(const trace::ImportedFile& file) {
  if (file.counters) return static_cast<std::int64_t>(file.counters->size());
  std::size_t events = 0;
  trace::each_table(*file.trace, [&](trace::BlockKind, const auto& table) { events += table.size(); });
  return static_cast<std::int64_t>(events);
}

/// Leaves the first few, and returns the number of the others.
std::optional<std::int64_t> take_unnamed(std::vector<schema::Message>& launches) {
  if (launches.size() <= kMostUnmatched) return std::nullopt;
  const auto more = std::ssize(launches) - std::int64_t{kMostUnmatched};
  launches.resize(kMostUnmatched);
  return more;
}

void tell_unmatched(const trace::CounterJoin& join, std::vector<schema::Message>& notes) {
  auto launches = join.only_counters;
  auto more = take_unnamed(launches);
  if (!launches.empty()) notes.push_back(messages::profile_only_in_counters({.launches = launches, .more = more}));
  launches = join.only_trace;
  more = take_unnamed(launches);
  if (!launches.empty()) notes.push_back(messages::profile_only_in_trace({.launches = launches, .more = more}));
}

void tell_lost_launches(const trace::AnalysedTrace& analysed, std::vector<schema::Message>& notes) {
  const auto launches = trace::lost_launches(analysed.trace, analysed.launches);
  if (launches.ambiguous > 0)
    notes.push_back(messages::profile_launches_numbered_alike(static_cast<std::int64_t>(launches.ambiguous)));
  if (launches.lost > 0)
    notes.push_back(messages::profile_launches_lost(
        {.lost = static_cast<std::int64_t>(launches.lost), .all = static_cast<std::int64_t>(launches.all)}));
}

void tell_clocks(const trace::ClockFit& clocks, std::vector<schema::Message>& notes) {
  if (clocks.fits()) return;
  const auto early = static_cast<std::int64_t>(clocks.early);
  notes.push_back(messages::profile_clocks_differ({.early = early > 0 ? std::optional(early) : std::nullopt,
                                                   .launched = static_cast<std::int64_t>(clocks.launched),
                                                   .earliest = static_cast<double>(clocks.earliest_ns),
                                                   .least_wait = static_cast<double>(clocks.least_wait_ns)}));
}

/// Begins what is known of a trace: its events, their analysis and notes.
std::unique_ptr<trace::AnalysedTrace> analyse(trace::Trace trace, ProfiledFiles& out) {
  out.trace = std::make_unique<const trace::Trace>(std::move(trace));
  out.notes = out.trace->notes;
  auto analysed = std::make_unique<trace::AnalysedTrace>(*out.trace);
  tell_lost_launches(*analysed, out.notes);
  tell_clocks(analysed->clocks, out.notes);
  for (auto& note : trace::run_notes(*analysed)) out.notes.push_back(std::move(note));
  for (auto& note : trace::throttle_notes(*analysed)) out.notes.push_back(std::move(note));
  return analysed;
}

/// What the counters of its kernels tell, for tables and findings.
void use_counters(const trace::KernelCounters& counters, const trace::CounterJoin& join,
                  trace::AnalysedTrace& analysed) {
  analysed.kernel_bytes = trace::dram_bytes(counters, join);
  analysed.kernel_bytes_source = join.source;
  analysed.kernel_waves = trace::launch_waves(counters, join);
  analysed.kernel_tensor = trace::tensor_shares(counters, join);
  if (counters.step.empty()) return;
  for (const auto row : join.row) analysed.kernel_bytes_step.push_back(row == trace::kNowhere ? 0 : counters.step[row]);
}

/// With what the recorder counted itself.
void make_tables(trace::AnalysedTrace& analysed, ProfiledFiles& out) {
  if (analysed.trace.counted.size() == 0) {
    out.tables = trace::tables_of(analysed);
    return;
  }
  const auto counters = trace::counters_of(analysed.trace);
  const auto join = trace::join_counted(analysed);
  use_counters(counters, join, analysed);
  const auto& nodes = analysed.trace.counted.graph_nodes;
  if (const std::int64_t kernels = std::count(nodes.begin(), nodes.end(), 0); kernels > 0 && join.matched == 0)
    out.notes.push_back(messages::profile_no_counted_kernel(kernels));
  out.tables = trace::tables_of(analysed);
  trace::add_counters(analysed.trace, counters, join, out.tables.kernels);
}

}  // namespace

ProfiledFiles profile_trace(trace::Trace trace) {
  ProfiledFiles out;
  auto analysed = analyse(std::move(trace), out);
  make_tables(*analysed, out);
  out.findings = trace::find_savings(*analysed, out.tables);
  out.analysed = std::move(analysed);
  return out;
}

Result<ProfiledFiles> profile_files(const std::vector<std::string>& paths) {
  ProfiledFiles out;
  std::optional<trace::Trace> trace;
  std::optional<trace::KernelCounters> counters;
  for (const auto& path : paths) {
    RL_TRY_ASSIGN(auto file, trace::import_file(path));
    std::error_code ignored;
    out.sources.push_back({path, std::string(trace::tool_name(file.kind)),
                           static_cast<std::int64_t>(std::filesystem::file_size(path, ignored)), events_of(file)});
    const bool twice = (file.trace && trace) || (file.counters && counters);
    if (twice)
      return base::fail(ErrorCode::invalid_argument, "{}: a second {} beside {}; expected one of a program", path,
                        file.trace ? "trace" : "file of counters", paths.front())
          .hint("ridgeline compare {} {} compares two", paths.front(), path);
    if (file.trace) trace = std::move(file.trace);
    if (file.counters) counters = std::move(file.counters);
  }
  if (!trace)
    return base::fail(ErrorCode::invalid_argument,
                      "{}: counters without a timeline; expected a trace of the same program too",
                      fmt::join(paths, " "))
        .hint("record one with nsys or torch.profiler and name both files");
  auto analysed = analyse(*std::move(trace), out);
  if (counters) {
    const auto join = trace::join_counters(*out.trace, *counters);
    out.notes.insert(out.notes.end(), counters->notes.begin(), counters->notes.end());
    if (join.matched == 0)
      return base::fail(ErrorCode::invalid_argument, "{}: none of their {} launches is in the trace",
                        fmt::join(paths, " "), counters->size())
          .hint("record both of the same program with the same inputs");
    out.notes.push_back(messages::profile_counters_joined(
        {.joined = static_cast<std::int64_t>(join.matched), .all = static_cast<std::int64_t>(counters->size())}));
    const auto with_counters =
        join.row.size() - static_cast<std::size_t>(std::count(join.row.begin(), join.row.end(), trace::kNowhere));
    if (with_counters > join.matched)
      out.notes.push_back(messages::profile_counters_repeated(
          {.counted = static_cast<std::int64_t>(join.matched), .launches = static_cast<std::int64_t>(with_counters)}));
    tell_unmatched(join, out.notes);
    use_counters(*counters, join, *analysed);
    for (auto& note : trace::counter_notes(*out.trace, *counters, join, analysed->kernel_bytes))
      out.notes.push_back(std::move(note));
    out.tables = trace::tables_of(*analysed);
    trace::add_counters(*out.trace, *counters, join, out.tables.kernels);
    if (auto line = trace::missing_bytes(*counters); !line.empty()) out.tables.missing.push_back(std::move(line));
  } else {
    make_tables(*analysed, out);
  }
  out.findings = trace::find_savings(*analysed, out.tables);
  out.analysed = std::move(analysed);
  return out;
}

}  // namespace ridgeline::campaign
