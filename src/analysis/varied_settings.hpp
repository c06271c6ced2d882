// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "schema/training_run.hpp"

namespace ridgeline::analysis {

/// Of each setting, whether the run tried more than one value of it where that makes a difference, so that it can say
/// which is better.
struct VariedSettings {
  bool batch = true;
  bool workers = true;
  bool amp = true;
  bool pin_memory = true;
};

/// By the trials that went well or ran out of memory, experiments left out: they are no answers. Pinned memory is not
/// measured without a GPU, nor are workers where nothing is loaded.
[[nodiscard]] VariedSettings varied_settings(const schema::BenchRun& run);

}  // namespace ridgeline::analysis
