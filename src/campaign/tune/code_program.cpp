// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/code_program.hpp"

#include "base/file.hpp"
#include "workload/torch/torch_code.hpp"
#include "workload/torch/torch_program.hpp"

namespace ridgeline::campaign {

CodeProgram::CodeProgram(const schema::TrialSpec& spec, const schema::ModelDescription& model) : spec_(spec) {
  if (folder().empty()) return;
  const auto path = folder() / "program.py";
  const auto text = workload::torch_program(workload::torch_code(spec, model), spec, model);
  if (base::write_file_atomically(path, text)) path_ = path;
}

}  // namespace ridgeline::campaign
