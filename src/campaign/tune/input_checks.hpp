// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "schema/measurement.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_spec.hpp"
#include "search/space_builder.hpp"

namespace ridgeline::campaign {

/// Whether inputs can be made for the model at all: dense tensors of numbers or bool. Error: unsupported.
[[nodiscard]] base::Result<void> check_input_types(const schema::ModelDescription& model);

/// Whether the user's shapes and the batch of --batch or --set agree. 1 agrees with every batch: the shape of one
/// sample. Error: invalid_argument.
[[nodiscard]] base::Result<void> check_shapes_and_batch(const schema::WorkloadRef& asked,
                                                        const schema::ModelDescription& model,
                                                        const search::SpaceRequest& space);

/// What is wrong with reference outputs that hold NaN or Inf: of the first such output in the file at `outputs` (one
/// inference, not the sum over all that were made), else what `output_error` says.
[[nodiscard]] base::Error nonfinite_outputs(const schema::WorkloadRef& workload, const std::filesystem::path& outputs,
                                            const schema::OutputError& output_error);

/// The first of the user's own input files that holds NaN or Inf, as "--input x:x.npy holds 1 NaN or Inf value"; "" if
/// none does.
[[nodiscard]] std::string nonfinite_input_file(const schema::WorkloadRef& workload);

}  // namespace ridgeline::campaign
