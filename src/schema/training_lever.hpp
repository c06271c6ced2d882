// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/version_range.hpp"

namespace ridgeline::schema {

/// Where a lever can have an effect.
enum class LeverNeed { nothing, gpu, cpu, workers, pinned_memory };

/// What a lever is for.
enum class LeverPurpose {
  speed,
  memory,  ///< less of it at the same effective batch, which may cost samples/s
  offer,   ///< less work by training something else: reported with its numbers, and never recommended
};

/// One value of a lever: a setting of a training outside of TrainingSettings, which is on or off for a whole trial. The
/// ends that set it are python/ridgeline_train/lever_set.py, cached_data.py and device_data.py.
struct TrainingLever {
  std::string_view name;
  std::string_view value;
  LeverNeed need = LeverNeed::nothing;
  VersionRange torch{};
  LeverPurpose purpose = LeverPurpose::speed;
  /// It rounds more than FP32 does: the losses of equal trainings are further apart.
  bool rounds = false;
  /// Backward passes per step of the optimizer; the batch is divided by it, so that the effective batch stays.
  int passes = 1;
  /// Tried only if it is asked for by name: it takes minutes, or helps in few cases.
  bool on_request = false;
  std::string_view summary{};
};

/// All of them, those of a name next to each other, in the order in which they are tried.
[[nodiscard]] const std::vector<TrainingLever>& training_levers();
/// Each name once.
[[nodiscard]] std::vector<std::string> training_lever_names();
/// Of a job's options: "lever:" and the name. Other options are the user's own.
[[nodiscard]] std::string lever_option(std::string_view name);

}  // namespace ridgeline::schema
