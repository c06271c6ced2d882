// SPDX-License-Identifier: Apache-2.0
#include "schema/workload_ref.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON_REQUIRED(InputShape, name, dims)
RL_DEFINE_JSON(InputFile, name, path, sha256)
RL_DEFINE_JSON(WorkloadRef, kind, location, content_sha256, shapes, input_files, given_values, input_values, seed,
               dim_names)

}  // namespace ridgeline::schema
