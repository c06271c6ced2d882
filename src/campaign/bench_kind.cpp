// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench_kind.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "campaign/bench_campaign.hpp"
#include "campaign/training_change.hpp"
#include "report/bench_report.hpp"

namespace ridgeline::campaign {
namespace {

using base::Result;

class BenchKind final : public run::Kind {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return schema::BenchRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto bench, schema::run_as<schema::BenchRun>(run));
    return report::build_bench_report(bench);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto bench, schema::run_as<schema::BenchRun>(run));
    return report::bench_json(bench);
  }

  [[nodiscard]] bool knows(const schema::Run&, std::string_view text, const run::Target& target) const override {
    const auto patch = patch_training_settings(text, target.file, schema::TrainingSettings{});
    return !patch || has_training_settings(*patch) || patch->edits.empty();
  }

  [[nodiscard]] Result<run::Change> change(const schema::Run& stored, std::string_view text,
                                           const run::Target& target) const override {
    RL_TRY_ASSIGN(const auto run, schema::run_as<schema::BenchRun>(stored));
    return training_change(run, text, target.file);
  }
};

}  // namespace

std::unique_ptr<run::Kind> make_bench_kind() { return std::make_unique<BenchKind>(); }

}  // namespace ridgeline::campaign
