// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analysis/ranking.hpp"
#include "base/random.hpp"
#include "fakes/words.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::analysis {

/// A tune run made trial by trial.
struct TuneRunBuilder {
  schema::TuneRun run;
  OutcomesByKey outcomes;

  /// An ok trial of lognormal samples; the key is "k<id>".
  schema::Measurement& add(schema::Configuration configuration, double median_ns, double jitter = 0.01,
                           int samples = 2000, schema::TrialStage stage = schema::TrialStage::search) {
    const int id = add_trial(std::move(configuration), stage);
    base::Random random(static_cast<std::uint64_t>(id));
    schema::TrialOutcome outcome;
    outcome.measurement.emplace();
    for (int i = 0; i < samples; ++i) {
      outcome.measurement->latency_ns.push_back(median_ns * std::exp(jitter * random.normal()));
      outcome.measurement->wall_ns += outcome.measurement->latency_ns.back();
    }
    outcome.measurement->peak_rss_bytes = 100'000'000;
    return *(outcomes[run.trials.back().key] = std::move(outcome)).measurement;
  }

  void add_failed(schema::Configuration configuration, schema::TrialStatus status, std::string message) {
    add_trial(std::move(configuration), schema::TrialStage::search);
    schema::TrialOutcome outcome;
    outcome.status = status;
    outcome.failure.emplace();
    outcome.failure->message = fakes::legacy(std::move(message));
    outcomes[run.trials.back().key] = std::move(outcome);
  }

  int add_trial(schema::Configuration configuration, schema::TrialStage stage) {
    const int id = static_cast<int>(run.trials.size()) + 1;
    schema::TunedTrial trial;
    trial.id = id;
    trial.stage = stage;
    trial.key = fmt::format("k{}", id);
    trial.configuration = std::move(configuration);
    run.trials.push_back(std::move(trial));
    return id;
  }
};

}  // namespace ridgeline::analysis
