// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "campaign/budget.hpp"
#include "campaign/profile/step_report.hpp"
#include "campaign/profile/verifiable_change.hpp"
#include "execute/executor.hpp"
#include "schema/profile_verification.hpp"

namespace ridgeline::campaign {

/// Runs a recorded program with a change and without it, in fresh processes and counterbalanced order, and compares the
/// medians of their steps.
class ProgramVerifier {
 public:
  struct Setting {
    std::vector<std::string> command;
    std::string python_folder;     ///< of our packages
    std::filesystem::path folder;  ///< for what the processes write
    std::function<void(const std::string&)> stage;
  };
  /// All must outlive it.
  ProgramVerifier(const Setting& setting, execute::Executor& executor, const Budget& budget);

  /// Errors: cancelled before there was enough to compare; a program that cannot be started; those of the executor.
  [[nodiscard]] base::Result<schema::ProfileVerification> verify(const ProgramChange& change);
  /// A signal stopped it, with enough measured.
  [[nodiscard]] bool is_interrupted() const noexcept { return interrupted_; }

 private:
  /// One process. Sets `verification.reason` where the comparison cannot go on.
  [[nodiscard]] base::Result<void> run(bool changed, schema::ProfileVerification& verification);
  void judge(schema::ProfileVerification& verification) const;

  const Setting& setting_;
  execute::Executor& executor_;
  const Budget& budget_;
  std::vector<StepReport> present_;
  std::vector<StepReport> changed_;
  bool interrupted_ = false;
};

}  // namespace ridgeline::campaign
