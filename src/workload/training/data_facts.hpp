// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/training_trial.hpp"

namespace ridgeline::workload {

/// What a job of a built-in model has to know about its data beforehand.
struct DataFacts {
  std::map<std::string, std::string> options;  ///< found out and to be kept with the job: dataset names, classes
  std::vector<std::string> notes;              ///< of the loader
  std::optional<std::int64_t> samples;         ///< in the data file; nullopt: random data
};

/// Looks at the data file that the job names. Errors: those of choose_training_data and inspect_training_data;
/// invalid_argument for fewer classes than the labels have, and for options about a data file without one.
[[nodiscard]] base::Result<DataFacts> find_data_facts(const schema::TrainingJob& job);

}  // namespace ridgeline::workload
