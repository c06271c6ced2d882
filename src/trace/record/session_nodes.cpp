// SPDX-License-Identifier: Apache-2.0
#include "trace/record/session_nodes.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/range_names.hpp"
#include "trace/import/onnxruntime_import.hpp"
#include "trace/import/row_remover.hpp"
#include "trace/messages.hpp"
#include "trace/node_launches.hpp"
#include "trace/record/captured_nodes.hpp"
#include "trace/record/merge_traces.hpp"
#include "trace/record/session_profile.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kClockError = 50'000;  // ns: of mapping one clock to the other
constexpr int kMostAtOnce = 64;               // runs of a session, in as many threads

using messages::SessionWithoutNodesReason;

/// Recorded runs of the sessions of one name in one process.
class SessionRuns {
 public:
  struct Run {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    bool has_nodes = false;
  };
  std::vector<Run> runs;  ///< by start
  bool replays_graph = false;
  bool has_note = false;

  /// nullptr: none was then.
  [[nodiscard]] Run* at(std::int64_t time_ns) {
    auto* run = at(time_ns, 0);
    return run != nullptr ? run : at(time_ns, kClockError);
  }

 private:
  [[nodiscard]] Run* at(std::int64_t time_ns, std::int64_t error_ns) {
    auto after = std::partition_point(runs.begin(), runs.end(),
                                      [&](const Run& run) { return run.start_ns <= time_ns + error_ns; });
    for (auto left = kMostAtOnce; after != runs.begin() && left > 0; --left)
      if (auto& run = *--after; run.end_ns + error_ns > time_ns) return &run;
    return nullptr;
  }
};

using SessionName = std::pair<std::int64_t, std::string>;  // process, model

std::map<SessionName, SessionRuns> find_runs(const Trace& trace) {
  std::map<SessionName, SessionRuns> out;
  const auto& ranges = trace.ranges;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto name = trace.strings.text(ranges.name[i]);
    if (ranges.kind[i] != RangeKind::python || !is_session_run(name)) continue;
    out[{trace.thread_lanes[ranges.lane[i]].process, std::string(name.substr(kSessionRun.size()))}].runs.push_back(
        {ranges.start_ns[i], ranges.start_ns[i] + ranges.duration_ns[i]});
  }
  for (auto& [name, of_session] : out)
    std::stable_sort(of_session.runs.begin(), of_session.runs.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return out;
}

/// Nodes alone, on the recorder's clock, those of recorded runs: the rest of the profile is recorded better.
void keep_nodes(const SessionProfile& profile, SessionRuns& of_session, Trace& session) {
  session.ranges = {};
  session.calls = {};
  session.kernels = {};
  session.copies = {};
  auto& nodes = session.nodes;
  Marks marks(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes.start_ns[i] += profile.start_ns;
    nodes.correlation[i] = 0;
    auto* run = of_session.at(nodes.start_ns[i]);
    marks[i] = run == nullptr;
    if (run != nullptr) run->has_nodes = true;
  }
  remove_rows(nodes, marks);
}

/// nullopt: it has nodes.
std::optional<SessionWithoutNodesReason> reason_without(const SessionProfile& profile) {
  if (!profile.why.empty()) return SessionWithoutNodesReason::own_cupti;
  if (profile.file.empty() || profile.start_ns == 0) return SessionWithoutNodesReason::killed;
  if (std::abs(profile.set_by_ns) > kClockError) return SessionWithoutNodesReason::clock;
  return std::nullopt;
}

}  // namespace

void join_session_nodes(const std::filesystem::path& folder, Trace& trace) {
  const auto profiles = find_session_profiles(folder);
  if (profiles.empty()) return forget_capture_times(trace);
  auto all = find_runs(trace);
  std::vector<schema::Message> notes;
  std::vector<Trace> traces(1);
  for (const auto& profile : profiles) {
    const auto found = all.find({profile.process, profile.model});
    if (found == all.end()) continue;
    auto& of_session = found->second;
    of_session.replays_graph = of_session.replays_graph || profile.replays_graph;
    if (const auto reason = reason_without(profile)) {
      notes.push_back(messages::session_without_nodes({.model = profile.model, .reason = *reason}));
      of_session.has_note = true;
      continue;
    }
    auto session = import_session(profile.file.string());
    if (!session) {
      notes.push_back(
          messages::session_unreadable({.model = profile.model, .reason = base::error_line(session.error())}));
      of_session.has_note = true;
      continue;
    }
    name_captured_nodes(*session, profile.process, profile.start_ns, trace);
    keep_nodes(profile, of_session, *session);
    traces.push_back(*std::move(session));
  }
  for (const auto& [name, of_session] : all) {
    const auto count =
        std::count_if(of_session.runs.begin(), of_session.runs.end(), [](const auto& run) { return run.has_nodes; });
    if (!of_session.has_note && count > 0 && count < std::ssize(of_session.runs))
      notes.push_back(messages::session_runs({.model = name.second,
                                              .count = count,
                                              .all = std::ssize(of_session.runs),
                                              .graph = of_session.replays_graph}));
  }
  forget_capture_times(trace);
  traces.front() = std::move(trace);
  trace = merge_traces(std::move(traces));
  trace.notes.insert(trace.notes.end(), notes.begin(), notes.end());
  if (auto note = launch_note(trace); !note.empty()) trace.notes.push_back(std::move(note));
}

}  // namespace ridgeline::trace
