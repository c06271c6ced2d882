// SPDX-License-Identifier: Apache-2.0
#include "execute/message.hpp"

#include <utility>

namespace ridgeline::execute {

using base::ErrorCode;

JobAnswer answer_of(schema::TrialOutcome outcome) {
  JobAnswer answer;
  if (outcome.measurement) answer.samples = std::exchange(outcome.measurement->latency_ns, {});
  answer.value = outcome;
  return answer;
}

template <>
base::Result<schema::TrialOutcome> read_answer(JobAnswer answer) {
  RL_TRY_ASSIGN(auto outcome, base::json_as<schema::TrialOutcome>(answer.value, kWorkerAnswer));
  if (outcome.measurement)
    outcome.measurement->latency_ns = std::move(answer.samples);
  else if (!answer.samples.empty())
    return base::fail(ErrorCode::corrupt, "{}: {} samples without a measurement", kWorkerAnswer, answer.samples.size());
  return outcome;
}

JobAnswer answer_of(schema::PairedOutcome outcome) {
  JobAnswer answer;
  std::vector<std::size_t> counts;
  if (outcome.measurement)
    for (auto& block : outcome.measurement->blocks) {
      counts.push_back(block.latency_ns.size());
      answer.samples.insert(answer.samples.end(), block.latency_ns.begin(), block.latency_ns.end());
      block.latency_ns.clear();
    }
  answer.value = {{"outcome", outcome}, {"block_samples", counts}};
  return answer;
}

template <>
base::Result<schema::PairedOutcome> read_answer(JobAnswer answer) {
  const auto& json = answer.value;
  if (!json.is_object() || !json.contains("outcome") || !json.contains("block_samples"))
    return base::fail(ErrorCode::corrupt, "{}: outcome or block_samples is missing", kWorkerAnswer);
  RL_TRY_ASSIGN(auto outcome, base::json_as<schema::PairedOutcome>(json["outcome"], kWorkerAnswer));
  RL_TRY_ASSIGN(const auto counts, base::json_as<std::vector<std::size_t>>(json["block_samples"], kWorkerAnswer));
  const std::size_t blocks = outcome.measurement ? outcome.measurement->blocks.size() : 0;
  std::size_t left = answer.samples.size();
  bool fits = counts.size() == blocks;
  for (const auto count : counts) {
    fits = fits && count <= left;
    left -= fits ? count : 0;
  }
  if (!fits || left != 0)
    return base::fail(ErrorCode::corrupt, "{}: {} samples do not fit its {} blocks", kWorkerAnswer,
                      answer.samples.size(), blocks);
  auto next = answer.samples.begin();
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(counts[i]);
    outcome.measurement->blocks[i].latency_ns.assign(next, end);
    next = end;
  }
  return outcome;
}

WireFrame make_frame(JobAnswer answer) {
  return {FrameType::result, base::dump_json(answer.value), std::move(answer.samples)};
}

base::Result<JobAnswer> read_frame(WireFrame frame) {
  RL_TRY_ASSIGN(auto value, base::parse_json(frame.json, kWorkerAnswer));
  return JobAnswer{std::move(value), std::move(frame.samples)};
}

WireFrame make_job_frame(std::string_view kind, const base::Json& request) {
  return {FrameType::job, base::dump_json({{"kind", kind}, {"request", request}}), {}};
}

WireFrame make_error_frame(const base::Error& error) {
  base::Json json = {{"code", std::string(base::to_string(error.code))}, {"message", error.message}};
  if (!error.hint.empty()) json["hint"] = error.hint;
  if (error.number != 0) json["number"] = error.number;
  return {FrameType::error, base::dump_json(json), {}};
}

base::Error read_error_frame(const WireFrame& frame) {
  const auto json = base::parse_json(frame.json, kWorkerAnswer);
  if (!json) return json.error();
  base::Error error;
  const auto text = json->is_object() ? json->value("code", base::Json()) : base::Json();
  const auto message = json->is_object() ? json->value("message", base::Json()) : base::Json();
  if (!text.is_string() || !message.is_string())
    return {ErrorCode::corrupt, "worker's answer: not a code and a message"};
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code)
    if (base::to_string(static_cast<ErrorCode>(code)) == text.get<std::string>())
      error.code = static_cast<ErrorCode>(code);
  error.message = message.get<std::string>();
  if (const auto hint = json->value("hint", base::Json()); hint.is_string()) error.hint = hint.get<std::string>();
  if (const auto number = json->value("number", base::Json()); number.is_number_integer())
    error.number = number.get<std::int64_t>();
  return error;
}

RL_DEFINE_JSON(Hello, protocol, version, status_bytes)
RL_DEFINE_JSON_REQUIRED(FindRequest, kind, where)
RL_DEFINE_JSON_REQUIRED(ProbeRequest, kind, library, plugins)
RL_DEFINE_JSON_REQUIRED(InspectMessage, workload, library, length)
RL_DEFINE_JSON_REQUIRED(ExportRequest, workload, library, folder, precisions, limit_s)
RL_DEFINE_JSON_REQUIRED(TrialRequest, spec, stop_above_ns, throughput, reference, keep_session, apart)
RL_DEFINE_JSON_REQUIRED(PairRequest, spec, ends_within_s, fresh_process)
RL_DEFINE_JSON_REQUIRED(ArmRequest, step, spec, plan)
RL_DEFINE_JSON_REQUIRED(ArmAnswer, status, failure, warm_up_flag, flags, outside_process, items_per_inference,
                        real_time, involuntary_switches, wall_ns, discard_s, timed_s)
RL_DEFINE_JSON_REQUIRED(GraphRequest, spec)
RL_DEFINE_JSON_REQUIRED(ProfileRequest, spec, plan, folder)
RL_DEFINE_JSON_REQUIRED(ReferenceRequest, spec, path)
RL_DEFINE_JSON_REQUIRED(CommandTrial, spec, folder)

}  // namespace ridgeline::execute
