// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/accuracy_reference.hpp"

#include <algorithm>
#include <system_error>

#include "analysis/comparison.hpp"
#include "base/scratch_folder.hpp"
#include "campaign/line_of.hpp"
#include "campaign/messages.hpp"
#include "campaign/tune/input_checks.hpp"
#include "schema/message_renderer.hpp"

namespace ridgeline::campaign {

using base::ErrorCode;
using base::Result;

namespace {

constexpr double kMostFlopsOnOneThread = 5e9;
constexpr std::int64_t kOutputSets = 3;  // of a reference: files with another number of sets have another key
constexpr double kLeastCosine = 0.999;
constexpr double kTf32Tolerance = 1e-2;  // 10 bits of mantissa, through the depth of a network
constexpr double kMetricLoss = 0.01;
constexpr const char* kLevel = "graph_optimization_level";

/// Whether half precision is tried, or in use: outputs that are as exact as its tolerance asks for do not exist then.
bool uses_half_precision(const TuneRequest& request) {
  if (!request.precision.empty() && request.precision != "fp32") return true;
  const auto& space = request.space;
  return request.current.contains("torch_precision") || space.fixed.contains("torch_precision") ||
         std::any_of(space.values.begin(), space.values.end(),
                     [](const auto& dimension) { return dimension.key == "torch_precision"; });
}

constexpr std::size_t kNamed = 3;

/// As many as are named.
std::vector<std::string> first_of(std::vector<std::string> items) {
  items.resize(std::min(items.size(), kNamed));
  return items;
}

std::optional<std::int64_t> more_of(const std::vector<std::string>& items) {
  return items.size() > kNamed ? std::optional(static_cast<std::int64_t>(items.size() - kNamed)) : std::nullopt;
}

/// ", as RandomNormalLike "noise" draws random numbers"; of a function, whose seed each comparison sets, nothing more
/// is known.
schema::Message why_random(const schema::ModelDescription& model) {
  if (!model.provider.empty()) return messages::also_with_same_seed();
  const auto& random = model.random_nodes;
  if (!random.empty()) return messages::draws_random_numbers({.nodes = first_of(random), .more = more_of(random)});
  std::vector<std::string> unknown;
  for (const auto& [type, count] : model.node_counts)
    if (type.find('.') != std::string::npos) unknown.push_back(type);
  return messages::may_be_random({.nodes = first_of(unknown), .more = more_of(unknown)});
}

}  // namespace

base::Error out_of_time_in(base::Error error, std::string_view what) {
  return error.code == ErrorCode::out_of_time ? std::move(error).in(what) : std::move(error);
}

schema::TrialSpec AccuracyReference::spec_for(const schema::TrialSpec& like) const {
  const auto& run = result_.run;
  // The rows of a PyTorch model's batch are those of the reference over and over.
  const bool repeats = !run.model.provider.empty();
  const auto* batch = repeats ? nullptr : like.configuration.find("batch_size");
  const double flops = run.model.flops * (batch != nullptr ? batch->as_number(1) : 1);
  // Another device's kernels are the better witness, but one CPU thread must not take longer than the trials.
  const auto& witness = schema::plain_provider_of(run.provider);
  const bool on_gpu = witness.on_gpu() && (flops > kMostFlopsOnOneThread || flops <= 0);
  auto spec = like;
  spec.configuration = on_gpu ? request_.gpu_reference : request_.reference;
  if (!level_.empty()) spec.configuration.set(kLevel, level_);
  spec.device = run.device;
  // One reference for all candidates.
  spec.workload = run.workload;
  spec.runtime = run.runtime;
  spec.plugin.reset();
  // Outputs of another batch have another shape, so each batch has a reference of its own.
  if (batch != nullptr) spec.configuration.set("batch_size", *batch);
  spec.provider = on_gpu ? witness.id : schema::cpu_provider_beside(run.provider).id;
  spec.tensor_location = "host";
  spec.calls_per_wait = 1;
  spec.plan = {};
  spec.plan.runs = 0;  // sets its key apart from that of a timed trial
  spec.plan.max_runs = kOutputSets;
  return spec;
}

Result<std::filesystem::path> AccuracyReference::outputs(const schema::TrialSpec& like,
                                                         const execute::TimeLeft& time_left) {
  const auto spec = spec_for(like);
  const auto key = spec.key();
  const auto path = request_.reference_folder / (key + ".outputs");
  std::error_code ignored;
  if (noise_.count(key) != 0 && std::filesystem::exists(path, ignored)) return path;

  if (request_.use_store && std::filesystem::exists(path, ignored)) {
    RL_TRY_ASSIGN(const auto known, store_.find_trial(key));
    if (known && known->outcome.output_error) {
      noise_[key] = *known->outcome.output_error;
      return path;
    }
  }
  std::filesystem::create_directories(request_.reference_folder, ignored);
  observer_.stage("reference outputs");
  const auto begun = clock_.now();
  const auto made = execute::make_reference(executor_, spec, path, time_left).map_error([](auto error) {
    return out_of_time_in(std::move(error), "the reference outputs");
  });
  if (!made && made.error().code == ErrorCode::unsupported && level_.empty() &&
      spec.configuration.get_or(kLevel, "all").as_text() == "disable_all") {
    // Some releases make no session of half-precision models without the rewriting that puts casts into them.
    level_ = "basic";
    auto other = outputs(like, time_left);
    if (!other) return tl::unexpected<base::Error>(made.error());
    context_.note(messages::reference_level({.level = level_, .error = made.error().message}));
    return other;
  }
  if (!made) return tl::unexpected<base::Error>(made.error());
  const auto& output_error = *made;
  if (output_error.nonfinite > 0) return tl::unexpected(nonfinite_outputs(result_.run.workload, path, output_error));
  schema::TrialOutcome outcome;
  outcome.output_error = output_error;
  outcome.measured_utc = clock_.utc_now();
  outcome.duration_s = base::to_seconds(clock_.now() - begun);
  RL_TRY(store_.save_trial(spec, outcome));
  noise_[key] = output_error;
  return path;
}

std::optional<schema::TrialSpec> AccuracyReference::needed(const schema::TrialSpec& current) const {
  if (!request_.check_accuracy) return std::nullopt;
  auto spec = spec_for(current);
  const auto known = store_.find_trial(spec.key());
  if (request_.use_store && known && *known && (*known)->outcome.output_error) return std::nullopt;
  return spec;
}

Result<void> AccuracyReference::prepare(const schema::TrialSpec& current, const execute::TimeLeft& time_left) {
  auto& run = result_.run;
  if (!request_.check_accuracy) return {};
  // A repeated run whose trials are all in the store needs the noise only, not the file.
  const auto spec = spec_for(current);
  schema::OutputError noise;
  RL_TRY_ASSIGN(const auto known, store_.find_trial(spec.key()));
  if (request_.use_store && known && known->outcome.output_error) {
    noise = *known->outcome.output_error;
  } else {
    RL_TRY(outputs(current, time_left));
    noise = noise_[spec_for(current).key()];
  }
  run.accuracy_tolerance = request_.accuracy_tolerance ? *request_.accuracy_tolerance
                                                       : analysis::default_tolerance(run.model, noise.scaled_max_abs);
  RL_TRY(set_gate(noise));
  if (noise.variation && !run.accuracy_gate.value_or(schema::AccuracyGate{}).reference_metric)
    RL_TRY(take_variation(*noise.variation));
  note_noise(noise);
  if (noise.tiny_outputs > 0) context_.note(messages::accuracy_is_weak(noise.tiny_outputs));
  return {};
}

Result<void> AccuracyReference::check_inputs(const schema::TrialSpec& failed, const execute::TimeLeft& time_left) {
  const base::ScratchFolder folder("inputs");
  const auto made = execute::make_reference(executor_, spec_for(failed), folder.path() / "outputs", time_left);
  if (!made && (made.error().code == ErrorCode::refused_inputs || made.error().code == ErrorCode::invalid_argument))
    return tl::unexpected<base::Error>(made.error());
  return {};
}

Result<void> AccuracyReference::take_variation(const schema::CallVariation& variation) {
  auto& run = result_.run;
  const auto& model = run.workload.location;
  if (!variation.trend.empty())
    return base::fail(ErrorCode::invalid_argument,
                      "{}: {}, all with the same input: the model keeps state, so that its outputs cannot be compared",
                      model, line_of(variation.trend))
        .hint("have each call start anew, or skip the check with --accuracy-tolerance off");
  if (!variation.unjudged.empty())
    return base::fail(ErrorCode::invalid_argument,
                      "{}: output \"{}\" changes from call to call{}, and has no numbers whose distribution could be "
                      "compared",
                      model, variation.unjudged, schema::text_of(why_random(run.model), messages::table()))
        .hint("skip the check with --accuracy-tolerance off");
  run.call_variation = variation;
  context_.note(messages::judged_by_distribution({.outputs = first_of(variation.outputs),
                                                  .more = more_of(variation.outputs),
                                                  .why = why_random(run.model),
                                                  .repeats = variation.repeats,
                                                  .calls = variation.calls,
                                                  .tolerance = request_.accuracy_tolerance.has_value()}));
  return {};
}

void AccuracyReference::note_noise(const schema::OutputError& noise) {
  const auto& run = result_.run;
  const auto gate = run.accuracy_gate.value_or(schema::AccuracyGate{});
  if (gate.reference_metric || request_.accuracy_tolerance) return;
  if (gate.least_cosine > 0) {
    if (gate.least_cosine < kLeastCosine)
      context_.note(messages::less_similarity({.cosine = noise.cosine, .least = gate.least_cosine}));
  } else if (run.accuracy_tolerance > analysis::default_tolerance(run.model, 0)) {
    context_.note(messages::wider_tolerance(
        {.error = noise.scaled_max_abs, .tolerance = run.accuracy_tolerance, .any = run.accuracy_tolerance >= 1}));
  }
}

Result<void> AccuracyReference::set_gate(const schema::OutputError& noise) {
  auto& run = result_.run;
  if (run.model.provider.empty()) return {};
  const auto& model = run.workload.location;
  auto& gate = run.accuracy_gate.emplace();
  if (noise.metric_not_finite)
    return base::fail(
               ErrorCode::invalid_argument,
               "{}: the metric of the unchanged model's outputs is not finite; expected a number to compare with",
               model)
        .hint("correct the metric, or return none");
  if (noise.metric && request_.accuracy_tolerance)
    return base::fail(ErrorCode::invalid_argument,
                      "--accuracy-tolerance {:g}: {} returns a metric, which outputs are judged by",
                      *request_.accuracy_tolerance, model)
        .hint("leave one of the two out");
  if (!noise.metric && request_.metric_loss)
    return base::fail(ErrorCode::invalid_argument, "--metric-loss {:g}%: {} returns no metric",
                      100 * *request_.metric_loss, model)
        .hint("return (model, inputs, metric), or leave it out");
  gate.reference_metric = noise.metric;
  gate.metric_loss = noise.metric ? request_.metric_loss.value_or(kMetricLoss) : 0;
  constexpr double kAnySimilarity = 1e-6;
  // Ten times the noise, as of the tolerance.
  if (uses_half_precision(request_) && !request_.accuracy_tolerance)
    gate.least_cosine = std::clamp(1 - 10 * (1 - noise.cosine), kAnySimilarity, kLeastCosine);
  else if (run.on_gpu() && !request_.accuracy_tolerance)
    gate.tf32_tolerance = kTf32Tolerance;
  return {};
}

void AccuracyReference::accept_default_numerics(const schema::OutputError& found) {
  constexpr double kHeadroom = 2;            // other kernels of the same numerics round differently
  constexpr double kMostOutputError = 0.05;  // beyond it a limit of single values would let anything pass
  constexpr double kLeastAlike = 0.98;       // below it the defaults themselves are broken, not merely less exact
  auto& run = result_.run;
  const auto gate = run.accuracy_gate.value_or(schema::AccuracyGate{});
  // A check that is off stays off, also where the store knows the output error from a run that had one.
  if (!request_.check_accuracy || request_.accuracy_tolerance || !run.on_gpu() || gate.reference_metric) return;
  if (found.shape_mismatch || found.nan_mismatches > 0) return;
  const bool by_cosine = gate.least_cosine > 0;
  const double widened = kHeadroom * found.scaled_max_abs;
  const double least_cosine = 1 - kHeadroom * (1 - found.cosine);
  if (by_cosine ? found.cosine >= gate.least_cosine
                : widened <= run.accuracy_tolerance || found.scaled_max_abs <= gate.tf32_tolerance)
    return;
  if (!by_cosine && widened <= kMostOutputError) {
    context_.note(messages::defaults_differ({.error = found.scaled_max_abs, .tolerance = widened}));
    run.accuracy_tolerance = widened;
  } else if (found.cosine >= kLeastAlike && found.scaled_max_abs < 1) {
    context_.note(
        messages::defaults_differ_much({.error = found.scaled_max_abs, .cosine = found.cosine, .least = least_cosine}));
    run.accuracy_gate = gate;
    run.accuracy_gate->least_cosine = least_cosine;
  }
}

}  // namespace ridgeline::campaign
