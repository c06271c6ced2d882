// SPDX-License-Identifier: Apache-2.0
#include "analysis/bench_answers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/messages.hpp"

namespace ridgeline::analysis {
namespace {

using schema::BenchAnswer;
using schema::BenchStage;
using schema::DataMode;

BenchAnswer answer_of(const BenchPoint& point, std::string reason) {
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

/// Why a point that another one beats is an answer all the same; "" for one that none beats. `simplest`: it was chosen
/// for that, and not for a single number.
std::string off_front(const BenchPoint& point, const std::vector<BenchPoint>& points, bool simplest,
                      const std::string& device) {
  const auto better =
      std::find_if(points.begin(), points.end(), [&](const auto& other) { return beats(other, point); });
  if (better == points.end()) return {};
  const auto name = schema::describe(better->settings, device);
  if (!simplest)
    return fmt::format("{} is as good in this and better in something else; of equal ones the first is taken", name);
  if (better->failed_stability_run)
    return fmt::format("{} is as good or better in everything, but failed its stability run", name);
  const auto& ours = point.settings;
  const auto& theirs = better->settings;
  const char* why = ours.pin_memory != theirs.pin_memory ? "is not pinned"
                    : ours.amp == theirs.amp             ? "was measured first"
                    : ours.amp == schema::AmpMode::off   ? "does without AMP"
                                                         : "has bf16 and not fp16";
  const auto gain = better->samples_per_s > point.samples_per_s
                        ? fmt::format("{:.1f} % faster", (better->samples_per_s / point.samples_per_s - 1) * 100)
                        : std::string("as fast");
  return fmt::format("{} is {} within the same memory (in steps of 1 %) and workers; this one goes first as it {}",
                     name, gain, why);
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

/// Why the recommended settings are slower than the tolerance allows.
std::string fallback_text(const std::vector<BenchPoint>& points, double floor, const AnswerOptions& options) {
  if (std::any_of(points.begin(), points.end(), [&](const auto& point) {
        return point.samples_per_s >= floor && within_headroom(point, options.headroom);
      }))
    return fmt::format("none within {} of the fastest passed its stability run", percent(options.tolerance));
  return fmt::format("none that leaves {} of the memory free is within {} of the fastest", percent(options.headroom),
                     percent(options.tolerance));
}

/// Why no point may be recommended.
std::string no_recommendation(const std::vector<BenchPoint>& points, double headroom) {
  if (std::any_of(points.begin(), points.end(), [&](const auto& point) { return within_headroom(point, headroom); }))
    return fmt::format("none of the settings that leave {} of the memory free passed its stability run",
                       percent(headroom));
  return fmt::format("no setting leaves {} of the memory free; --mem-headroom 0% asks for none", percent(headroom));
}

/// Whether the recommended settings had a stability run, and how long it was.
std::string stability_text(const BenchPoint& point, const AnswerOptions& options) {
  if (!point.passed_stability_run) {
    if (options.stability_steps <= 0) return "no stability run; --stability-run 500 makes one";
    return "no stability run: " +
           (options.no_stability_run.empty() ? "the run ended before" : options.no_stability_run);
  }
  if (point.stability_steps < options.stability_steps)
    return fmt::format("stability run cut at {} of {} steps", point.stability_steps, options.stability_steps);
  // Windows may go a few steps beyond what was asked for.
  return fmt::format("passed a stability run of {} steps",
                     options.stability_steps > 0 ? options.stability_steps : point.stability_steps);
}

/// Flag of a stability run that ended before its steps.
constexpr std::string_view kCutStabilityRun = "stability_run_cut";
constexpr std::string_view kFormerCutFlag = "soak_cut";  ///< of stored runs

}  // namespace

std::int64_t stability_steps_of(const schema::TrainingOutcome& outcome) {
  return outcome.measurement ? outcome.measurement->steps + outcome.measurement->discarded_steps : 0;
}

void mark_cut_stability_run(schema::BenchTrial& trial, std::int64_t asked, std::string_view why) {
  if (!trial.outcome.measurement) return;
  const auto text = fmt::format("stability run cut at {} of {} steps", stability_steps_of(trial.outcome), asked);
  trial.reason += "; " + text;
  trial.outcome.measurement->flags.push_back(
      {schema::FlagLevel::notice, std::string(kCutStabilityRun),
       messages::stability_run_cut(
           {.steps = stability_steps_of(trial.outcome), .asked = asked, .why = std::string(why)})});
}

std::string cut_stability_run(const schema::BenchTrial& trial) {
  if (!trial.outcome.measurement) return {};
  const auto& flags = trial.outcome.measurement->flags;
  if (!schema::has_flag(flags, kCutStabilityRun) && !schema::has_flag(flags, kFormerCutFlag)) return {};
  return fmt::format("cut after {} steps", stability_steps_of(trial.outcome));
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
    if (good) points[at].stability_steps = std::max(points[at].stability_steps, stability_steps_of(trial.outcome));
  }
  return points;
}

bool eligible(const BenchPoint& point, double headroom) {
  return within_headroom(point, headroom) && !point.failed_stability_run;
}

std::optional<schema::BenchAnswers> answer_bench(const schema::BenchRun& run, const AnswerOptions& options) {
  const auto points = bench_points(run);
  if (points.empty()) return std::nullopt;
  schema::BenchAnswers out;
  out.tolerance = options.tolerance;
  out.headroom = options.headroom;
  out.stability_steps = options.stability_steps;

  const auto fastest = std::max_element(points.begin(), points.end(),
                                        [](const auto& a, const auto& b) { return a.samples_per_s < b.samples_per_s; });
  out.fastest = answer_of(*fastest, fmt::format("the highest samples/s of {} settings measured", points.size()));
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
        answer_of(*efficient, fmt::format("{:.4g} samples/s a GB of {:.3g} GB",
                                          efficient->samples_per_s / *efficient->memory_gb, *efficient->memory_gb));

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
    auto reason =
        recommended->settings == fastest->settings
            ? std::string("the fastest; none within its tolerance is simpler")
            : fmt::format("{:.1f} % of the fastest with the least memory and the fewest workers", share * 100);
    if (out.fallback) reason += "; " + fallback_text(points, (1 - options.tolerance) * fastest->samples_per_s, options);
    if (recommended->memory_gb && recommended->capacity_gb)
      reason += fmt::format("; {:.0f} % of the memory", *recommended->memory_gb / *recommended->capacity_gb * 100);
    reason += "; " + stability_text(*recommended, options);
    out.recommended = answer_of(*recommended, std::move(reason));
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
