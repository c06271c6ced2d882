// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/first_calls.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/analysis/program_place.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kLeastGaps = 3;  // in a trace without steps, before they are no first calls
constexpr double kLeastWarmUp = 0.01;   // of the time, before it is worth a word

/// How often something held launches up, and when.
struct Recurrence {
  std::int64_t gaps = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  Place first_step = kNowhere;
  Place last_step = kNowhere;
};

class FirstCalls {
 public:
  explicit FirstCalls(const AnalysedTrace& analysed) : analysed_(analysed) {
    for (const auto& gap : analysed.gaps) {
      if (!may_be_first(gap)) continue;
      auto& seen = seen_[key_of(gap)];
      ++seen.gaps;
      seen.first_ns = std::min(seen.first_ns, gap.start_ns);
      seen.last_ns = std::max(seen.last_ns, gap.end_ns);
      const auto step = step_of(gap);
      if (step == kNowhere) continue;
      seen.first_step = seen.first_step == kNowhere ? step : std::min(seen.first_step, step);
      seen.last_step = seen.last_step == kNowhere ? step : std::max(seen.last_step, step);
    }
  }

  [[nodiscard]] bool is_first(const Gap& gap) const {
    if (!may_be_first(gap)) return false;
    const auto& seen = seen_.at(key_of(gap));
    const auto steps = analysed_.steps.steps.size();
    if (steps >= 2 && seen.last_step != kNowhere) return seen.last_step < steps / 2;
    if (gap.before_first_launch) return true;
    const auto& time = analysed_.observed.at({gap.process, gap.device});
    return seen.gaps < kLeastGaps || (seen.last_ns - seen.first_ns) * 2 < time.last_work_ns - time.first_work_ns;
  }

 private:
  static bool may_be_first(const Gap& gap) {
    return gap.cause == schema::IdleCause::allocation || gap.cause == schema::IdleCause::compilation;
  }
  /// Steps show which of the calls come again.
  using Key = std::pair<schema::IdleCause, std::string>;
  [[nodiscard]] Key key_of(const Gap& gap) const {
    return {gap.cause, analysed_.steps.steps.size() >= 2 ? name_of_blocker(analysed_, gap.blocker) : std::string()};
  }
  [[nodiscard]] Place step_of(const Gap& gap) const {
    const auto& by = gap.blocker;
    return analysed_.steps.at(by.call != kNowhere    ? analysed_.trace.calls.start_ns[by.call]
                              : by.range != kNowhere ? analysed_.trace.ranges.start_ns[by.range]
                                                     : gap.start_ns);
  }

  const AnalysedTrace& analysed_;
  std::map<Key, Recurrence> seen_;
};

}  // namespace

std::vector<bool> first_calls(const AnalysedTrace& analysed) {
  const FirstCalls found(analysed);
  std::vector<bool> out;
  out.reserve(analysed.gaps.size());
  for (const auto& gap : analysed.gaps) out.push_back(found.is_first(gap));
  return out;
}

schema::Message missing_warm_up(const AnalysedTrace& analysed) {
  const auto first = first_calls(analysed);
  std::map<std::string, std::int64_t> names;
  std::int64_t sum_ns = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!first[i]) continue;
    const auto& gap = analysed.gaps[i];
    sum_ns += gap.duration_ns();
    names[name_of_blocker(analysed, gap.blocker)] += gap.duration_ns();
  }
  std::int64_t span_ns = 0;
  for (const auto& [device, time] : analysed.observed) span_ns += time.span_ns();
  if (sum_ns == 0 || static_cast<double>(sum_ns) < kLeastWarmUp * static_cast<double>(span_ns)) return {};
  const auto longest =
      std::max_element(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (analysed.trace.of_recorder)
    return messages::no_warm_up_recorded({.time = static_cast<double>(sum_ns), .name = longest->first});
  return messages::no_warm_up({.time = static_cast<double>(sum_ns), .name = longest->first});
}

}  // namespace ridgeline::trace
