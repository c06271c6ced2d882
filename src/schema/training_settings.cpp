// SPDX-License-Identifier: Apache-2.0
#include "schema/training_settings.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(TrainingSettings, batch, workers, amp, pin_memory)

}  // namespace ridgeline::schema
