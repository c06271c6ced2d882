// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "schema/measurement.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

enum class TrialStatus {
  ok,
  failed,   ///< the runtime reported an error that fits no other class
  timeout,  ///< the deadline passed, or no progress for too long
  crashed,  ///< the worker died by a signal or an unexpected exit
  out_of_memory,
  unsupported,        ///< an operator, type or opset that this runtime cannot run
  rejected_accuracy,  ///< ran, but the output error was past the tolerance
  invalid,            ///< the configuration itself is illegal for this runtime
};

enum class TrialPhase { launch, load_runtime, create_session, warmup, measure, verify };

/// Why a trial is not ok. Data, not an Error: every cause is recorded.
struct Failure {
  TrialPhase phase = TrialPhase::launch;
  Message message;  ///< what happened, and what to do next
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::string stderr_tail;                      ///< the worker's last output, at most 4 KiB
  std::optional<std::int64_t> requested_bytes;  ///< of the allocation that failed, where it is known
  std::optional<GpuTelemetry> gpu{};  ///< as far as the trial got; nullopt: not watched, or the worker died over it
  std::vector<QualityFlag> flags{};   ///< of a trial that has no measurement
};

struct TrialOutcome {
  TrialStatus status = TrialStatus::ok;
  std::optional<Measurement> measurement;   ///< set when ok or rejected_accuracy
  std::optional<OutputError> output_error;  ///< set when outputs were compared
  std::optional<Failure> failure;           ///< set unless ok
  std::string measured_utc;
  double duration_s = 0;  ///< whole trial, start to end, as the parent saw it
};

struct PairedOutcome {
  TrialStatus status = TrialStatus::ok;
  std::optional<PairedMeasurement> measurement;
  std::optional<Failure> failure;
  std::string measured_utc;
  double duration_s = 0;
};

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::TrialStatus> {
  using enum schema::TrialStatus;
  static constexpr std::array names{std::pair{ok, "ok"},
                                    std::pair{failed, "failed"},
                                    std::pair{timeout, "timeout"},
                                    std::pair{crashed, "crashed"},
                                    std::pair{out_of_memory, "out_of_memory"},
                                    std::pair{unsupported, "unsupported"},
                                    std::pair{rejected_accuracy, "rejected_accuracy"},
                                    std::pair{invalid, "invalid"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::TrialPhase> {
  using enum schema::TrialPhase;
  static constexpr std::array names{
      std::pair{launch, "launch"}, std::pair{load_runtime, "load_runtime"}, std::pair{create_session, "create_session"},
      std::pair{warmup, "warmup"}, std::pair{measure, "measure"},           std::pair{verify, "verify"}};
};

namespace ridgeline::schema {

/// Without `gpu` and `flags` where there are none, as before there were any.
void to_json(base::Json& out, const Failure& failure);
void from_json(const base::Json& in, Failure& failure);
RL_DECLARE_JSON(TrialOutcome)
RL_DECLARE_JSON(PairedOutcome)

/// To the measurement's flags of a trial or pair, or else to its failure's.
template <typename Outcome>
void add_flag(Outcome& outcome, QualityFlag flag) {
  if (outcome.measurement)
    outcome.measurement->flags.push_back(std::move(flag));
  else if (outcome.failure)
    outcome.failure->flags.push_back(std::move(flag));
}

}  // namespace ridgeline::schema
