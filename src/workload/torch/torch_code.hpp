// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "schema/candidate.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::workload {

/// WorkloadRef::kind of models that a Python function makes.
inline constexpr std::string_view kPythonKind = "python";

/// The name of the function in "infer.py:make".
[[nodiscard]] std::string function_of(const schema::TrialSpec& spec);

/// Lines of Python around the user's own `model, inputs = make()` that run the model as that trial of kind "python"
/// did: switches, compiler, graph, warm-up, and a function `run` of one input set (`runs`, one for each set, where each
/// has a graph of its own). Comments say what keeps it fast. Settings that are no lines of code are named in a comment.
[[nodiscard]] schema::LoadingCode torch_code(const schema::TrialSpec& spec, const schema::ModelDescription& model);

}  // namespace ridgeline::workload
