// SPDX-License-Identifier: Apache-2.0
#include "schema/tune_request.hpp"

namespace ridgeline::schema {

RL_DEFINE_JSON(Dimension, key, values)
RL_DEFINE_JSON(SpaceRequest, named, file, values, fixed, asked_by, exclude, constraints, only_listed, always_set)
RL_DEFINE_JSON(TuneRequest, RL_RUN_REQUEST, workload, provider, tensor_location, ort_library, runtimes, plugins, search,
               objective, constraints, space, plan, paired, finalists, leave_one_out, random_budget, min_effect,
               accuracy_tolerance, check_accuracy, precision, metric_loss, seed, also, save_onnx)

}  // namespace ridgeline::schema
