// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/budget.hpp"
#include "campaign/interference_check.hpp"
#include "execute/calls.hpp"

namespace ridgeline::campaign {

/// Spreads the trials of one run over the slots of its executor, once a check has shown that they may measure side by
/// side. For trials that take as long as a whole command or training; see TrialRunner for inference.
class Spread {
 public:
  /// What the check runs.
  struct Check {
    std::function<execute::Job(std::size_t slot)> job;  ///< the same work each time
    /// Lower is better; nullopt: the work failed.
    std::function<base::Result<std::optional<double>>(const execute::JobAnswer& answer)> cost;
  };
  /// What one kind of trial does at each step.
  template <typename Trial>
  struct Steps {
    using Outcome = decltype(Trial::outcome);
    /// Begins the trial, the n-th of its batch; its outcome where that is known already.
    std::function<base::Result<std::optional<Outcome>>(Trial&, std::size_t n)> begin;
    std::function<execute::Job(Trial&, std::size_t slot)> job;
    std::function<base::Result<void>(Trial&, const execute::JobAnswer&)> keep;  ///< reads the outcome and stores it
    std::function<base::Result<void>(Trial)> finish;                            ///< in the order of the batch
  };

  /// Both must outlive the spread.
  Spread(execute::Executor& executor, const Budget& budget, Check check)
      : executor_(executor), budget_(budget), check_(std::move(check)) {}

  /// How many trials are worth giving to one round, at least 1.
  [[nodiscard]] std::size_t width() const { return found_ ? found_->slots.size() : executor_.slots().size(); }

  /// What the check found; empty: it has not been made.
  [[nodiscard]] schema::Message note() const { return found_ ? found_->note : schema::Message(); }

  /// Makes the trials, side by side where the slots allow it, and returns their outcomes in order. `ahead`: how many
  /// trials are likely to follow. Errors end the run, after the trials before the first that was not made have been
  /// finished.
  template <typename Trial>
  [[nodiscard]] base::Result<std::vector<decltype(Trial::outcome)>> make(std::vector<Trial> trials, std::size_t ahead,
                                                                         const Steps<Trial>& steps) {
    std::vector<Trial*> open;  // not known yet
    for (auto& trial : trials) {
      RL_TRY_ASSIGN(auto known, steps.begin(trial, static_cast<std::size_t>(&trial - trials.data())));
      if (known)
        trial.outcome = std::move(*known);
      else
        open.push_back(&trial);
    }
    const auto measured = measure(open, ahead, steps);
    std::vector<decltype(Trial::outcome)> outcomes;
    for (auto& trial : trials) {
      if (std::find(open.begin(), open.end(), &trial) != open.end()) break;
      outcomes.push_back(trial.outcome);
      RL_TRY(steps.finish(std::move(trial)));
    }
    if (!measured) return tl::unexpected<base::Error>(measured.error());
    return outcomes;
  }

 private:
  /// The slots for `open` trials that wait now and `ahead` that are likely to follow. A check takes about two trials
  /// more than there are slots, so few trials are not worth one. Errors: those of the check.
  [[nodiscard]] base::Result<std::vector<std::size_t>> slots(std::size_t open, std::size_t ahead);

  /// Takes the trials that were measured off the list.
  template <typename Trial>
  [[nodiscard]] base::Result<void> measure(std::vector<Trial*>& open, std::size_t ahead, const Steps<Trial>& steps) {
    RL_TRY_ASSIGN(const auto slots, this->slots(open.size(), ahead));
    while (!open.empty()) {
      std::vector<execute::Job> jobs;
      for (std::size_t i = 0; i < std::min(open.size(), slots.size()); ++i) {
        open[i]->started_s = budget_.elapsed_s();
        jobs.push_back(steps.job(*open[i], slots[i]));
      }
      base::Result<void> status;
      const auto answers = execute::run_jobs(executor_, std::move(jobs));
      for (std::size_t i = 0; i < answers.size(); ++i) {
        auto& trial = *open[i];
        auto kept = answers[i].and_then([&](const execute::JobAnswer& answer) { return steps.keep(trial, answer); });
        if (kept)
          open[i] = nullptr;
        else if (status)
          status = std::move(kept);
      }
      std::erase(open, nullptr);
      RL_TRY(status);
    }
    return {};
  }

  execute::Executor& executor_;
  const Budget& budget_;
  Check check_;
  std::optional<Interference> found_;
};

}  // namespace ridgeline::campaign
