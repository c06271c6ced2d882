// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "campaign/tune/trial_runner.hpp"

namespace ridgeline::campaign {

/// What a report explains its answer by: a run is no worse without, so what goes wrong here becomes a note.
class Explainer : private RunPart {
 public:
  Explainer(RunContext& context, TrialRunner& runner) : RunPart(context), runner_(runner) {}

  /// After the current configuration's first trial: the libraries that the runtime has loaded by then, and how it fuses
  /// the model.
  void look_at_current();
  /// After the search: how the runtime fuses the model in the fastest trial, and what the GPU reaches at best.
  void look_at_fastest();
  /// After the verdict, on a GPU: what the recommended and the current configuration take as the only session of a
  /// process, which may be less than beside others. Where there is time, for as long as the energy counter needs.
  void measure_isolated();

 private:
  void read_loaded_libraries();
  void read_graph(const schema::Configuration& configuration);
  void measure_ceilings();

  TrialRunner& runner_;
};

}  // namespace ridgeline::campaign
