// SPDX-License-Identifier: Apache-2.0
#include "campaign/stream/stream_kind.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/comparison.hpp"
#include "analysis/stream_comparison.hpp"
#include "campaign/stream/stream_campaign.hpp"
#include "report/stream/stream_comparison_text.hpp"
#include "report/stream/stream_report.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::Result;

constexpr double kLeastStreamEffect = 0.02;  // that counts as a difference between then and now

std::string load_text(const schema::StreamRun& run) {
  const auto& load = run.request.spec.load;
  if (!load) return schema::is_paced(run) ? "the sources' own pace" : "as fast as it goes";
  if (load->process == "offline") return "as fast as it goes";
  return fmt::format("{} at {:.4g} FPS per source", load->process, load->rate_per_s);
}

run::Compared stream_side(const schema::StreamRun& run) {
  const auto& spec = run.request.spec;
  const auto& settings = spec.settings;
  run::Compared side;
  side.name = side.key = run.id;
  side.figure = fmt::format("{:.1f} FPS, {}", run.status.delivered_per_s, schema::tail_text(run.status.latency, 2));
  side.measured_utc = run.finished_utc;
  std::vector<std::string> sources;
  for (const auto& source : run.ready.sources)
    sources.push_back(fmt::format("{} {}x{}", source.name, source.width, source.height));
  side.facts = {{"model", spec.model.workload.location},
                {"sources", fmt::format("{}{}", fmt::join(sources, ", "),
                                        spec.copies > 1 ? fmt::format(", {} of each", spec.copies) : "")},
                {"load", load_text(run)},
                {"batch_size", std::to_string(settings.batch_size)},
                {"streams", std::to_string(settings.streams)},
                {"inference_scale", fmt::format("{:g}", settings.inference_scale)},
                {"inference_queue_size", std::to_string(settings.inference_queue_size)},
                {"frame_timeout_ms", fmt::format("{:g}", settings.frame_timeout_ms)},
                {"drop", settings.drop},
                {"rotate", settings.rotate},
                {"efficiency", settings.efficiency ? "true" : "false"},
                {"slo_ms", fmt::format("{:g}", settings.slo_ms)},
                {"decoder", run.ready.decoder},
                {"runtime's settings", spec.model.configuration.to_text()},
                {"runtime", run.ready.runtime},
                {"device", spec.model.device}};
  if (run.environment)
    side.facts.emplace_back("operating system", run.environment->os + ", " + run.environment->kernel);
  return side;
}

Result<run::RunComparison> compare_stream_runs(const schema::MessageRenderer& words, const schema::StreamRun& a,
                                               const schema::StreamRun& b, double min_effect) {
  if (schema::is_paced(a) != schema::is_paced(b))
    return base::fail(ErrorCode::invalid_argument, "{} ran at {} and {} at {}: a ratio of the two would mean nothing",
                      a.id, load_text(a), b.id, load_text(b))
        .hint("compare runs of one kind of load");
  for (const auto* run : {&a, &b})
    if (run->status.delivered == 0)
      return base::fail(ErrorCode::invalid_argument, "run {} delivered no frame", run->id).hint("choose another run");
  const auto found = analysis::compare_streams(a, b, min_effect);
  run::RunComparison out;
  out.a = stream_side(a);
  out.b = stream_side(b);
  out.min_effect = min_effect;
  out.comparison = found.total;
  out.lines = report::stream_comparison_lines(words, found);
  out.details = found;
  return out;
}

class StreamKind final : public run::Kind {
 public:
  StreamKind(const schema::MessageRenderer& words, MakeStreamChild make) : words_(words), make_(std::move(make)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return schema::StreamRun::kLayout.kind; }

  [[nodiscard]] Result<report::ReportModel> report(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto stream, schema::run_as<schema::StreamRun>(run));
    return report::build_stream_report(words_, stream);
  }

  [[nodiscard]] Result<base::Json> json(const schema::Run& run, store::Store&) const override {
    RL_TRY_ASSIGN(const auto stream, schema::run_as<schema::StreamRun>(run));
    return report::stream_json(words_, stream);
  }

  [[nodiscard]] Result<run::RunComparison> compare(const run::TrialName& a, const run::TrialName& b, store::Store&,
                                                   std::optional<double> min_effect) const override {
    RL_TRY_ASSIGN(const auto one, schema::run_as<schema::StreamRun>(a.run));
    RL_TRY_ASSIGN(const auto other, schema::run_as<schema::StreamRun>(b.run));
    return compare_stream_runs(words_, one, other, min_effect.value_or(analysis::separate_min_effect()));
  }

  [[nodiscard]] Result<run::RunComparison> rerun(const run::TrialName& name, store::Store&) const override {
    RL_TRY_ASSIGN(const auto then, schema::run_as<schema::StreamRun>(name.run));
    RL_TRY_ASSIGN(auto child, make_(then.request.spec.model.device));
    RL_TRY_ASSIGN(auto now, rerun_stream(then, std::move(child)));
    return compare_stream_runs(words_, then, now, kLeastStreamEffect);
  }

  [[nodiscard]] bool knows(const schema::Run&, std::string_view, const run::Target&) const override { return false; }

  [[nodiscard]] Result<run::Change> change(const schema::Run& run, std::string_view, const run::Target&,
                                           store::Store&) const override {
    return base::fail(ErrorCode::invalid_argument, "run {} is a stream: it recommends no settings", run.id)
        .hint("see what it did: ridgeline show {}", run.id);
  }

 private:
  const schema::MessageRenderer& words_;
  MakeStreamChild make_;
};

}  // namespace

std::unique_ptr<run::Kind> make_stream_kind(const schema::MessageRenderer& words, MakeStreamChild make) {
  return std::make_unique<StreamKind>(words, std::move(make));
}

}  // namespace ridgeline::campaign
