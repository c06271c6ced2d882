// SPDX-License-Identifier: Apache-2.0
#include "trace/record/work_of_runs.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/analysis/range_names.hpp"
#include "trace/import/row_remover.hpp"
#include "trace/record/merge_traces.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kCutOffRun = 2000;  // ns: the profile rounds the start and the duration of a run down

/// When runs of a profile were, on its own clock.
class RunTimes {
 public:
  explicit RunTimes(const Trace& profile) {
    const auto& ranges = profile.ranges;
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (profile.strings.text(ranges.name[i]) == kModelRun)
        runs_.emplace_back(ranges.start_ns[i], ranges.start_ns[i] + ranges.duration_ns[i] + kCutOffRun);
    std::sort(runs_.begin(), runs_.end());
    // Of several threads: the last end so far.
    for (std::size_t i = 1; i < runs_.size(); ++i) runs_[i].second = std::max(runs_[i].second, runs_[i - 1].second);
  }
  [[nodiscard]] bool contain(std::int64_t time_ns) const {
    const auto after =
        std::partition_point(runs_.begin(), runs_.end(), [&](const auto& run) { return run.first <= time_ns; });
    return after != runs_.begin() && std::prev(after)->second > time_ns;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> runs_;
};

/// Moves a table to the clock of the profile and keeps the rows for which `is_kept` holds.
template <typename Table, typename IsKept>
void keep_moved(Table& table, std::int64_t start_ns, IsKept is_kept) {
  Marks marks(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    table.start_ns[i] -= start_ns;
    marks[i] = !is_kept(i);
  }
  remove_rows(table, marks);
}

}  // namespace

void add_work_of_runs(Trace recorded, std::int64_t start_ns, Trace& profile) {
  if (profile.nodes.size() == 0) return;
  const auto process = profile.thread_lanes[profile.nodes.lane.front()].process;
  const RunTimes runs(profile);
  recorded.ranges = {};
  recorded.nodes = {};
  recorded.allocations = {};
  recorded.counted = {};
  recorded.notes.clear();
  std::unordered_set<std::int64_t> launches;
  keep_moved(recorded.calls, start_ns, [&](std::size_t i) {
    const bool is_of_run =
        recorded.thread_lanes[recorded.calls.lane[i]].process == process && runs.contain(recorded.calls.start_ns[i]);
    if (is_of_run) launches.insert(recorded.calls.correlation[i]);
    return is_of_run;
  });
  const auto keep_launched = [&](auto& table) {
    keep_moved(table, start_ns, [&](std::size_t i) {
      return recorded.gpu_lanes[table.lane[i]].process == process && launches.contains(table.correlation[i]);
    });
  };
  keep_launched(recorded.kernels);
  keep_launched(recorded.copies);
  keep_launched(recorded.sets);
  keep_moved(recorded.syncs, start_ns, [&](std::size_t i) {
    return recorded.gpu_lanes[recorded.syncs.lane[i]].process == process && runs.contain(recorded.syncs.start_ns[i]);
  });
  if (recorded.kernels.size() == 0) return;  // calls alone are of no use
  profile.lacks_work = profile.lacks_work || recorded.lacks_work;
  std::vector<Trace> both;
  both.push_back(std::move(profile));
  both.push_back(std::move(recorded));
  profile = merge_traces(std::move(both));
}

}  // namespace ridgeline::trace
