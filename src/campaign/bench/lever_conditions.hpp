// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "campaign/bench/bench_campaign.hpp"
#include "schema/training_lever.hpp"

namespace ridgeline::campaign {

/// Why a lever is not tried.
enum class LeverCondition {
  met,
  gpu,           ///< needs one
  workers,       ///< needs loader workers
  pinned,        ///< needs pinned memory
  torch,         ///< needs a later torch
  batch,         ///< cannot be divided
  other_device,  ///< for a CPU, and this is a GPU: another value is tried
};

/// Whether the run is to try it: not what the job sets already.
[[nodiscard]] bool is_asked_for(const schema::TrainingLever& lever, const BenchRequest& request);
[[nodiscard]] LeverCondition unmet_condition(const schema::TrainingLever& lever, const BenchRequest& request,
                                             const schema::TrainingSettings& base);
[[nodiscard]] schema::Message unmet_note(LeverCondition condition, std::vector<std::string> levers);
/// Whether two cannot be on at once, or one leaves the other nothing to do.
[[nodiscard]] bool exclude_each_other(const schema::TrainingLever& one, const schema::TrainingLever& other);
/// "channels_last"; "torch_compile=default" where there are several values.
[[nodiscard]] std::string lever_label(const schema::TrainingLever& lever);
/// "2.11.0" of "torch 2.11.0+cu130 (cuda 13.0), Python 3.11.2"; "" where it is not known.
[[nodiscard]] std::string torch_version(const std::string& runtime);

}  // namespace ridgeline::campaign
