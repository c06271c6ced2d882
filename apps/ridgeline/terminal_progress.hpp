// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "campaign/tune/tune_campaign.hpp"
#include "execute/calls.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

/// What a run does, on standard error: in a terminal a block that is redrawn (bar, trial now running, best so far, time
/// left), elsewhere one line a trial. Everything is written from the campaign's thread, between timed inferences of
/// another process.
class TerminalProgress final : public campaign::CampaignObserver {
 public:
  /// verbosity: -1 quiet, 0 normal, 1 every trial also in a terminal, 2 with reasons.
  TerminalProgress(Terminal terminal, int verbosity, schema::Objective objective);
  ~TerminalProgress() override;

  void environment_ready(const schema::TuneRun& run) override;
  void model_ready(const schema::TuneRun& run) override;
  /// Every trial is run with this batch, whatever the shapes of one sample say.
  void run_with_batch(std::int64_t batch) { batch_ = batch; }
  void space_ready(const schema::TuneRun& run, const campaign::TimeForecast& time) override;
  void forecast_changed(const campaign::RunForecast& forecast) override;
  void run_ended(const schema::TuneRun& run) override;
  void stage(std::string_view title) override;
  void trial_started(const schema::TunedTrial& trial, std::size_t remaining) override;
  void trial_finished(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) override;
  void trial_taken_again(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) override;
  void pair_finished(const schema::TunedPair& pair) override;
  void note(const schema::Message& message) override;

  /// For WorkerOptions::on_progress.
  void on_progress(const execute::JobProgress& progress);
  /// Removes the block; what follows is printed on clean ground.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  struct Figure {
    double cost = 0;  ///< lower is better
    std::string text;
  };
  [[nodiscard]] const Figure* best_figure() const;
  void line(std::string_view text);
  void trial_line(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome, std::string remark);
  void fact(std::string_view name, std::string_view text);
  void draw(bool forced);
  void erase();
  [[nodiscard]] std::string headline() const;

  Terminal terminal_;
  int verbosity_;
  std::optional<std::int64_t> batch_;
  schema::Objective objective_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> drawn_;
  int drawn_lines_ = 0;
  std::size_t finished_ = 0;
  std::size_t counter_width_ = 8;  ///< of "[  1/99]"; the most so far, as the number planned may lose a digit
  std::size_t measured_ = 0;
  std::size_t cached_ = 0;
  std::size_t failed_ = 0;
  std::size_t remaining_ = 0;
  double end_s_ = 0;  ///< of the run, by the latest forecast
  std::string stage_;
  std::string now_;
  std::string phase_;
  std::map<int, Figure> figures_;  ///< of each trial that ran to the end, the latest
};

}  // namespace ridgeline::app
