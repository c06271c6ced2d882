// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/verify_command.hpp"
#include "ridgeline/profile_output.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

#include "campaign/profile/verify_campaign.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "report/profile/profile_report.hpp"
#include "report/profile/profile_verification.hpp"
#include "ridgeline/output_flags.hpp"
#include "ridgeline/python_packages.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using schema::ProfileRun;

Result<std::size_t> place_of(const ProfileRun& run, int number) {
  const auto count = run.findings.size();
  const auto place = static_cast<std::size_t>(number) - 1;
  if (place < count) return place;
  return fail(ErrorCode::invalid_argument, "--verify {}: run {} has {} finding{}", number, run.id, count,
              count == 1 ? "" : "s")
      .hint("ridgeline show {} --section findings", run.id);
}

/// That what was profiled can be run again.
Result<void> check_source(const ProfileRun& run) {
  if (!run.request.command.empty() || run.request.model) return {};
  if (!run.request.files.empty())
    return fail(ErrorCode::invalid_argument, "run {} was imported, and --verify runs a program or a model", run.id)
        .hint("record it: ridgeline profile --verify 1 -- python train.py");
  return fail(ErrorCode::invalid_argument, "run {} does not contain how its model was run", run.id)
      .hint("profile it again: ridgeline profile MODEL --verify N");
}

/// Two commands that do by hand what no setting does.
std::string edit_line(const ProfileRun& run, std::size_t finding) {
  const auto again = run.request.command.empty() ? schema::shell_line(run.request.arguments)
                                                 : "profile -- " + schema::shell_line(run.request.command);
  return fmt::format(
      "finding {} ({}) needs an edit: no setting does it. Edit, then: ridgeline {}; ridgeline compare {} "
      "latest:profile",
      finding + 1, run.findings[finding].rule(), again, run.id);
}

/// The program sees the machine as it did; the model its GPU.
Result<std::unique_ptr<execute::Executor>> executor_for(const ProfileRun& run) {
  if (!run.request.command.empty()) return make_command_executor({CommandSlot{}});
  RL_TRY_ASSIGN(const auto groups, execute::choose_gpus(run.request.devices, execute::local_environment()));
  return make_executor(execute::Isolation::pooled, groups.empty() ? execute::GpuGroup() : groups.front(), {});
}

int exit_code_of(const schema::ProfileVerification& found) {
  if (!found.comparison || found.comparison->verdict == schema::Verdict::inconclusive) return kNoAnswer;
  return found.comparison->verdict == schema::Verdict::slower ? kFinding : kOk;
}

Result<void> write_answer(const ProfileRun& run, std::size_t finding, const ProfileFlags& flags) {
  if (!flags.prints_json() && !flags.quiet) {
    print_answer(report::verification_answer(words(), run, finding), inspect_terminal(stdout));
    fmt::print("{:<{}}{}  (ridgeline show {})\n", "run", kLabelWidth, run.id, run.id);
  }
  RL_TRY(write_profile_data(run, flags));
  const auto files = flags.report.files();
  return files.empty() ? Result<void>() : write_reports(report::build_profile_report(words(), run), files);
}

}  // namespace

Result<int> verify_finding(ProfileRun run, const VerifyFlags& verify, const ProfileFlags& flags,
                           const Context& context) {
  if (run.findings.empty()) {
    fmt::print(stderr, "nothing to verify: run {} has no findings\n", run.id);
    RL_TRY(write_profile_data(run, flags));
    return kNoAnswer;
  }
  RL_TRY_ASSIGN(const auto finding, place_of(run, verify.finding.value_or(1)));
  RL_TRY(check_source(run));
  if (!campaign::can_verify(run, run.findings[finding])) {
    fmt::print(stderr, "{}\n", edit_line(run, finding));
    RL_TRY(write_profile_data(run, flags));
    return kNoAnswer;
  }
  campaign::VerifyRequest request;
  if (!run.request.command.empty()) {
    RL_TRY_ASSIGN(request.python_folder, python_packages());
  }
  RL_TRY_ASSIGN(auto store, context.open_store());
  RL_TRY_ASSIGN(const auto executor, executor_for(run));
  const auto terminal = inspect_terminal(stderr);
  const auto stage = [&](const std::string& what) {
    if (terminal.interactive && flags.talks()) fmt::print(stderr, "{}\n", styled(what, Style::dim, terminal.colour));
  };
  request.run = std::move(run);
  request.finding = finding;
  request.max_time = base::from_seconds(verify.max_time_s);
  campaign::VerifyCampaign campaign(*executor, store, stage);
  RL_TRY_ASSIGN(const auto verified, campaign.run(std::move(request)));
  RL_TRY(write_answer(verified.run, finding, flags));
  return verified.interrupted ? kCancelled : exit_code_of(*verified.run.findings[finding].verification);
}

Result<int> verify_stored(const std::string& reference, const VerifyFlags& verify, const ProfileFlags& flags,
                          const Context& context) {
  RL_TRY_ASSIGN(auto store, context.open_store());
  RL_TRY_ASSIGN(auto run, store.load<ProfileRun>(reference.empty() ? "latest" : reference));
  return verify_finding(std::move(run), verify, flags, context);
}

bool names_stored_run(const std::string& word) {
  std::error_code ignored;
  return word.find_first_of("./") == std::string::npos && !std::filesystem::exists(word, ignored);
}

}  // namespace ridgeline::app
