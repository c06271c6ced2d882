// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "schema/message.hpp"

namespace ridgeline::schema {

/// How long a model is profiled.
struct ProfilePlan {
  double warmup_s = 1;
  double time_s = 3;  ///< of the timed calls, traced and plain together
  std::int64_t least_runs = 10;
  std::int64_t most_runs = 1000;
};
RL_DECLARE_JSON(ProfilePlan)

/// Blocks of calls of both sessions in turns, in nanoseconds a call.
struct ProfiledRound {
  std::vector<double> plain_ns;   ///< without the profiler
  std::vector<double> traced_ns;  ///< with it
};
RL_DECLARE_JSON(ProfiledRound)

/// What a worker found when it ran a model under ONNX Runtime's own profiler, in interleaved blocks with a
/// session without it.
struct ProfiledModel {
  std::string file;           ///< the profiler's JSON
  std::int64_t start_ns = 0;  ///< its zero, on CLOCK_MONOTONIC
  std::int64_t warmups = 0;   ///< calls in it before those that count
  std::vector<ProfiledRound> rounds;
  /// Memory read and written by as many threads; 0: not measured, or not twice alike, and so below.
  double bytes_per_s = 0;
  double flops_per_s = 0;                    ///< of a large matrix product with the same settings
  std::map<std::string, std::string> paths;  ///< of the runtime's nodes in the model: "/encoder/layer.0/MatMul + Add"
  /// Of a call of the nodes of the model: the profile lacks the shapes of weights that the runtime has packed.
  std::map<std::string, double> flops;
  std::vector<Message> notes;
};
RL_DECLARE_JSON(ProfiledModel)

}  // namespace ridgeline::schema
