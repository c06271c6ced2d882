// SPDX-License-Identifier: Apache-2.0
#include "report/stream/stream_report.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/stream/stream_answer.hpp"
#include "report/stream/stream_charts.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::StreamRun;
using schema::StreamStatus;

constexpr int kStreamJsonVersion = 2;

std::string ms(double value) { return fmt::format("{:.{}f} ms", value, value < 10 ? 2 : 1); }

std::string ms(const std::optional<double>& value) { return value ? ms(*value) : std::string(kAbsent); }

schema::Quantity quantity(double ms) { return {ms, "ms", ms < 10 ? 2 : 1}; }

schema::Message latency_of(const schema::LatencySummary& latency) {
  const auto known = [](const std::optional<double>& ms) { return ms ? std::optional(quantity(*ms)) : std::nullopt; };
  messages::StreamLatency out{.p50 = quantity(latency.p50),
                              .p95 = known(latency.p95),
                              .p99 = known(latency.p99),
                              .p999 = known(latency.p999),
                              .most = quantity(latency.max)};
  const auto needs = [&](const char* name, double quantile) {
    out.missing = name;
    out.frames = stats::samples_needed(quantile);
  };
  if (!latency.p95)
    needs("p95", 0.95);
  else if (!latency.p99)
    needs("p99", 0.99);
  else if (!latency.p999)
    needs("p99.9", 0.999);
  return messages::stream_latency(out);
}

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string(kAbsent);
}

KeyFigures key_figures(const StreamRun& run) {
  const auto& status = run.status;
  const auto& settings = run.request.spec.settings;
  KeyFigures out;
  out.figures.push_back({"Delivered", fmt::format("{:.1f} FPS", status.delivered_per_s),
                         fmt::format("{} of {} frames{}", status.delivered, status.offered,
                                     status.skipped > 0 ? fmt::format(", {} skipped", status.skipped) : ""),
                         Tone::neutral});
  const auto& p99 = status.latency.p99;
  const bool late = settings.slo_ms > 0 && p99 && *p99 > settings.slo_ms;
  out.figures.push_back({"p99 latency", ms(p99),
                         !p99                  ? fmt::format("needs {} frames", stats::samples_needed(0.99))
                         : settings.slo_ms > 0 ? fmt::format("limit {:g} ms", settings.slo_ms)
                                               : fmt::format("median {}", ms(status.latency.p50)),
                         settings.slo_ms == 0 || !p99 ? Tone::neutral
                         : late                       ? Tone::bad
                                                      : Tone::good});
  out.figures.push_back({"Dropped",
                         share(static_cast<double>(status.all_dropped()), static_cast<double>(status.offered)),
                         drops_text(status), status.all_dropped() > 0 ? Tone::warning : Tone::good});
  out.figures.push_back({"Mean batch", fmt::format("{:.1f}", status.mean_batch),
                         fmt::format("of {} at most", settings.batch_size), Tone::neutral});
  return out;
}

Facts settings_facts(const schema::MessageRenderer& words, const StreamRun& run) {
  const auto& spec = run.request.spec;
  const auto& settings = spec.settings;
  Facts out;
  std::vector<std::string> sources;
  for (const auto& source : run.ready.sources)
    sources.push_back(fmt::format("{} ({}x{}{})", source.name, source.width, source.height,
                                  source.fps > 0 ? fmt::format(", {:g} FPS", source.fps) : std::string()));
  if (sources.size() > 4) sources = {sources.front(), fmt::format("and {} more", sources.size() - 1)};
  out.rows = {
      {"Sources", plain_text(fmt::format("{}", fmt::join(sources, ", ")))},
      {"Model", plain_text(fmt::format("{} ({})", spec.model.workload.location, run.ready.runtime))},
      {"Input", plain_text(run.ready.input)},
      {"Decoder", plain_text(run.ready.decoder)},
      {"Inferences in flight", std::to_string(run.ready.workers)},
      {"Queue size, frames", std::to_string(run.status.queue_size > 0 ? run.status.queue_size : run.ready.queue_size)},
      {"Batch",
       words.text(messages::stream_batch({.frames = settings.batch_size, .wait = settings.frame_timeout_ms}))}};
  if (run.environment)
    out.rows.emplace_back(
        "Machine", plain_text(fmt::format(
                       "{}, {:g} usable CPUs{}", run.environment->cpu_model, run.environment->usable_cpus,
                       run.environment->gpus.empty() ? std::string() : ", " + run.environment->gpus.front().name)));
  if (spec.load) out.rows.emplace_back("Load", plain_text(words.text(offered_load(*spec.load))));
  return out;
}

Table batch_table(const StreamStatus& status) {
  Table table;
  table.columns = {{"Frames per inference", Align::right}, {"Inferences", Align::right}, {"Share", Align::right}};
  double all = 0;
  for (const auto count : status.batches) all += static_cast<double>(count);
  for (std::size_t size = 1; size < status.batches.size(); ++size)
    if (status.batches[size] > 0)
      table.rows.push_back({{std::to_string(size), std::to_string(status.batches[size]),
                             share(static_cast<double>(status.batches[size]), all)}});
  return table;
}

/// GPU telemetry for a terminal: over all seconds.
Table gpu_table(const StreamRun& run) {
  using schema::StreamGpu;
  Table table;
  table.columns = {{"GPU"}, {"Mean", Align::right}, {"Max", Align::right}};
  const auto add = [&](const char* name, std::optional<double> StreamGpu::*member, double scale, const char* format) {
    double sum = 0;
    double most = 0;
    int known = 0;
    for (const auto& moment : run.moments) {
      if (!moment.gpu || !(*moment.gpu.*member)) continue;
      const double value = *(*moment.gpu.*member) * scale;
      sum += value;
      most = std::max(most, value);
      ++known;
    }
    if (known > 0)
      table.rows.push_back(
          {{name, fmt::format(fmt::runtime(format), sum / known), fmt::format(fmt::runtime(format), most)}});
  };
  constexpr double kGib = 1.0 / (1 << 30);
  add("busy", &StreamGpu::utilization_percent, 1, "{:.0f} %");
  add("multiprocessors", &StreamGpu::sm_percent, 1, "{:.0f} %");
  add("tensor cores", &StreamGpu::tensor_percent, 1, "{:.0f} %");
  add("memory in use", &StreamGpu::memory_used_bytes, kGib, "{:.1f} GiB");
  add("power", &StreamGpu::power_w, 1, "{:.0f} W");
  add("temperature", &StreamGpu::temperature_c, 1, "{:.0f} °C");
  return table;
}

}  // namespace

schema::Message offered_load(const schema::StreamLoad& load) {
  using enum messages::StreamLoadKind;
  return messages::stream_load({.kind = load.process == "offline" ? offline
                                        : load.process == "trace" ? trace
                                                                  : pace,
                                .name = load.process == "trace" ? load.trace : load.process,
                                .rate = load.rate_per_s,
                                .seed = load.seed});
}

schema::Message verdict_title(const StreamRun& run) {
  using enum messages::StreamVerdictFound;
  const auto found = [&] {
    const bool passed = run.verdict && run.verdict->passed;
    if (run.verdict && run.verdict->held_per_s) {
      if (*run.verdict->held_per_s == 0) return run.is_void() ? late : none;
      return passed ? rates : run.is_void() ? up_to_late : up_to;
    }
    if (run.is_void()) return late;
    if (run.request.spec.load && run.request.spec.load->process == "offline") return passed ? peak : no_peak;
    return passed ? load : not_held;
  };
  return messages::stream_verdict({.found = found(), .rate = run.verdict ? run.verdict->held_per_s.value_or(0) : 0});
}

std::string drops_text(const StreamStatus& status) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : status.dropped) parts.push_back(fmt::format("{} {}", count, reason));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

Table stream_latency_table(const schema::MessageRenderer& words, const StreamStatus& status) {
  Table table;
  table.columns = {{"Stage"},
                   {"Mean", Align::right},
                   {"p50", Align::right},
                   {"p95", Align::right, true},
                   {"p99", Align::right},
                   {"p99.9", Align::right, true},
                   {"Max", Align::right}};
  using enum messages::StreamStageStage;
  const auto add = [&](messages::StreamStageStage stage, const schema::LatencySummary& row) {
    if (row.count > 0)
      table.rows.push_back({{words.text(messages::stream_stage(stage)), ms(row.mean), ms(row.p50), ms(row.p95),
                             ms(row.p99), ms(row.p999), ms(row.max)}});
  };
  add(all, status.latency);
  add(late, status.late);
  add(queue, status.queue);
  add(service, status.service);
  add(order, status.order);
  return table;
}

Table stream_load_table(const StreamRun& run) {
  Table table;
  if (run.points.empty()) return table;
  // The verdict second, as a narrow page shows the first columns only.
  table.columns = {{"FPS per source", Align::right}, {"Verdict"},
                   {"p50", Align::right, true},      {"p99", Align::right},
                   {"Dropped", Align::right},        {"Offered", Align::right, true},
                   {"Delivered", Align::right},      {"Busy", Align::right, true}};
  for (const auto& [rate, status, moments, verdict] : run.points)
    table.rows.push_back(
        {{fmt::format("{:g}", rate),
          verdict.passed   ? "kept up"
          : status.is_void ? "void"
                           : "fell behind",
          ms(status.latency.p50), ms(status.latency.p99),
          share(static_cast<double>(status.all_dropped()), static_cast<double>(status.offered)),
          fmt::format("{:.1f}/s", status.span_s > 0 ? static_cast<double>(status.offered) / status.span_s : 0),
          fmt::format("{:.1f}/s", status.delivered_per_s), fmt::format("{:.0f} %", 100 * status.busy)},
         verdict.passed   ? Tone::good
         : status.is_void ? Tone::warning
                          : Tone::bad,
         ""});
  return table;
}

std::vector<std::pair<std::string, double>> stream_times(const schema::MessageRenderer& words, const StreamRun& run) {
  using enum messages::StreamTimeOfWork;
  constexpr std::array kRows{
      std::pair{"inference", inference}, std::pair{"crops", crops},           std::pair{"copy", copy},
      std::pair{"wait", wait},           std::pair{"preprocess", preprocess}, std::pair{"postprocess", postprocess},
      std::pair{"no_frame", no_frame},   std::pair{"filling", filling},       std::pair{"output", output}};
  std::vector<std::pair<std::string, double>> out;
  for (const auto& [key, work] : kRows) {
    const auto found = run.status.worker_s.find(key);
    if (found != run.status.worker_s.end() && found->second > 0)
      out.emplace_back(words.text(messages::stream_time_of(work)), found->second);
  }
  return out;
}

Table stream_time_table(const schema::MessageRenderer& words, const StreamRun& run) {
  Table table;
  table.columns = {{"Workers' time"}, {"Seconds", Align::right}, {"Share", Align::right}};
  double all = 0;
  for (const auto& [key, seconds] : run.status.worker_s) all += seconds;
  for (auto& [work, seconds] : stream_times(words, run))
    table.rows.push_back({{std::move(work), fmt::format("{:.2f}", seconds), share(seconds, all)}});
  return table;
}

ReportModel build_stream_report(const schema::MessageRenderer& words, const StreamRun& run) {
  ReportModel model;
  model.title = "Stream: " + schema::stream_subject(run);
  model.subtitle = fmt::format("{}, {:.1f} s", run.started_utc, run.duration_s);
  model.asked = stream_asked(words, run);
  model.answer = stream_answer_section(words, run);
  Section summary{"summary", "Summary", {}};
  if (!run.error.empty())
    summary.blocks.emplace_back(Callout{Tone::bad, "The run ended early", plain_text(words.text(run.error))});
  if (run.verdict && !run.verdict->passed)
    for (const auto& reason : words.texts(run.verdict->reasons))
      summary.blocks.emplace_back(Callout{Tone::bad, words.text(verdict_title(run)), plain_text(reason)});
  if (run.verdict && run.verdict->passed)
    summary.blocks.emplace_back(
        Callout{Tone::good, words.text(verdict_title(run)), plain_text(words.text(run.status.audit))});
  summary.blocks.emplace_back(key_figures(run));
  model.sections.push_back(std::move(summary));
  if (auto chart = stream_load_chart(words, run)) {
    Section load{"load", "Latency against load", {}};
    load.blocks.emplace_back(std::move(*chart));
    load.blocks.emplace_back(stream_load_table(run));
    load.blocks.emplace_back(Paragraph{words.text(messages::stream_rates(
        {.seconds = run.request.spec.load->duration_s, .rate = run.request.spec.load->rate_per_s}))});
    model.sections.push_back(std::move(load));
  }
  Section time{"time", "Time", {}};
  if (auto chart = stream_time_chart(words, run)) time.blocks.emplace_back(std::move(*chart));
  time.blocks.emplace_back(stream_latency_table(words, run.status));
  time.blocks.emplace_back(stream_time_table(words, run));
  time.blocks.emplace_back(batch_table(run.status));
  if (auto chart = stream_gpu_chart(words, run)) time.blocks.emplace_back(std::move(*chart));
  if (auto table = gpu_table(run); !table.rows.empty()) time.blocks.emplace_back(std::move(table));
  model.sections.push_back(std::move(time));
  Section how{"how", "Pipeline", {}};
  how.blocks.emplace_back(settings_facts(words, run));
  BulletList checks;
  for (const auto& check : run.status.checks)
    checks.items.push_back(
        plain_text(words.text(messages::stream_check({.passed = check.passed, .check = check.message}))));
  if (!checks.items.empty()) how.blocks.emplace_back(std::move(checks));
  BulletList notes;
  for (const auto& note : words.texts(run.ready.notes)) notes.items.push_back(plain_text(note));
  for (const auto& note : words.texts(run.notes)) notes.items.push_back(plain_text(note));
  if (!notes.items.empty()) how.blocks.emplace_back(std::move(notes));
  how.blocks.emplace_back(CodeBlock{"sh", "ridgeline " + run.command_line});
  model.sections.push_back(std::move(how));
  model.footer = fmt::format("ridgeline {}, run {}", run.environment ? run.environment->ridgeline_version : "", run.id);
  return model;
}

base::Json stream_json(const schema::MessageRenderer& words, const StreamRun& run) {
  auto json = schema::with_words(words, run);
  json["schema_version"] = kStreamJsonVersion;
  return json;
}

std::vector<std::pair<std::string, std::string>> stream_summary(const schema::MessageRenderer& words,
                                                                const StreamRun& run) {
  const auto& status = run.status;
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const char* label, const schema::Message& message) {
    out.emplace_back(label, words.text(message));
  };
  add("frames", messages::stream_frames({.offered = status.offered,
                                         .delivered = status.delivered,
                                         .skipped = status.skipped > 0 ? std::optional(status.skipped) : std::nullopt,
                                         .dropped = drops_text(status)}));
  add("rate", messages::stream_rate({.rate = status.delivered_per_s,
                                     .seconds = status.span_s,
                                     .batch = status.mean_batch,
                                     .busy = status.busy,
                                     // With a GPU its row has it.
                                     .share = status.gpu_busy ? std::nullopt : status.share_of_peak}));
  if (const auto busy = schema::gpu_busy_text(status); !busy.empty())
    add("GPU", messages::stream_gpu_busy({.busy = busy, .source_bound = schema::is_source_bound(status)}));
  if (const auto energy = schema::energy_of(run.moments))
    add("energy", messages::stream_energy({.frames = energy->frames_per_joule, .power = energy->mean_power_w}));
  if (status.latency.count > 0) add("latency", latency_of(status.latency));
  if (!status.audit.empty()) add("load", status.audit);
  for (const auto& check : status.checks)
    if (!check.passed) add("check", check.message);
  return out;
}

}  // namespace ridgeline::report
