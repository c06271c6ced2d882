// SPDX-License-Identifier: Apache-2.0
#include "report/json_report.hpp"

#include <array>
#include <set>

#include "analysis/candidate_table.hpp"
#include "analysis/comparison_text.hpp"
#include "analysis/compile_cost.hpp"
#include "analysis/gpu_limits.hpp"
#include "analysis/isolated.hpp"
#include "analysis/proof.hpp"
#include "report/simulated.hpp"
#include "report/tune_view.hpp"
#include "report/utf8.hpp"
#include "stats/interval.hpp"

namespace ridgeline::report {
namespace {

using base::Json;

Json interval_json(const stats::Interval& interval) { return Json::array({interval.low, interval.high}); }

Json comparison_json(const schema::Comparison& found) {
  return {{"ratio", analysis::is_too_wide(found) ? Json(nullptr) : Json(found.ratio)},
          {"interval", {found.low, found.high}},
          {"p_value", found.p_value},
          {"abba_rounds", found.abba_rounds},
          {"percentile", found.tail > 0 ? Json(found.tail * 100) : Json(nullptr)},
          {"verdict", found.verdict}};
}

Json optional_comparison(const std::optional<schema::Comparison>& found) {
  return found ? comparison_json(*found) : Json(nullptr);
}

constexpr std::array<std::string_view, 4> kGpuMetrics{"gpu_memory_gb", "gpu_weights_gb", "gpu_arena_gb",
                                                      "gpu_energy_mj_per_item"};

std::optional<double> measured_gpu_metric(const schema::Measurement& measured, std::string_view metric) {
  return analysis::metric_value(measured, {}, metric);
}

/// The GPU's part of a trial: its metrics and what was seen of the card, without the time line.
void add_gpu(Json& out, const schema::Measurement& measured) {
  out["metrics"] = measured.metrics;
  for (const auto metric : kGpuMetrics)
    if (const auto value = measured_gpu_metric(measured, metric)) out["metrics"][std::string(metric)] = *value;
  out["gpu"] = measured.gpu;
  if (measured.gpu) out["gpu"].erase("samples");
}

Json limits_json(const TuneView& view) {
  Json out = Json::array();
  for (const auto& entry : view.ranking) {
    if (entry.trial != view.current() && entry.trial != view.recommended()) continue;
    const auto limits = analysis::gpu_limits(
        view.run, entry, analysis::isolated_with(view.run, view.outcomes, entry.trial->configuration));
    if (!limits) continue;
    out.push_back({{"trial_id", entry.trial->id},
                   {"bound", analysis::bound_name(limits->bound)},
                   {"likely", limits->likely},
                   {"slow_kernels", limits->slow_kernels},
                   {"inference_ns", limits->inference_ns},
                   {"compute_ns", limits->compute_ns},
                   {"memory_ns", limits->memory_ns},
                   {"copy_ns", limits->copy_ns},
                   {"launch_ns", limits->launch_ns},
                   {"busy_share", limits->busy},
                   {"distance", limits->distance},
                   {"compute_type", limits->compute_type},
                   {"pageable_assumed", limits->pageable_assumed},
                   {"flops", limits->work.flops},
                   {"memory_bytes", limits->work.memory_bytes},
                   {"memory_as_run", limits->work.as_run},
                   {"input_bytes", limits->work.input_bytes},
                   {"output_bytes", limits->work.output_bytes}});
  }
  return out;
}

Json load_json(const TuneView& view) {
  const auto id_of = [](const analysis::RankedTrial* ranked) {
    return ranked != nullptr ? Json(ranked->trial->id) : Json(nullptr);
  };
  Json points = Json::array();
  for (const auto& point : view.load.points)
    points.push_back(
        {{"batch_size", point.batch},
         {"parallel_sessions", point.sessions},
         {"trial_id", point.trial->id},
         {"best_of_load", point.best_of_load},
         {"status", point.outcome->status},
         {"gpu_memory_gb", point.memory_gb},
         {"throughput_per_s", point.ranked != nullptr ? Json(point.ranked->summary.throughput_per_s) : Json(nullptr)},
         {"median_ns", point.ranked != nullptr ? Json(point.ranked->summary.median_ns) : Json(nullptr)}});
  return {{"points", points},
          {"pareto_front", view.load.front},
          {"highest_throughput", id_of(view.load.highest_throughput)},
          {"lowest_latency", id_of(view.load.lowest_latency)},
          {"best_within_latency_limit", id_of(view.load.within_limit)},
          {"best_per_gb", id_of(view.load.per_gb)}};
}

Json run_json(const schema::TuneRun& run) {
  Json constraints = Json::array();
  for (const auto& constraint : run.request.constraints) constraints.push_back(constraint.to_text());
  Json out{{"id", run.id},
           {"command_line", run.command_line},
           {"started_utc", run.started_utc},
           {"finished_utc", run.finished_utc},
           {"duration_s", run.duration_s},
           {"interrupted", run.interrupted},
           {"request", run.request},
           {"objective", run.request.objective},
           {"constraints", constraints},
           {"min_effect", run.request.min_effect},
           {"accuracy_tolerance", run.accuracy_tolerance},
           {"accuracy_gate", run.accuracy_gate},
           {"call_variation", run.call_variation},
           {"search", run.request.search},
           {"seed", run.request.seed},
           {"provider", run.provider},
           {"device", run.device},
           {"space_size", run.space_size}};
  if (run.time_spent) out["time_spent"] = *run.time_spent;
  if (!run.untried.empty()) out["untried"] = run.untried;
  return out;
}

Json isolated_json(const schema::Measurement* measurement) {
  if (measurement == nullptr) return nullptr;
  const auto summary = analysis::summarize(*measurement);
  const auto energy = analysis::metric_value(*measurement, summary, "gpu_energy_mj_per_item");
  return {{"median_ns", summary.median_ns}, {"gpu_energy_mj_per_item", energy ? Json(*energy) : Json(nullptr)}};
}

Json candidate_json(const schema::Candidate& candidate) {
  return {{"engine", candidate.engine},           {"runtime", candidate.runtime.name},
          {"version", candidate.runtime.version}, {"path", candidate.runtime.library_path},
          {"provider", candidate.provider},       {"plugin", candidate.plugin}};
}

Json candidates_json(const TuneView& view) {
  Json rows = Json::array();
  for (const auto& row : analysis::candidate_table(view.run, view.outcomes)) {
    auto json = candidate_json(row.candidate);
    json["id"] = row.candidate.id;
    json["source"] = row.candidate.source;
    json["left"] = row.left;
    json["trial_id"] = row.trial != nullptr ? Json(row.trial->id) : Json(nullptr);
    json["trials"] = row.trials;
    json["against_current"] = optional_comparison(row.against_current);
    rows.push_back(std::move(json));
  }
  return rows;
}

Json verdict_json(const TuneView& view) {
  const auto& run = view.run;
  if (!run.verdict) return nullptr;
  const auto& verdict = *run.verdict;
  const auto isolated = analysis::isolated_of(run, view.outcomes);
  Json changed = Json::object();
  for (const auto& change : changes_of(run)) changed[change.key] = {{"from", change.from}, {"to", change.to}};
  Json out{{"decision", verdict.decision},
           {"undecided", analysis::is_undecided(run)},
           {"trial_id", verdict.trial_id},
           {"configuration", verdict.configuration},
           {"candidate", candidate_json(analysis::candidate_in(run, verdict.configuration))},
           {"code", verdict.code},
           {"changed", changed},
           {"gain", optional_comparison(verdict.gain)},
           {"isolated", isolated_json(isolated.recommended)},
           {"isolated_current", isolated_json(isolated.current)},
           {"tied_with", verdict.tied_with},
           {"unproven", verdict.unproven},
           {"reason", verdict.reason}};
  if (const auto cost = analysis::compile_cost(run, view.outcomes, view.ranking)) {
    out["compile_s"] = cost->seconds;
    out["compile_from_warm_cache"] = cost->from_warm_cache;
    out["pays_after_calls"] = cost->pays_after_calls;
  }
  return out;
}

Json ranked_json(const schema::TuneRun& run, const analysis::RankedTrial& entry) {
  const auto& summary = entry.summary;
  const bool known = has_objective(run, entry);
  return {
      {"trial_id", entry.trial->id},
      {"rank", entry.rank},
      {"value", known ? Json(entry.measured.value) : Json(nullptr)},
      {"interval", known ? interval_json(entry.measured.interval) : Json(nullptr)},
      {"speed_corrected", known && analysis::is_corrected(entry)
                              ? Json{{"value", entry.cost.value}, {"interval", interval_json(entry.cost.interval)}}
                              : Json(nullptr)},
      {"unit", run.request.objective == schema::Objective::throughput ? "ns_per_item" : "ns"},
      {"median_ns", summary.median_ns},
      {"median_interval_ns", interval_json(summary.median_interval_ns)},
      {"p90_ns", summary.p90_ns},
      {"p95_ns", summary.p95_ns},
      {"p99_ns", summary.p99_ns},
      {"throughput_per_s", summary.throughput_per_s},
      {"throughput_interval_per_s", interval_json(summary.throughput_interval_per_s)},
      {"samples", summary.count},
      {"peak_rss_bytes", entry.outcome->measurement ? Json(entry.outcome->measurement->peak_rss_bytes) : Json(nullptr)},
      {"meets_constraints", entry.meets_constraints},
      {"broken_constraint", entry.broken_constraint}};
}

Json trial_json(const TuneView& view, const schema::TunedTrial& trial) {
  Json out{{"id", trial.id},
           {"stage", trial.stage},
           {"configuration", trial.configuration},
           {"key", trial.key},
           {"cached", trial.cached},
           {"takes", trial.takes},
           {"corrected", trial.corrected},
           {"started_s", trial.started_s},
           {"reason", trial.reason},
           {"status", nullptr},
           {"duration_s", nullptr},
           {"measured_utc", nullptr},
           {"failure", nullptr},
           {"output_error", nullptr},
           {"samples", nullptr}};
  const auto* outcome = view.outcome(trial);
  if (outcome == nullptr) return out;
  out["status"] = outcome->status;
  out["duration_s"] = outcome->duration_s;
  out["measured_utc"] = outcome->measured_utc;
  out["failure"] = outcome->failure;
  if (outcome->failure && outcome->failure->gpu) out["failure"]["gpu"].erase("samples");
  out["output_error"] = outcome->output_error;
  if (!outcome->measurement) return out;
  const auto& measured = *outcome->measurement;
  out["samples"] = measured.latency_ns.size();
  out["session_create_ns"] = measured.session_create_ns;
  out["first_run_ns"] = measured.first_run_ns;
  if (const auto compiled = measured.metrics.find("compile_s"); compiled != measured.metrics.end())
    out["compile_s"] = compiled->second;
  out["warmup_runs"] = measured.warmup_runs;
  out["stop_reason"] = measured.stop_reason;
  out["peak_rss_bytes"] = measured.peak_rss_bytes;
  out["flags"] = measured.flags;
  out["effective_settings"] = measured.effective_settings;
  if (!measured.ran_on.libraries.empty())
    out["ran_on"] = {
        {"libraries", measured.ran_on.libraries}, {"nodes", measured.ran_on.nodes}, {"parts", measured.ran_on.parts}};
  if (view.on_gpu()) add_gpu(out, measured);
  return out;
}

std::string finding_kind(analysis::FindingKind kind) {
  switch (kind) {
    case analysis::FindingKind::gain: return "gain";
    case analysis::FindingKind::no_effect: return "no_effect";
    case analysis::FindingKind::harmful: return "harmful";
    case analysis::FindingKind::quality: return "quality";
    case analysis::FindingKind::failure: return "failure";
    default: return "limit";
  }
}

Json pruned_json(const TuneView& view) {
  auto out = Json::array();
  for (const auto& entry : view.run.pruned)
    out.push_back({{"key", entry.key}, {"values", entry.values}, {"reason", entry.reason}});
  return out;
}

}  // namespace

Json tune_json(const schema::MessageRenderer& words, const schema::TuneRun& run,
               const analysis::OutcomesByKey& outcomes, const analysis::PairsByKey& pairs) {
  const TuneView view(words, run, outcomes, pairs);
  Json ranking = Json::array();
  for (const auto& entry : view.ranking) ranking.push_back(ranked_json(run, entry));
  const auto id_of = [&](const schema::Configuration& configuration) {
    const auto* trial = analysis::trial_of(view.ranking, configuration);
    return trial != nullptr ? Json(trial->id) : Json(nullptr);
  };
  Json comparisons = Json::array();
  for (const auto& pair : run.pairs) {
    auto row = pair.comparison ? comparison_json(*pair.comparison)
                               : Json{{"ratio", nullptr},
                                      {"interval", nullptr},
                                      {"p_value", nullptr},
                                      {"abba_rounds", 0},
                                      {"verdict", nullptr}};
    row.update({{"purpose", pair.purpose},
                {"setting", pair.setting},
                {"a", pair.a},
                {"a_trial_id", id_of(pair.a)},
                {"b", pair.b},
                {"b_trial_id", id_of(pair.b)},
                {"status", pair.status},
                {"failure", pair.failure},
                {"cached", pair.cached},
                {"flags", pair.flags}});
    comparisons.push_back(std::move(row));
  }
  Json trials = Json::array();
  for (const auto& trial : run.trials) trials.push_back(trial_json(view, trial));
  Json findings = Json::array();
  for (const auto& finding : view.findings)
    findings.push_back({{"kind", finding_kind(finding.kind)},
                        {"title", finding.title},
                        {"evidence", finding.evidence},
                        {"advice", finding.advice}});
  Json out{{"schema", "ridgeline.tune"},
           {"schema_version", kTuneJsonVersion},
           {"simulated", is_simulated(run)},
           {"run", run_json(run)},
           {"verdict", verdict_json(view)},
           {"current",
            {{"configuration", run.current},
             {"origins", run.current_origins},
             {"trial_id", view.current() != nullptr ? Json(view.current()->id) : Json(nullptr)}}},
           {"candidates", candidates_json(view)},
           {"ranking", ranking},
           {"pareto_front", view.front},
           {"comparisons", comparisons},
           {"trials", trials},
           {"findings", findings},
           {"space", run.space},
           {"pruned", pruned_json(view)},
           {"environment", run.environment},
           {"model", run.model},
           {"runtime_graphs", run.runtime_graphs},
           {"runtime", run.runtime},
           {"plan", run.plan},
           {"workload", run.workload},
           {"speed", run.speed},
           {"notes", run.notes}};
  if (!view.on_gpu()) return schema::with_words(words, std::move(out));
  out["run"]["tensor_location"] = run.tensor_location;
  out["gpu_ceilings"] = run.gpu_ceilings;
  out["gpu_limits"] = limits_json(view);
  out["load"] = load_json(view);
  return schema::with_words(words, std::move(out));
}

}  // namespace ridgeline::report
