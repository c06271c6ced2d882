// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

namespace ridgeline::store {

/// What trials of the kinds of runs are called in the results file.
inline constexpr std::string_view kTrialKind = "trial";        ///< schema::TrialOutcome
inline constexpr std::string_view kPairKind = "pair";          ///< schema::PairedOutcome
inline constexpr std::string_view kTrainingKind = "training";  ///< schema::TrainingOutcome
inline constexpr std::string_view kCommandKind = "command";    ///< schema::SweepOutcome

/// A trial of any kind as it is stored. Large arrays of numbers stand in `samples`, apart from the rest.
struct TrialRecord {
  std::string key;
  std::string kind;
  std::string status;  ///< schema::TrialStatus name
  std::string measured_utc;
  double duration_s = 0;
  base::Json spec;
  base::Json outcome;
  std::vector<std::vector<double>> samples;  ///< by part
};

}  // namespace ridgeline::store
