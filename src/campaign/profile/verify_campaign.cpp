// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/verify_campaign.hpp"

#include <filesystem>
#include <utility>

#include "base/scratch_folder.hpp"
#include "campaign/budget.hpp"
#include "campaign/profile/verifiable_change.hpp"
#include "campaign/profile/verify_model.hpp"
#include "campaign/profile/verify_program.hpp"
#include "trace/analysis/range_names.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using schema::ProfileRun;

/// Relative paths in the command mean the same.
Result<void> check_folder(const ProfileRun& run) {
  const auto& directory = run.request.directory;
  std::error_code ignored;
  if (directory.empty() || std::filesystem::equivalent(directory, ".", ignored)) return {};
  return fail(ErrorCode::invalid_argument, "run {} was recorded in {}", run.id, directory)
      .hint("verify it there: cd {}", schema::shell_line({directory}));
}

}  // namespace

bool can_verify(const ProfileRun& run, const schema::ProfileFinding& finding) {
  // What our hooks change is PyTorch's.
  if (!run.request.command.empty())
    return program_change(finding.rule()) != nullptr && !trace::is_within_session_run(finding.module);
  return run.request.model && model_change(finding.rule(), run.provider) != nullptr;
}

VerifyCampaign::VerifyCampaign(execute::Executor& executor, store::Store& store,
                               std::function<void(const std::string&)> stage)
    : executor_(executor), store_(store), stage_(std::move(stage)) {}

Result<VerifiedFinding> VerifyCampaign::run(VerifyRequest request) {
  auto& run = request.run;
  auto& finding = run.findings.at(request.finding);
  if (!can_verify(run, finding))
    return fail(ErrorCode::invalid_argument, "a {} finding proposes no setting to try", finding.rule());
  RL_TRY(check_folder(run));
  const Budget budget(executor_.clock(), request.max_time);
  VerifiedFinding out;
  if (run.request.command.empty()) {
    stage_("comparing the model with and without the setting");
    RL_TRY_ASSIGN(finding.verification,
                  verify_model(*run.request.model, *model_change(finding.rule(), run.provider), executor_, budget));
  } else {
    const base::ScratchFolder scratch("verify");
    if (scratch.path().empty())
      return fail(ErrorCode::io, "no temporary folder can be made").hint("set TMPDIR to a writable folder");
    const ProgramVerifier::Setting setting{run.request.command, request.python_folder,
                                           std::filesystem::absolute(scratch.path()), stage_};
    ProgramVerifier verifier(setting, executor_, budget);
    RL_TRY_ASSIGN(finding.verification, verifier.verify(*program_change(finding.rule())));
    out.interrupted = verifier.is_interrupted();
  }
  RL_TRY(store_.save_run(to_run(run)));
  out.run = std::move(run);
  return out;
}

}  // namespace ridgeline::campaign
