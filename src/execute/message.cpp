// SPDX-License-Identifier: Apache-2.0
#include "execute/message.hpp"

#include <utility>

namespace ridgeline::execute {

using base::ErrorCode;

Frame make_outcome_frame(schema::TrialOutcome outcome) {
  std::vector<double> samples;
  if (outcome.measurement) samples = std::exchange(outcome.measurement->latency_ns, {});
  auto frame = make_frame(FrameType::result, outcome);
  frame.samples = std::move(samples);
  return frame;
}

base::Result<schema::TrialOutcome> read_trial_outcome(Frame frame) {
  RL_TRY_ASSIGN(auto outcome, read_frame<schema::TrialOutcome>(frame, kWorkerAnswer));
  if (outcome.measurement)
    outcome.measurement->latency_ns = std::move(frame.samples);
  else if (!frame.samples.empty())
    return base::fail(ErrorCode::corrupt, "{}: {} samples without a measurement", kWorkerAnswer, frame.samples.size());
  return outcome;
}

Frame make_outcome_frame(schema::PairedOutcome outcome) {
  std::vector<double> samples;
  std::vector<std::size_t> counts;
  if (outcome.measurement)
    for (auto& block : outcome.measurement->blocks) {
      counts.push_back(block.latency_ns.size());
      samples.insert(samples.end(), block.latency_ns.begin(), block.latency_ns.end());
      block.latency_ns.clear();
    }
  base::Json json = {{"outcome", outcome}, {"block_samples", counts}};
  return {FrameType::result, base::dump_json(json), std::move(samples)};
}

base::Result<schema::PairedOutcome> read_paired_outcome(Frame frame) {
  RL_TRY_ASSIGN(const auto json, base::parse_json(frame.json, kWorkerAnswer));
  if (!json.is_object() || !json.contains("outcome") || !json.contains("block_samples"))
    return base::fail(ErrorCode::corrupt, "{}: outcome or block_samples is missing", kWorkerAnswer);
  RL_TRY_ASSIGN(auto outcome, base::json_as<schema::PairedOutcome>(json["outcome"], kWorkerAnswer));
  RL_TRY_ASSIGN(const auto counts, base::json_as<std::vector<std::size_t>>(json["block_samples"], kWorkerAnswer));
  const std::size_t blocks = outcome.measurement ? outcome.measurement->blocks.size() : 0;
  std::size_t left = frame.samples.size();
  bool fits = counts.size() == blocks;
  for (const auto count : counts) {
    fits = fits && count <= left;
    left -= fits ? count : 0;
  }
  if (!fits || left != 0)
    return base::fail(ErrorCode::corrupt, "{}: {} samples do not fit its {} blocks", kWorkerAnswer,
                      frame.samples.size(), blocks);
  auto next = frame.samples.begin();
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(counts[i]);
    outcome.measurement->blocks[i].latency_ns.assign(next, end);
    next = end;
  }
  return outcome;
}

Frame make_error_frame(const base::Error& error) {
  base::Json json = {{"code", std::string(base::to_string(error.code))}, {"message", error.message}};
  if (!error.hint.empty()) json["hint"] = error.hint;
  return {FrameType::error, base::dump_json(json), {}};
}

base::Error read_error_frame(const Frame& frame) {
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
  return error;
}

RL_DEFINE_JSON(Hello, protocol, version, status_bytes)
RL_DEFINE_JSON_REQUIRED(ProbeRequest, kind, library)
RL_DEFINE_JSON_REQUIRED(InspectMessage, workload, library)
RL_DEFINE_JSON_REQUIRED(TrialRequest, spec, abandon_above_ns, throughput, reference, keep_session)
RL_DEFINE_JSON_REQUIRED(PairRequest, spec, ends_within_s)
RL_DEFINE_JSON_REQUIRED(GraphRequest, spec)
RL_DEFINE_JSON_REQUIRED(ReferenceRequest, spec, path)

}  // namespace ridgeline::execute
