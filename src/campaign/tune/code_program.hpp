// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/scratch_folder.hpp"
#include "schema/model_description.hpp"
#include "schema/trial_spec.hpp"

namespace ridgeline::campaign {

/// The program that runs the lines of workload::torch_code for a trial of a PyTorch model, in a folder of its own.
class CodeProgram {
 public:
  CodeProgram(const schema::TrialSpec& spec, const schema::ModelDescription& model);

  [[nodiscard]] const schema::TrialSpec& spec() const noexcept { return spec_; }
  /// Empty: it could not be written.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
  /// All but its timed part has run in the background.
  [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
  void set_ready(bool is_ready) noexcept { is_ready_ = is_ready; }

 private:
  schema::TrialSpec spec_;
  base::ScratchFolder folder_{"code"};
  std::filesystem::path path_;
  bool is_ready_ = false;
};

}  // namespace ridgeline::campaign
