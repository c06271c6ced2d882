// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "doctor/facts.hpp"
#include "workload/onnx/ort_search.hpp"

namespace ridgeline::doctor {

/// Environments with onnxruntime or torch: VIRTUAL_ENV, CONDA_PREFIX, every python3 on PATH, ~/.local; next to them
/// what `python3` starts, also without either. Read from their package folders, and those of the base installation that
/// a virtual environment sees; no Python is started.
[[nodiscard]] std::vector<PythonFacts> read_python_facts(const workload::OrtSearchEnvironment& environment);

}  // namespace ridgeline::doctor
