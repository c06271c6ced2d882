// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_answers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/messages.hpp"
#include "schema/message_renderer.hpp"
#include "schema/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::BenchAnswer;
using schema::BenchStage;
using schema::DataMode;
using schema::Message;

BenchAnswer answer_of(const BenchPoint& point, Message reason) {
  return {point.settings, point.trials,    point.samples_per_s, point.low,
          point.high,     point.memory_gb, std::move(reason),   {}};
}

bool within_headroom(const BenchPoint& point, double headroom) {
  return !point.memory_gb || !point.capacity_gb || *point.memory_gb <= (1 - headroom) * *point.capacity_gb;
}

/// Whether `a` is at least as good as `b` in everything and better in something. Unknown memory compares as equal.
bool beats(const BenchPoint& a, const BenchPoint& b) {
  const bool comparable = a.memory_gb && b.memory_gb;
  const double memory_a = comparable ? *a.memory_gb : 0;
  const double memory_b = comparable ? *b.memory_gb : 0;
  if (a.samples_per_s < b.samples_per_s || memory_a > memory_b || a.settings.workers > b.settings.workers) return false;
  return a.samples_per_s > b.samples_per_s || memory_a < memory_b || a.settings.workers < b.settings.workers;
}

/// Memory counts in steps of 1 %, so that noise in it does not outweigh a worker.
long memory_step(const BenchPoint& point) {
  return point.memory_gb && *point.memory_gb > 0 ? static_cast<long>(std::floor(100 * std::log(*point.memory_gb) + 0.5))
                                                 : 0L;
}

/// Simplest first.
bool simpler(const BenchPoint& a, const BenchPoint& b) {
  if (memory_step(a) != memory_step(b)) return memory_step(a) < memory_step(b);
  if (a.settings.workers != b.settings.workers) return a.settings.workers < b.settings.workers;
  if (a.settings.pin_memory != b.settings.pin_memory) return !a.settings.pin_memory;
  if (a.settings.amp != b.settings.amp) return a.settings.amp < b.settings.amp;
  return a.samples_per_s > b.samples_per_s;
}

/// Why a point that another one beats is an answer all the same; empty for one that none beats. `simplest`: it was
/// chosen for that, and not for a single number.
Message off_front(const BenchPoint& point, const std::vector<BenchPoint>& points, bool simplest,
                  const std::string& device) {
  const auto better =
      std::find_if(points.begin(), points.end(), [&](const auto& other) { return beats(other, point); });
  if (better == points.end()) return {};
  const auto name = schema::describe(better->settings, device);
  if (!simplest) return messages::bench_better_elsewhere(name);
  if (better->failed_stability_run) return messages::bench_better_failed(name);
  const auto& ours = point.settings;
  const auto& theirs = better->settings;
  using Why = messages::BenchBetterByAHairWhy;
  const auto why = ours.pin_memory != theirs.pin_memory ? Why::unpinned
                   : ours.amp == theirs.amp             ? Why::earlier
                   : ours.amp == schema::AmpMode::off   ? Why::no_amp
                                                        : Why::bf16;
  std::optional<double> gain;
  if (better->samples_per_s > point.samples_per_s) gain = better->samples_per_s / point.samples_per_s - 1;
  return messages::bench_better_by_a_hair({.settings = name, .gain = gain, .why = why});
}

/// Why the recommended settings are slower than the tolerance allows.
Message fallback_text(const std::vector<BenchPoint>& points, double floor, const AnswerOptions& options) {
  if (std::any_of(points.begin(), points.end(), [&](const auto& point) {
        return point.samples_per_s >= floor && within_headroom(point, options.headroom);
      }))
    return messages::bench_none_near_passed(options.tolerance);
  return messages::bench_none_near_fits({.headroom = options.headroom, .tolerance = options.tolerance});
}

/// Why no point may be recommended.
Message no_recommendation(const std::vector<BenchPoint>& points, double headroom) {
  if (std::all_of(points.begin(), points.end(), [](const auto& point) { return point.lost_loss; }))
    return messages::bench_none_trains();
  if (std::any_of(points.begin(), points.end(), [&](const auto& point) { return within_headroom(point, headroom); }))
    return messages::bench_none_passed(headroom);
  return messages::bench_none_fits(headroom);
}

/// Whether the recommended settings had a stability run, and how long it was.
Message stability_text(const BenchPoint& point, const AnswerOptions& options) {
  if (!point.passed_stability_run)
    return options.stability_steps <= 0 ? messages::bench_stability_not_asked()
                                        : messages::bench_no_stability_run(options.no_stability_run);
  if (point.stability_steps < options.stability_steps)
    return messages::bench_stability_cut({.steps = point.stability_steps, .asked = options.stability_steps});
  // Windows may go a few steps beyond what was asked for.
  return messages::bench_stability_passed(options.stability_steps > 0 ? options.stability_steps
                                                                      : point.stability_steps);
}

/// Flag of a stability run that ended before its steps.
constexpr std::string_view kCutStabilityRun = "stability_run_cut";
constexpr std::string_view kFormerCutFlag = "soak_cut";  ///< of stored runs

}  // namespace

std::int64_t stability_steps_of(const schema::TrainingOutcome& outcome) {
  return outcome.measurement ? outcome.measurement->steps + outcome.measurement->discarded_steps : 0;
}

void mark_cut_stability_run(schema::BenchTrial& trial, std::int64_t asked, const Message& why) {
  if (!trial.outcome.measurement) return;
  const auto cut = messages::bench_stability_cut({.steps = stability_steps_of(trial.outcome), .asked = asked});
  trial.reason = schema::messages::several({std::move(trial.reason), cut});
  trial.outcome.measurement->flags.push_back({schema::FlagLevel::notice, std::string(kCutStabilityRun),
                                              messages::bench_stability_cut_why({.cut = cut, .why = why})});
}

Message cut_stability_run(const schema::BenchTrial& trial) {
  if (!trial.outcome.measurement) return {};
  const auto& flags = trial.outcome.measurement->flags;
  if (!schema::has_flag(flags, kCutStabilityRun) && !schema::has_flag(flags, kFormerCutFlag)) return {};
  return messages::bench_cut_after(stability_steps_of(trial.outcome));
}

std::vector<BenchPoint> bench_points(const schema::BenchRun& run) {
  std::vector<BenchPoint> points;
  std::vector<double> steps;
  std::vector<double> samples;  // rates times steps: one sum and one division, so that another program gets the same
  std::vector<double> spread;
  const auto place = [&](const schema::TrainingSettings& settings) {
    const auto found =
        std::find_if(points.begin(), points.end(), [&](const auto& point) { return point.settings == settings; });
    return static_cast<std::size_t>(found - points.begin());
  };
  for (const auto& trial : run.trials) {
    // Experiments may lie outside of what the user asked for: they explain, they do not answer.
    if (trial.data != DataMode::loader || trial.stage == BenchStage::stability_run ||
        trial.stage == BenchStage::experiment)
      continue;
    if (trial.outcome.status != schema::TrialStatus::ok || !trial.outcome.measurement) continue;
    const auto& measurement = *trial.outcome.measurement;
    if (measurement.samples_per_s.value <= 0) continue;
    const auto at = place(trial.settings);
    if (at == points.size()) {
      points.emplace_back();
      points.back().settings = trial.settings;
      steps.push_back(0);
      samples.push_back(0);
      spread.push_back(0);
    }
    auto& point = points[at];
    const auto weight = static_cast<double>(std::max<std::int64_t>(1, measurement.steps));
    const auto& rate = measurement.samples_per_s;
    samples[at] += rate.value * weight;
    steps[at] += weight;
    spread[at] = std::max({spread[at], (rate.high - rate.low) / 2 / rate.value});
    point.trials.push_back(trial.id);
    point.lost_loss = point.lost_loss || schema::has_lost_loss(measurement);
    const auto& resources = measurement.resources;
    if (resources.peak_reserved_gb)
      point.memory_gb = std::max(point.memory_gb.value_or(0), *resources.peak_reserved_gb);
    if (resources.device_capacity_gb) point.capacity_gb = resources.device_capacity_gb;
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].samples_per_s = samples[i] / steps[i];
    points[i].low = points[i].samples_per_s * (1 - spread[i]);
    points[i].high = points[i].samples_per_s * (1 + spread[i]);
  }
  for (const auto& trial : run.trials) {
    if (trial.stage != BenchStage::stability_run) continue;
    const auto at = place(trial.settings);
    if (at == points.size()) continue;
    const bool good = trial.outcome.status == schema::TrialStatus::ok && trial.outcome.measurement &&
                      trial.outcome.measurement->resources.alloc_retries.value_or(0) == 0;
    (good ? points[at].passed_stability_run : points[at].failed_stability_run) = true;
    if (trial.outcome.measurement && schema::has_lost_loss(*trial.outcome.measurement)) points[at].lost_loss = true;
    if (good) points[at].stability_steps = std::max(points[at].stability_steps, stability_steps_of(trial.outcome));
  }
  return points;
}

bool eligible(const BenchPoint& point, double headroom) {
  return within_headroom(point, headroom) && !point.failed_stability_run && !point.lost_loss;
}

std::vector<BenchPoint> points_that_train(const schema::BenchRun& run) {
  auto all = bench_points(run);
  std::vector<BenchPoint> out;
  std::copy_if(all.begin(), all.end(), std::back_inserter(out), [](const auto& point) { return !point.lost_loss; });
  return out.empty() ? all : out;
}

std::optional<schema::BenchAnswers> answer_bench(const schema::BenchRun& run, const AnswerOptions& options) {
  const auto points = points_that_train(run);
  if (points.empty()) return std::nullopt;
  schema::BenchAnswers out;
  out.tolerance = options.tolerance;
  out.headroom = options.headroom;
  out.stability_steps = options.stability_steps;

  const auto fastest = std::max_element(points.begin(), points.end(),
                                        [](const auto& a, const auto& b) { return a.samples_per_s < b.samples_per_s; });
  out.fastest = answer_of(*fastest, messages::bench_highest(static_cast<std::int64_t>(points.size())));
  for (const auto& point : points)
    if (&point != &*fastest && point.high >= fastest->low) out.ties.push_back(point.settings);

  const BenchPoint* efficient = nullptr;
  for (const auto& point : points) {
    if (!point.memory_gb || *point.memory_gb <= 0) continue;
    if (efficient == nullptr ||
        point.samples_per_s / *point.memory_gb > efficient->samples_per_s / *efficient->memory_gb)
      efficient = &point;
  }
  if (efficient != nullptr)
    out.efficient =
        answer_of(*efficient, messages::bench_yield({.yield = efficient->samples_per_s / *efficient->memory_gb,
                                                     .memory_gb = *efficient->memory_gb}));

  double best_eligible = 0;
  for (const auto& point : points)
    if (eligible(point, options.headroom)) best_eligible = std::max(best_eligible, point.samples_per_s);
  out.floor = (1 - options.tolerance) * fastest->samples_per_s;
  out.fallback = best_eligible < out.floor;
  if (out.fallback) out.floor = (1 - options.tolerance) * best_eligible;
  const BenchPoint* recommended = nullptr;
  for (const auto& point : points)
    if (eligible(point, options.headroom) && point.samples_per_s >= out.floor &&
        (recommended == nullptr || simpler(point, *recommended)))
      recommended = &point;
  if (recommended != nullptr) {
    const double share = recommended->samples_per_s / fastest->samples_per_s;
    std::vector<Message> reasons{recommended->settings == fastest->settings ? messages::bench_fastest_is_simplest()
                                                                            : messages::bench_near_fastest(share)};
    if (out.fallback)
      reasons.push_back(fallback_text(points, (1 - options.tolerance) * fastest->samples_per_s, options));
    if (recommended->memory_gb && recommended->capacity_gb)
      reasons.push_back(messages::bench_memory_share(*recommended->memory_gb / *recommended->capacity_gb));
    reasons.push_back(stability_text(*recommended, options));
    out.recommended = answer_of(*recommended, schema::messages::several(reasons));
    out.recommended->off_front = off_front(*recommended, points, true, run.device);
  } else {
    out.no_recommendation = no_recommendation(points, options.headroom);
  }
  out.fastest->off_front = off_front(*fastest, points, false, run.device);
  if (efficient != nullptr) out.efficient->off_front = off_front(*efficient, points, false, run.device);

  for (const auto& point : points)
    if (std::none_of(points.begin(), points.end(), [&](const auto& other) { return beats(other, point); }))
      out.pareto.push_back(point.settings);
  return out;
}

BatchConsequence batch_consequence(std::int64_t old_batch, std::int64_t old_accumulation, double old_rate,
                                   std::int64_t new_batch) {
  BatchConsequence out;
  const auto accumulation = std::max<std::int64_t>(1, old_accumulation);
  out.effective_before = old_batch * accumulation;
  out.effective_after = new_batch * accumulation;
  out.ratio =
      static_cast<double>(out.effective_after) / static_cast<double>(std::max<std::int64_t>(1, out.effective_before));
  out.linear_rate = old_rate * out.ratio;
  out.square_root_rate = old_rate * std::sqrt(out.ratio);
  const double steps =
      static_cast<double>(out.effective_before) / static_cast<double>(std::max<std::int64_t>(1, new_batch));
  out.accumulation = std::max<std::int64_t>(1, std::llround(steps));
  out.nearest_effective = out.accumulation * new_batch;
  out.keeps = out.nearest_effective == out.effective_before;
  out.nearest_ratio =
      static_cast<double>(out.nearest_effective) / static_cast<double>(std::max<std::int64_t>(1, out.effective_before));
  out.nearest_linear_rate = old_rate * out.nearest_ratio;
  out.nearest_square_root_rate = old_rate * std::sqrt(out.nearest_ratio);
  return out;
}

}  // namespace ridgeline::analysis
