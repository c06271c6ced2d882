// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "analysis/machine_speed.hpp"
#include "campaign/tune/trial_runner.hpp"

namespace ridgeline::campaign {

/// Times the reference configuration again now and then, on every device slot, and says from it how fast the machine
/// was at any moment of the run. Readings are a small share of the run's time while the machine is even, and stand
/// before and after every trial while it is not.
class SpeedWatch : private RunPart {
 public:
  static constexpr double kSlow = 0.25;        ///< log of the slow-down from which a stretch counts as slow
  static constexpr double kLongestWaitS = 45;  ///< for one slow stretch to end

  /// From now on the runner's limits are scaled by the machine's speed; it has to outlive the watch, and makes no trial
  /// after it.
  SpeedWatch(RunContext& context, TrialRunner& runner) : RunPart(context), runner_(runner) {
    runner.set_allowance([this](const std::string& device) { return allowance(device); });
  }
  SpeedWatch(const SpeedWatch&) = delete;
  SpeedWatch& operator=(const SpeedWatch&) = delete;

  /// From the first trial that went well on: its configuration is the reference, its time the first reading. Not where
  /// that would mislead: calls that may be compiled, on a GPU. A trial that keeps more CPUs busy and is no slower takes
  /// the reference's place, and readings begin anew: one thread does not feel that another processor is taken away. One
  /// that is slower may have been measured while it was, so that the next readings time it too.
  void begin(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome);
  [[nodiscard]] bool begun() const noexcept { return result_.run.speed.has_value(); }

  /// Counts the references so far: ratios to an earlier one mean nothing any more.
  [[nodiscard]] int reference_number() const noexcept { return reference_number_; }

  /// Seconds that a reading takes.
  [[nodiscard]] double reading_s() const noexcept { return reading_s_; }
  /// Whether it is time for a reading.
  [[nodiscard]] bool is_due() const;
  /// Whether the machine may have changed since the latest one.
  [[nodiscard]] bool is_stale() const;
  /// Whether one was taken so lately that another would say nothing new.
  [[nodiscard]] bool is_fresh() const;
  /// One reading a slot. Errors: those of the executor; a reference that fails now, or has no time left, is no error
  /// and says nothing.
  [[nodiscard]] base::Result<void> read();
  /// A reading that came about otherwise, of arm A of a comparison with the reference.
  void add(const std::string& device, const schema::SpeedReading& reading);

  /// The latest readings differ by more than they are off.
  [[nodiscard]] bool is_unsteady() const;
  /// At the latest reading the machine was so much slower than at its quietest that whatever slows it may hit some
  /// configurations more than others (a process on one of two cores hurts two threads, not one).
  [[nodiscard]] bool is_slow_now() const { return slowdown_now() > kSlow; }
  /// In log, of the slowest slot at its latest reading.
  [[nodiscard]] double slowdown_now() const;
  /// In log, of the slowest moment so far.
  [[nodiscard]] double largest_slowdown() const;
  /// Reads until that is over, for `most_s` at most. Seconds that it took.
  [[nodiscard]] base::Result<double> wait_for_quiet(double most_s);

  /// Seconds that waiting and measuring again may take in any run, of the search and of its comparisons each: in line
  /// with how long the trials are.
  [[nodiscard]] double least_extra_s() const;
  /// Seconds that they may still take in the search, so that an uneven machine makes it no more than twice as long,
  /// short ones apart.
  [[nodiscard]] double extra_left_s() const;
  /// So many seconds went into that.
  void spend_extra(double seconds) noexcept { extra_s_ += seconds; }

  /// At no moment so far was the machine notably slower or faster than on the quiet machine.
  [[nodiscard]] bool is_even() const;

  /// By how much, in log, everything took longer at that moment than on the quiet machine, and the standard error of
  /// that; nullopt without readings of the device.
  struct Slowdown {
    double log = 0;
    double error = 0;
  };
  [[nodiscard]] std::optional<Slowdown> at(const std::string& device, double at_s) const;
  /// Cost of the reference on the quiet machine, in ns.
  [[nodiscard]] double quiet_cost(const std::string& device) const;
  /// The same of the device on which it is lowest; infinite before any reading.
  [[nodiscard]] double lowest_quiet_cost() const;
  /// Standard error of its log, of all readings that found it together; at least what a session's own chance makes.
  [[nodiscard]] double quiet_error(const std::string& device) const;
  /// By what a limit for quiet times is to be multiplied now, so that nothing is given up that may be within it.
  [[nodiscard]] double allowance(const std::string& device) const;

 private:
  /// A configuration that keeps more CPUs busy than the reference and was slower when it was tried.
  struct Wider {
    schema::Configuration configuration;
    std::vector<schema::SpeedTrack> tracks;
    int probes = 0;
  };
  /// From now on that is the reference.
  void refer_to(const schema::Configuration& configuration, std::vector<schema::SpeedTrack> tracks);
  /// Times the wider configuration, which becomes the reference once it is no slower.
  [[nodiscard]] base::Result<void> probe_wider();

  TrialRunner& runner_;
  std::map<std::string, analysis::MachineSpeed> curves_;  ///< by device
  std::optional<Wider> wider_;
  int reference_number_ = 0;
  double extra_s_ = 0;    ///< waiting and measuring again
  double last_s_ = 0;     ///< when the latest reading ended
  double reading_s_ = 0;  ///< what one takes, on all slots side by side
};

}  // namespace ridgeline::campaign
