// SPDX-License-Identifier: Apache-2.0
#include "campaign/interference_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "campaign/messages.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

// Two sessions of equal GPUs differ by more than the limit in 14 to 49 % of cases (1.4 to 3 % from session to session,
// see decision_maker.cpp). So these are distinguished in up to 5 %, and GPUs 10 % apart are not in up to 7 %
// (benchmarks/results/session_scatter.md).
constexpr std::size_t kFewSessions = 3;   // decide when they agree
constexpr std::size_t kMostSessions = 7;  // else the median, of so many at most
constexpr double kShareOfTime = 0.25;     // of what is left, after which nothing is looked at again

/// A slot and what its sessions showed, one after another: by how much their value is above that of slot 0's, and above
/// their own when the others are at work. HUGE_VAL: the trial failed or measured nothing.
struct Slot {
  std::size_t number = 0;
  std::vector<double> paces;
  std::vector<double> slowdowns;
};

struct Seen {
  Slot* slot = nullptr;
  double pace = HUGE_VAL;
  double slowdown = HUGE_VAL;
};

bool is_past(double deviation) { return std::abs(deviation) > Interference::kMost; }

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

/// Where a figure is the median of several.
std::optional<std::int64_t> sessions_of(const std::vector<double>& values) {
  return values.size() > 1 ? std::optional(static_cast<std::int64_t>(values.size())) : std::nullopt;
}

class Check {
  using Why = messages::OneAfterAnotherWhy;

 public:
  explicit Check(const InterferenceProbe& probe) : probe_(probe) {
    for (std::size_t number = 0; number < probe_.devices.size(); ++number) {
      const auto why = number < probe_.unlike.size() ? probe_.unlike[number] : schema::Message();
      if (why.empty())
        slots_.push_back({number, {}, {}});
      else
        about_paces_.push_back(messages::gpu_left_out({.device = probe_.devices[number], .why = why}));
    }
  }

  Result<Interference> run() {
    Interference found;
    if (slots_.size() < 2) {
      if (!about_paces_.empty()) found.note = messages::one_gpu(about_paces_);
      return found;
    }
    std::vector<Slot*> slots;
    for (auto& slot : slots_) slots.push_back(&slot);
    RL_TRY_ASSIGN(const auto seen, look(slots));
    for (const auto& [slot, pace, slowdown] : seen) {
      slot->paces.push_back(pace);
      slot->slowdowns.push_back(slowdown);
    }
    RL_TRY(compare_paces());
    leave_out(slots);
    if (slots.size() > 1) RL_TRY(compare_slowdowns(slots));
    if (fails_)
      found.note = messages::one_after_another({.why = Why::fails});
    else if (slots.size() < 2)
      found.note = messages::one_gpu(about_paces_);
    else
      conclude(slots, found);
    return found;
  }

 private:
  [[nodiscard]] const std::string& device_of(const Slot& slot) const { return probe_.devices[slot.number]; }

  Result<std::vector<std::optional<double>>> costs(const std::vector<Slot*>& slots, bool keep) {
    std::vector<std::size_t> numbers;
    for (const auto* slot : slots) numbers.push_back(slot->number);
    const auto begun = probe_.clock->now();
    auto found = probe_.time(numbers, keep);
    spent_s_ += base::to_seconds(probe_.clock->now() - begun);
    return found;
  }

  /// A new session of each of these slots, first slot 0: alone, then all at once. With the same session on both sides
  /// what sets sessions apart is no slow-down, and nobody makes one while others are timed. Nothing, and fails_, where
  /// slot 0 fails.
  Result<std::vector<Seen>> look(const std::vector<Slot*>& slots) {
    std::vector<Slot*> made;
    std::vector<double> alone;
    std::vector<Seen> seen;
    for (auto* slot : slots) {
      auto cost = costs({slot}, true);
      if (!cost) {
        // The next trial must not find a session here; what comes of this says no more than the error.
        if (!made.empty()) static_cast<void>(costs(made, false));
        return tl::unexpected<base::Error>(std::move(cost).error());
      }
      if (!cost->front()) {
        fails_ = made.empty();
        if (fails_) return seen;
        seen.push_back({slot});
        continue;
      }
      made.push_back(slot);
      alone.push_back(*cost->front());
    }
    RL_TRY_ASSIGN(const auto beside, costs(made, false));
    for (std::size_t i = 0; i < made.size(); ++i)
      seen.push_back(
          {made[i], alone[i] / alone.front() - 1, beside[i] ? std::max(0.0, *beside[i] / alone[i] - 1) : HUGE_VAL});
    return seen;
  }

  [[nodiscard]] bool has_time() const { return spent_s_ < kShareOfTime * probe_.left_s(); }

  /// Goes on until the pace of every slot is known as well as it needs to be.
  Result<void> compare_paces() {
    for (;;) {
      std::vector<Slot*> doubtful{&slots_.front()};
      for (std::size_t i = 1; i < slots_.size(); ++i)
        if (is_open(slots_[i].paces)) doubtful.push_back(&slots_[i]);
      if (fails_ || doubtful.size() < 2 || !has_time()) return {};
      RL_TRY_ASSIGN(const auto seen, look(doubtful));
      for (const auto& [slot, pace, slowdown] : seen)
        if (slot != doubtful.front()) slot->paces.push_back(pace);
    }
  }

  /// Takes out those of another pace, and the slow-downs that they had a part in.
  void leave_out(std::vector<Slot*>& slots) {
    if (fails_) return;
    bool changed = false;
    const auto is_other = [&](const Slot* slot) {
      if (slot == &slots_.front()) return false;
      const auto sessions = sessions_of(slot->paces);
      const double pace = level(slot->paces);
      if (!is_past(pace)) {
        if (sessions) about_paces_.push_back(messages::same_pace({.device = device_of(*slot), .sessions = sessions}));
        return false;
      }
      about_paces_.push_back(messages::gpu_left_out(
          {.device = device_of(*slot),
           .why = std::isinf(pace) ? messages::defaults_do_not_run_there()
                                   : messages::takes_times_as_long({.times = 1 + pace, .sessions = sessions})}));
      changed = changed || !std::isinf(slot->paces.front());
      return true;
    };
    std::erase_if(slots, is_other);
    if (!changed) return;
    for (auto* slot : slots) slot->slowdowns.clear();
  }

  /// Goes on until it is known whether any of these slows another down.
  Result<void> compare_slowdowns(const std::vector<Slot*>& slots) {
    for (;;) {
      const bool unknown = slots.front()->slowdowns.empty();
      const bool failed =
          std::any_of(slots.begin(), slots.end(), [](const Slot* slot) { return std::isinf(level(slot->slowdowns)); });
      const bool open =
          std::any_of(slots.begin(), slots.end(), [](const Slot* slot) { return is_open(slot->slowdowns); });
      if (fails_ || failed || (!unknown && !(open && has_time()))) return {};
      RL_TRY_ASSIGN(const auto seen, look(slots));
      for (const auto& [slot, pace, slowdown] : seen) slot->slowdowns.push_back(slowdown);
    }
  }

  void conclude(const std::vector<Slot*>& slots, Interference& found) const {
    const auto* worst = *std::max_element(slots.begin(), slots.end(), [](const Slot* a, const Slot* b) {
      return level(a->slowdowns) < level(b->slowdowns);
    });
    const double slowdown = level(worst->slowdowns);
    const auto& device = device_of(*worst);
    const auto sessions = sessions_of(worst->slowdowns);
    if (std::isinf(slowdown)) {
      found.note = messages::one_after_another({.why = Why::beside, .device = device, .paces = about_paces_});
    } else if (is_past(slowdown)) {
      found.note = messages::one_after_another({.why = Why::slower,
                                                .device = device,
                                                .slower = slowdown,
                                                .limit = Interference::kMost,
                                                .sessions = sessions,
                                                .paces = about_paces_});
    } else {
      found.slots.clear();
      for (const auto* slot : slots) found.slots.push_back(slot->number);
      found.note = messages::spread_over_gpus({.gpus = static_cast<std::int64_t>(slots.size()),
                                               .slower = slowdown,
                                               .sessions = sessions,
                                               .paces = about_paces_});
    }
  }

  const InterferenceProbe& probe_;
  std::vector<Slot> slots_;
  std::vector<schema::Message> about_paces_;  ///< of the note
  double spent_s_ = 0;
  bool fails_ = false;  ///< the trial on slot 0
};

}  // namespace

Result<Interference> check_interference(const InterferenceProbe& probe) { return Check(probe).run(); }

}  // namespace ridgeline::campaign
