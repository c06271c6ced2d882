// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "loader/loader.hpp"

namespace ridgeline::workload {

/// Which parts of an HDF5 file are trained on, and how they are read.
struct TrainingData {
  std::string path;
  std::string input;  ///< dataset of the samples
  std::string label;  ///< dataset of the labels, "" for none
  loader::SampleOrder order = loader::SampleOrder::shuffled;
  std::uint64_t cache_bytes = std::uint64_t{1} << 30U;  ///< of decoded chunks
};

/// Names of the options that are about data; the rest belongs to the model.
[[nodiscard]] const std::vector<std::string>& data_option_names();

/// Reads input_dataset, label_dataset, order and cache_mb. Without names: the first of x, input, inputs, images, image,
/// data, features and X that the file has, and the first of y, label, labels, target and targets in the same group,
/// else at the root, or none. Errors, naming file and datasets: not_found, invalid_argument, corrupt, unsupported.
[[nodiscard]] base::Result<TrainingData> choose_training_data(const std::string& path,
                                                              const std::map<std::string, std::string>& options);

/// What a look at the data tells about the model to be built.
struct DataCensus {
  std::uint64_t samples = 0;
  std::optional<std::int64_t> classes;  ///< one more than the largest label, for one integer a sample
  std::vector<std::string> notes;       ///< Loader::notes: what the HDF5 library must read, and why
};

/// Reads all labels, and of floating-point samples all up to 256 MiB, else 512 spread over the file. Errors:
/// invalid_argument for a number that is not finite or a negative class, naming file, dataset and sample; what the
/// loader reports.
[[nodiscard]] base::Result<DataCensus> inspect_training_data(const TrainingData& data);

}  // namespace ridgeline::workload
