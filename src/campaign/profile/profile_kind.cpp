// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/profile_kind.hpp"

#include <fmt/format.h>

#include "analysis/profile_comparison.hpp"
#include "base/text.hpp"
#include "campaign/profile/kept_trace.hpp"
#include "report/profile/profile_comparison_text.hpp"
#include "report/profile/profile_report.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"
#include "trace/export/page_timeline.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

run::Compared side_of(const schema::ProfileRun& run) {
  run::Compared side;
  side.name = side.key = run.id;
  side.measured_utc = run.finished_utc;
  side.figure = base::format_duration(analysis::step_median_ns(run));
  side.figure += run.tables.steps.empty() ? " in all, no steps" : " a step";
  std::string sources;
  for (const auto& source : run.sources) sources += (sources.empty() ? "" : ", ") + source.path;
  std::string devices;
  for (const auto& device : run.tables.devices)
    devices +=
        (devices.empty() ? "" : ", ") + (device.name.empty() ? fmt::format("GPU {}", device.device) : device.name);
  side.facts = {{"files", sources}, {"GPUs", devices}};
  return side;
}

class ProfileKind final : public run::Kind {
 public:
  explicit ProfileKind(const schema::MessageRenderer& words) : words_(words) {}
  [[nodiscard]] std::string_view name() const noexcept override { return schema::ProfileRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto profile, schema::run_as<schema::ProfileRun>(run));
    return report::build_profile_report(words_, profile);
  }

  [[nodiscard]] Result<report::ReportModel> page(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto profile, schema::run_as<schema::ProfileRun>(run));
    const auto trace = kept_trace(profile);
    if (!trace) return report::build_profile_report(words_, profile);
    return report::build_profile_report(words_, profile, trace::page_timeline(trace::AnalysedTrace(*trace)));
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto profile, schema::run_as<schema::ProfileRun>(run));
    return report::profile_json(words_, profile);
  }

  [[nodiscard]] Result<run::RunComparison> compare(const run::TrialName& a, const run::TrialName& b, store::Store&,
                                                   std::optional<double> min_effect) const override {
    RL_TRY_ASSIGN(const auto one, schema::run_as<schema::ProfileRun>(a.run));
    RL_TRY_ASSIGN(const auto other, schema::run_as<schema::ProfileRun>(b.run));
    run::RunComparison out;
    out.min_effect = min_effect.value_or(analysis::kProfileEffect);
    const auto found = analysis::compare_profiles(one, other, out.min_effect);
    out.a = side_of(one);
    out.b = side_of(other);
    out.comparison = found.total;
    if (!found.not_comparable.empty()) out.not_comparable = words_.text(found.not_comparable);
    out.confidence = 0.99;
    out.lines = report::profile_comparison_lines(words_, found);
    out.details = schema::with_words(words_, found);
    return out;
  }

  [[nodiscard]] Result<run::RunComparison> rerun(const run::TrialName& name, store::Store&) const override {
    RL_TRY_ASSIGN(const auto profile, schema::run_as<schema::ProfileRun>(name.run));
    if (!profile.request.command.empty())
      return base::fail(ErrorCode::invalid_argument, "run {} recorded a program, which is not started again unasked",
                        name.run.id)
          .hint("record it again, and compare: ridgeline compare {} latest", name.run.id);
    return base::fail(ErrorCode::invalid_argument, "run {} was read from files: there is nothing to measure again",
                      name.run.id)
        .hint("record again, and compare: ridgeline compare {} latest", name.run.id);
  }

  [[nodiscard]] bool knows(const schema::Run&, std::string_view, const run::Target&) const override { return false; }

  [[nodiscard]] Result<run::Change> change(const schema::Run& run, std::string_view, const run::Target&,
                                           store::Store&) const override {
    return base::fail(ErrorCode::invalid_argument,
                      "run {} is a profile: it recommends changes of code, not of a configuration", run.id)
        .hint("see them: ridgeline show {}", run.id);
  }

 private:
  const schema::MessageRenderer& words_;
};

}  // namespace

std::unique_ptr<run::Kind> make_profile_kind(const schema::MessageRenderer& words) {
  return std::make_unique<ProfileKind>(words);
}

}  // namespace ridgeline::campaign
