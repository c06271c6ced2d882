// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "schema/trial_outcome.hpp"

namespace ridgeline::execute {

/// What a job gets of the time of the whole run. One that has no answer by then ends with ErrorCode::out_of_time,
/// which is no statement about it: once `seconds` have passed as soon as nothing moves in it, after `grace_s` more in
/// any case, so that ordinary work may end.
struct TimeLeft {
  double seconds = std::numeric_limits<double>::infinity();
  double grace_s = 0;
};

/// The kinds of job that Ridgeline knows. A kind has two ends: a typed call (execute/calls.hpp), and whatever answers
/// it: a method of WorkerRequests, or a JobHandler for what needs no worker.
namespace job_kind {
inline constexpr std::string_view kFind = "find";                ///< which runtimes there are
inline constexpr std::string_view kProbe = "probe";              ///< which runtime is loaded
inline constexpr std::string_view kInspect = "inspect";          ///< what a model is
inline constexpr std::string_view kExport = "export";            ///< the model as ONNX files
inline constexpr std::string_view kTrial = "trial";              ///< one configuration, timed
inline constexpr std::string_view kAhead = "ahead";              ///< trials to prepare before their turn
inline constexpr std::string_view kPair = "pair";                ///< two configurations, compared
inline constexpr std::string_view kArm = "arm";                  ///< one side of a pair over two processes
inline constexpr std::string_view kReference = "reference";      ///< outputs that others are compared with
inline constexpr std::string_view kCeilings = "ceilings";        ///< what a GPU reaches at best
inline constexpr std::string_view kGraph = "graph";              ///< what the runtime makes of a model
inline constexpr std::string_view kProfile = "profile";          ///< where a model's time goes
inline constexpr std::string_view kTrainingTrial = "training";   ///< one training configuration, timed
inline constexpr std::string_view kCommand = "command";          ///< a program, run once
inline constexpr std::string_view kEnvironment = "environment";  ///< the machine of the slot
}  // namespace job_kind

/// Work for one slot.
struct Job {
  std::string kind;  ///< see job_kind
  base::Json request;
  std::size_t slot = 0;
  double deadline_s = 0;  ///< for the answer, once the job has begun; 0: none
  TimeLeft time_left;
  std::string doing;  ///< what an error says was under way; "": nothing
};

/// Long series travel beside the JSON, as a trial may have 200,000 samples and its caller 5 ms.
struct JobAnswer {
  base::Json value;
  std::vector<double> samples;
};

/// Counted from 1 by the executor.
using JobId = std::uint64_t;

struct FinishedJob {
  JobId id = 0;
  base::Result<JobAnswer> answer;
};

/// What a live display may show while a job runs.
struct JobProgress {
  schema::TrialPhase phase = schema::TrialPhase::launch;
  std::int64_t steps = 0;
  double elapsed_s = 0;
  std::int64_t rss_bytes = 0;      ///< of a command and all it started
  std::size_t processes = 0;       ///< of a command
  std::optional<double> gpu_busy;  ///< share, while a command runs
};

/// Where jobs run, one at a time: a GPU, or the CPUs of a host.
struct DeviceSlot {
  std::string name;                                              ///< "gpu:UUID", or "cpu"
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables that make a process see this device only
};

}  // namespace ridgeline::execute
