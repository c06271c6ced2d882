// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_kind.hpp"

#include <fmt/format.h>

#include "report/stream/stream_report.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

class StreamKind final : public run::Kind {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return schema::StreamRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto stream, schema::run_as<schema::StreamRun>(run));
    return report::build_stream_report(stream);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto stream, schema::run_as<schema::StreamRun>(run));
    return report::stream_json(stream);
  }

  [[nodiscard]] Result<run::RunComparison> compare(const run::TrialName& a, const run::TrialName&, store::Store&,
                                                   double) const override {
    return base::fail(ErrorCode::unsupported, "run {} is a stream: two of them are not compared yet", a.run.id)
        .hint("see both: ridgeline show {}", a.run.id);
  }

  [[nodiscard]] Result<run::RunComparison> rerun(const run::TrialName& name, store::Store&) const override {
    return base::fail(ErrorCode::unsupported, "run {} is a stream: run it again by its command", name.run.id)
        .hint("ridgeline {}", name.run.command_line);
  }

  [[nodiscard]] bool knows(const schema::Run&, std::string_view, const run::Target&) const override { return false; }

  [[nodiscard]] Result<run::Change> change(const schema::Run& run, std::string_view,
                                           const run::Target&) const override {
    return base::fail(ErrorCode::invalid_argument, "run {} is a stream: it recommends no settings", run.id)
        .hint("see what it did: ridgeline show {}", run.id);
  }
};

}  // namespace

std::unique_ptr<run::Kind> make_stream_kind() { return std::make_unique<StreamKind>(); }

}  // namespace ridgeline::campaign
