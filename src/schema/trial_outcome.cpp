// SPDX-License-Identifier: Apache-2.0
#include "schema/trial_outcome.hpp"

#include "schema/former_keys.hpp"
#include "schema/messages.hpp"

namespace ridgeline::schema {
namespace {

/// What every failure has.
struct Told : Failure {};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Told, phase, message, exit_code, signal, stderr_tail, requested_bytes)

}  // namespace

void to_json(base::Json& out, const Failure& failure) {
  Told told;
  static_cast<Failure&>(told) = failure;
  to_json(out, told);
  if (failure.gpu) out["gpu"] = *failure.gpu;
  if (!failure.flags.empty()) out["flags"] = failure.flags;
}

void from_json(const base::Json& in, Failure& failure) {
  Told told;
  from_json(in, told);
  failure = std::move(told);
  if (failure.message.is(kLegacy) && in.contains("hint"))  // of older records
    failure.message = messages::legacy({in["message"].get<std::string>(), in["hint"].get<std::string>()});
  if (const auto gpu = in.find("gpu"); gpu != in.end()) gpu->get_to(failure.gpu);
  if (const auto flags = in.find("flags"); flags != in.end()) flags->get_to(failure.flags);
}

RL_DEFINE_JSON(TrialOutcome, status, measurement, output_error, failure, measured_utc, duration_s)
RL_DEFINE_JSON(PairedOutcome, status, measurement, failure, measured_utc, duration_s)

}  // namespace ridgeline::schema
