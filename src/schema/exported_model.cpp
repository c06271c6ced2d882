// SPDX-License-Identifier: Apache-2.0
#include "schema/exported_model.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(ExportedModel, exporter, precision, path, input_files, problem)

}  // namespace ridgeline::schema
