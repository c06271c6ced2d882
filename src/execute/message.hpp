// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "execute/job.hpp"
#include "execute/wire_frame.hpp"
#include "schema/found_runtime.hpp"
#include "schema/profiled_model.hpp"
#include "schema/sweep.hpp"
#include "schema/trial_outcome.hpp"
#include "schema/trial_spec.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

/// Changes whenever frames or messages do; a worker with another number is refused.
inline constexpr int kProtocolVersion = 12;

/// What errors call a message of the worker.
inline constexpr std::string_view kWorkerAnswer = "worker's answer";

/// A worker's file descriptors.
inline constexpr int kRequestFd = 3;
inline constexpr int kReplyFd = 4;
inline constexpr int kStatusFd = 5;

struct Hello {
  int protocol = kProtocolVersion;
  std::string version;           ///< base::version() of the worker's build
  std::size_t status_bytes = 0;  ///< size of WorkerStatus in the worker's build
};
RL_DECLARE_JSON(Hello)

struct FindRequest {
  std::string kind;
  schema::RuntimeRequest where;
};
RL_DECLARE_JSON(FindRequest)

struct ProbeRequest {
  std::string kind;
  std::string library;
  std::vector<schema::PluginLibrary> plugins{};  ///< to register
};
RL_DECLARE_JSON(ProbeRequest)

struct InspectMessage {
  schema::WorkloadRef workload;
  std::string library;
  std::optional<std::int64_t> length{};  ///< InspectRequest::length
};
RL_DECLARE_JSON(InspectMessage)

struct ExportRequest {
  schema::WorkloadRef workload;
  std::string library;
  std::string folder;
  std::vector<std::string> precisions;  ///< ExportedModel::precision of each file that is wanted from an exporter
  double limit_s = 0;                   ///< of each file
};
RL_DECLARE_JSON(ExportRequest)

struct TrialRequest {
  schema::TrialSpec spec;
  std::optional<double> stop_above_ns;
  bool throughput = false;
  std::string reference;  ///< path of the reference outputs, or ""
  bool keep_session = false;
  bool apart = false;  ///< TrialOptions::apart; a worker does not care
};
RL_DECLARE_JSON(TrialRequest)

struct PairRequest {
  schema::PairedSpec spec;
  double ends_within_s = 0;   ///< MeasureControl::ends_within_s; 0: no bound
  bool fresh_process = true;  ///< PairedSpec::fresh_process; a worker does not care
};
RL_DECLARE_JSON(PairRequest)

/// What an arm is asked for, in this order, blocks again and again.
enum class ArmStep { make, warm_up, block };

struct ArmRequest {
  ArmStep step = ArmStep::block;
  std::optional<schema::TrialSpec> spec;  ///< to make the session of
  schema::PairedPlan plan;
};
RL_DECLARE_JSON(ArmRequest)

/// The latencies of a block travel beside the JSON.
struct ArmAnswer {
  schema::TrialStatus status = schema::TrialStatus::ok;
  std::optional<schema::Failure> failure;           ///< set unless ok
  std::optional<schema::QualityFlag> warm_up_flag;  ///< of warm_up
  std::vector<schema::QualityFlag> flags;           ///< of the workload
  std::int64_t outside_process = 0;                 ///< Workload::outside_process
  double items_per_inference = 1;
  bool real_time = true;
  std::int64_t involuntary_switches = 0;  ///< in the block: stopping the process and waking it makes more of them
  double wall_ns = 0;                     ///< this and the others: measure::TimedBlock
  double discard_s = 0;
  double timed_s = 0;
};
RL_DECLARE_JSON(ArmAnswer)

struct GraphRequest {
  schema::TrialSpec spec;
};
RL_DECLARE_JSON(GraphRequest)

struct ProfileRequest {
  schema::TrialSpec spec;
  schema::ProfilePlan plan;
  std::string folder;
};
RL_DECLARE_JSON(ProfileRequest)

struct ReferenceRequest {
  schema::TrialSpec spec;
  std::string path;
};
RL_DECLARE_JSON(ReferenceRequest)

template <typename T>
[[nodiscard]] WireFrame make_frame(FrameType type, const T& message) {
  return {type, base::dump_json(base::Json(message)), {}};
}

/// Errors (corrupt) name what is missing or mistyped.
template <typename T>
[[nodiscard]] base::Result<T> read_frame(const WireFrame& frame, std::string_view what) {
  RL_TRY_ASSIGN(const auto json, base::parse_json(frame.json, what));
  return base::json_as<T>(json, what);
}

/// Outcomes with their samples beside the JSON. Errors (corrupt) of reading: what is missing, or does not fit.
[[nodiscard]] JobAnswer answer_of(schema::TrialOutcome outcome);
[[nodiscard]] JobAnswer answer_of(schema::PairedOutcome outcome);
template <typename T>
[[nodiscard]] base::Result<T> read_answer(JobAnswer answer) {
  return base::json_as<T>(answer.value, kWorkerAnswer);
}
template <>
[[nodiscard]] base::Result<schema::TrialOutcome> read_answer(JobAnswer answer);
template <>
[[nodiscard]] base::Result<schema::PairedOutcome> read_answer(JobAnswer answer);

/// A command of a sweep, and where its output goes.
struct CommandTrial {
  schema::SweepTrialSpec spec;
  std::string folder;
};
RL_DECLARE_JSON(CommandTrial)

/// Both ways between an answer and the frame that carries it.
[[nodiscard]] WireFrame make_frame(JobAnswer answer);
[[nodiscard]] base::Result<JobAnswer> read_frame(WireFrame frame);
[[nodiscard]] WireFrame make_job_frame(std::string_view kind, const base::Json& request);

[[nodiscard]] WireFrame make_error_frame(const base::Error& error);
/// The error that an error frame carries.
[[nodiscard]] base::Error read_error_frame(const WireFrame& frame);

}  // namespace ridgeline::execute

template <>
struct ridgeline::base::EnumNames<ridgeline::execute::ArmStep> {
  using enum execute::ArmStep;
  static constexpr std::array names{std::pair{make, "make"}, std::pair{warm_up, "warm_up"}, std::pair{block, "block"}};
};
