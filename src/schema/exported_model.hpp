// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "schema/message.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

/// A model as one exporter wrote it, or why it could not.
struct ExportedModel {
  std::string exporter;                  ///< "dynamo"
  std::string precision;                 ///< "fp16" or "bf16" inside, inputs and outputs as they were; "": as it is
  std::string path;                      ///< of the file; "": there is none
  std::vector<InputFile> input_files{};  ///< the inputs that the model was made with
  Message problem;                       ///< why there is none
};
RL_DECLARE_JSON(ExportedModel)

}  // namespace ridgeline::schema
