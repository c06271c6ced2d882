// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/kinds.hpp"

#include "campaign/bench/bench_kind.hpp"
#include "campaign/profile/profile_kind.hpp"
#include "campaign/stream/stream_kind.hpp"
#include "campaign/sweep/sweep_kind.hpp"
#include "campaign/tune/tune_kind.hpp"
#include "execute/gpu_observer.hpp"
#include "ridgeline/bench_runners.hpp"
#include "ridgeline/stream_child.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

base::Result<std::unique_ptr<execute::Executor>> training_executor(const schema::TrainingTrialSpec& spec) {
  RL_TRY_ASSIGN(const auto runners, make_bench_runners(spec.job, "", {}));
  const auto uuids = execute::gpu_uuid_of(spec.device_id);  // several of a run that was spread over them
  return make_training_executor({{runners, uuids.substr(0, uuids.find('|'))}});
}

}  // namespace

run::Registry known_kinds() {
  run::Registry kinds;
  kinds.add(campaign::make_tune_kind(words(), [](const std::string& device) { return make_executor_for(device); }));
  kinds.add(campaign::make_bench_kind(words(), &training_executor));
  kinds.add(campaign::make_sweep_kind(words(), [] { return make_command_executor({CommandSlot{}}); }));
  kinds.add(campaign::make_profile_kind(words()));
  kinds.add(campaign::make_stream_kind(words(), &stream_child_for));
  return kinds;
}

}  // namespace ridgeline::app
