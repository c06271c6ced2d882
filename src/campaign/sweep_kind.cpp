// SPDX-License-Identifier: Apache-2.0
#include "campaign/sweep_kind.hpp"

#include "analysis/sweep_answers.hpp"
#include "campaign/sweep_patch.hpp"
#include "report/sweep_report.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

class SweepKind final : public run::Kind {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return schema::SweepRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto sweep, sweep_so_far(run));
    return report::build_sweep_report(sweep);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto sweep, sweep_so_far(run));
    return report::sweep_json(sweep);
  }

  [[nodiscard]] bool knows(const schema::Run& run, std::string_view text, const run::Target& target) const override {
    if (!target.paths.empty()) return true;  // the user said where
    const auto sweep = schema::run_as<schema::SweepRun>(run);
    if (!sweep) return false;
    const auto found = read_sweep_values(text, target.file, sweep->job.parameters, target.paths);
    return found && !found->empty();
  }

  [[nodiscard]] Result<run::Change> change(const schema::Run& stored, std::string_view text,
                                           const run::Target& target) const override {
    RL_TRY_ASSIGN(const auto run, sweep_so_far(stored));
    return sweep_change(run, text, target.file, target.paths);
  }
};

}  // namespace

Result<schema::SweepRun> sweep_so_far(const schema::Run& stored) {
  RL_TRY_ASSIGN(auto run, schema::run_as<schema::SweepRun>(stored));
  if (run.finished_utc.empty()) {
    run.points = analysis::summarize_sweep(run);
    run.answers = analysis::answer_sweep(run, run.points);
    run.interruption = "not finished; the same sweep goes on from there";
  }
  return run;
}

Result<run::Change> sweep_change(const schema::SweepRun& run, std::string_view text, const std::string& file,
                                 const std::map<std::string, std::string>& paths) {
  if (!run.answers)
    return base::fail(ErrorCode::invalid_argument,
                      "run {} has no recommendation: no combination went well; nothing to apply", run.id);
  RL_TRY(check_paths(paths, run.job.parameters, "run " + run.id));
  const auto settings = settings_of(run.answers->recommended, run.job.parameters, paths);
  run::Change change;
  RL_TRY_ASSIGN(change.patch, patch_sweep_settings(text, file, settings));
  change.write = [file, settings](std::string_view utc) { return apply_sweep_settings(file, settings, utc); };
  RL_TRY_ASSIGN(const auto absent, names_without_place(text, file, settings));
  if (!absent.empty())
    change.after.push_back(
        fmt::format("{}: {} not written, the file has no such name: add it, or say where with --apply-to {}=PATH", file,
                    fmt::join(absent, ", "), absent.front()));
  return change;
}

std::unique_ptr<run::Kind> make_sweep_kind() { return std::make_unique<SweepKind>(); }

}  // namespace ridgeline::campaign
