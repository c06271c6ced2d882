// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/neighbour_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/summary.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

// Two sessions of equal GPUs differ by more than the limit in 14 to 49 % of cases (1.4 to 3 % from session to session,
// see decision_maker.cpp). So these are told apart in up to 5 %, and GPUs 10 % apart are not in up to 7 %
// (benchmarks/results/session_scatter.md).
constexpr std::size_t kFewSessions = 3;   // decide when they agree
constexpr std::size_t kMostSessions = 7;  // else the median, of so many at most
constexpr double kTimedS = 1;             // of windows that begin at about the same time most is shared then
constexpr double kShareOfTime = 0.25;     // of what is left, after which nothing is looked at again

/// A lane and what its sessions showed, one after another: by how much their value is above that of lane 0's, and above
/// their own when the others are at work. HUGE_VAL: the trial failed or measured nothing.
struct Lane {
  execute::TrialJob job;
  std::vector<double> paces;
  std::vector<double> slowdowns;
};

struct Seen {
  Lane* lane = nullptr;
  double pace = HUGE_VAL;
  double slowdown = HUGE_VAL;
};

bool is_past(double deviation) { return std::abs(deviation) > Neighbours::kMostDisturbance; }

/// What the sessions say together.
double level(const std::vector<double>& deviations) {
  const bool failed = std::any_of(deviations.begin(), deviations.end(), [](double d) { return std::isinf(d); });
  return failed ? HUGE_VAL : stats::quantile(deviations, 0.5);
}

/// Whether another session may change the answer. What is within the limit at once is not doubted, so that the usual
/// check is a quick one; what is not needs more than a session or two that happen to be slow.
bool is_open(const std::vector<double>& deviations) {
  const auto count = deviations.size();
  const double middle = level(deviations);
  if (count == 0 || std::isinf(middle)) return false;
  if (count == 2) return true;
  if (!is_past(middle)) return false;
  const bool agree = std::all_of(deviations.begin(), deviations.end(),
                                 [&](double d) { return is_past(d) && (d > 0) == (middle > 0); });
  return count < (agree ? kFewSessions : kMostSessions);
}

std::string of_sessions(std::size_t count) { return count > 1 ? fmt::format("median of {} sessions", count) : ""; }
std::string in_brackets(const std::string& text) { return text.empty() ? text : " (" + text + ")"; }

class Check {
 public:
  Check(execute::Executor& executor, const std::vector<schema::TrialSpec>& specs, schema::Objective objective,
        const std::function<execute::TimeLeft()>& time_left)
      : executor_(executor), objective_(objective), time_left_(time_left) {
    for (const auto& spec : specs) {
      auto& job = lanes_.emplace_back().job;
      job.slot = lanes_.size() - 1;
      job.spec = spec;
      job.spec.plan.runs.reset();
      job.spec.plan.min_time_s = std::max(job.spec.plan.min_time_s, kTimedS);
      job.spec.plan.max_time_s = std::max(job.spec.plan.max_time_s, job.spec.plan.min_time_s);
      job.options.throughput = objective == schema::Objective::throughput;
    }
  }

  Result<Neighbours> run() {
    Neighbours found;
    if (lanes_.size() < 2) return found;
    std::vector<Lane*> lanes;
    for (auto& lane : lanes_) lanes.push_back(&lane);
    RL_TRY_ASSIGN(const auto seen, look(lanes));
    for (const auto& [lane, pace, slowdown] : seen) {
      lane->paces.push_back(pace);
      lane->slowdowns.push_back(slowdown);
    }
    RL_TRY(compare_paces());
    leave_out(lanes);
    if (lanes.size() > 1) RL_TRY(compare_slowdowns(lanes));
    if (fails_)
      found.note = "trials run one after another: the defaults do not run, so what GPUs do to each other is unknown";
    else if (lanes.size() < 2)
      found.note = "trials run on one GPU" + about_paces_;
    else
      conclude(lanes, found);
    return found;
  }

 private:
  /// nullopt: the trial failed or measured nothing.
  [[nodiscard]] std::optional<double> cost_of(const schema::TrialOutcome& outcome) const {
    if (outcome.status != schema::TrialStatus::ok || !outcome.measurement || outcome.measurement->latency_ns.empty())
      return std::nullopt;
    return analysis::cost_of(*outcome.measurement, objective_).value;
  }

  /// One trial on each at once; their sessions are kept for the next.
  Result<std::vector<std::optional<double>>> costs(const std::vector<Lane*>& lanes, bool keep) {
    std::vector<execute::TrialJob> jobs;
    for (const auto* lane : lanes) {
      auto& job = jobs.emplace_back(lane->job);
      job.options.keep_session = keep;
      job.options.time_left = time_left_();
    }
    std::vector<std::optional<double>> found;
    double longest_s = 0;
    for (auto& outcome : execute::run_trials(executor_, jobs)) {
      if (!outcome) return tl::unexpected<base::Error>(std::move(outcome).error());
      found.push_back(cost_of(*outcome));
      longest_s = std::max(longest_s, outcome->duration_s);
    }
    spent_s_ += longest_s;
    return found;
  }

  /// A new session of each of these lanes, first lane 0: alone, then all at once. With the same session on both sides
  /// what sets sessions apart is no slow-down, and nobody makes one while others are timed. Nothing, and fails_, where
  /// lane 0 fails.
  Result<std::vector<Seen>> look(const std::vector<Lane*>& lanes) {
    std::vector<Lane*> made;
    std::vector<double> alone;
    std::vector<Seen> seen;
    for (auto* lane : lanes) {
      auto cost = costs({lane}, true);
      if (!cost) {
        // The next trial must not find a session here; what comes of this says no more than the error.
        if (!made.empty()) static_cast<void>(costs(made, false));
        return tl::unexpected<base::Error>(std::move(cost).error());
      }
      if (!cost->front()) {
        fails_ = made.empty();
        if (fails_) return seen;
        seen.push_back({lane});
        continue;
      }
      made.push_back(lane);
      alone.push_back(*cost->front());
    }
    RL_TRY_ASSIGN(const auto beside, costs(made, false));
    for (std::size_t i = 0; i < made.size(); ++i)
      seen.push_back(
          {made[i], alone[i] / alone.front() - 1, beside[i] ? std::max(0.0, *beside[i] / alone[i] - 1) : HUGE_VAL});
    return seen;
  }

  [[nodiscard]] bool has_time() const { return spent_s_ < kShareOfTime * time_left_().seconds; }

  /// Goes on until the pace of every lane is known as well as it needs to be.
  Result<void> compare_paces() {
    for (;;) {
      std::vector<Lane*> doubtful{&lanes_.front()};
      for (std::size_t i = 1; i < lanes_.size(); ++i)
        if (is_open(lanes_[i].paces)) doubtful.push_back(&lanes_[i]);
      if (fails_ || doubtful.size() < 2 || !has_time()) return {};
      RL_TRY_ASSIGN(const auto seen, look(doubtful));
      for (const auto& [lane, pace, slowdown] : seen)
        if (lane != doubtful.front()) lane->paces.push_back(pace);
    }
  }

  /// Takes out those of another pace, and the slow-downs that they had a part in.
  void leave_out(std::vector<Lane*>& lanes) {
    if (fails_) return;
    bool changed = false;
    const auto is_other = [&](const Lane* lane) {
      if (lane == &lanes_.front()) return false;
      const auto sessions = in_brackets(of_sessions(lane->paces.size()));
      const double pace = level(lane->paces);
      if (!is_past(pace)) {
        if (!sessions.empty())
          about_paces_ += fmt::format("; {} is of the same pace{}", lane->job.spec.device, sessions);
        return false;
      }
      about_paces_ +=
          fmt::format("; {} is left out: {}", lane->job.spec.device,
                      std::isinf(pace) ? "the defaults do not run there"
                                       : fmt::format("alone it takes {:.3g} times as long{}", 1 + pace, sessions));
      changed = changed || !std::isinf(lane->paces.front());
      return true;
    };
    std::erase_if(lanes, is_other);
    if (!changed) return;
    for (auto* lane : lanes) lane->slowdowns.clear();
  }

  /// Goes on until it is known whether any of these slows another down.
  Result<void> compare_slowdowns(const std::vector<Lane*>& lanes) {
    for (;;) {
      const bool unknown = lanes.front()->slowdowns.empty();
      const bool failed =
          std::any_of(lanes.begin(), lanes.end(), [](const Lane* lane) { return std::isinf(level(lane->slowdowns)); });
      const bool open =
          std::any_of(lanes.begin(), lanes.end(), [](const Lane* lane) { return is_open(lane->slowdowns); });
      if (fails_ || failed || (!unknown && !(open && has_time()))) return {};
      RL_TRY_ASSIGN(const auto seen, look(lanes));
      for (const auto& [lane, pace, slowdown] : seen) lane->slowdowns.push_back(slowdown);
    }
  }

  void conclude(const std::vector<Lane*>& lanes, Neighbours& found) const {
    const auto* worst = *std::max_element(lanes.begin(), lanes.end(), [](const Lane* a, const Lane* b) {
      return level(a->slowdowns) < level(b->slowdowns);
    });
    const double slowdown = level(worst->slowdowns);
    const auto& device = worst->job.spec.device;
    const auto sessions = of_sessions(worst->slowdowns.size());
    if (std::isinf(slowdown)) {
      found.note = fmt::format("trials run one after another: the defaults do not run on {} beside the others{}",
                               device, about_paces_);
    } else if (is_past(slowdown)) {
      found.note = fmt::format(
          "trials run one after another: {} is {:.1f} % slower when the others are at work (limit {:g} %{}{}){}",
          device, 100 * slowdown, 100 * Neighbours::kMostDisturbance, sessions.empty() ? "" : "; ", sessions,
          about_paces_);
    } else {
      found.lanes.clear();
      for (const auto* lane : lanes) found.lanes.push_back(lane->job.slot);
      found.note = fmt::format("trials are spread over {} GPUs, which slow each other down by at most {:.1f} %{}{}",
                               lanes.size(), 100 * slowdown, in_brackets(sessions), about_paces_);
    }
  }

  execute::Executor& executor_;
  schema::Objective objective_;
  const std::function<execute::TimeLeft()>& time_left_;
  std::vector<Lane> lanes_;
  std::string about_paces_;  ///< of the note
  double spent_s_ = 0;
  bool fails_ = false;  ///< the trial on lane 0
};

}  // namespace

Result<Neighbours> check_neighbours(execute::Executor& executor, const std::vector<schema::TrialSpec>& specs,
                                    schema::Objective objective, const std::function<execute::TimeLeft()>& time_left) {
  return Check(executor, specs, objective, time_left).run();
}

}  // namespace ridgeline::campaign
