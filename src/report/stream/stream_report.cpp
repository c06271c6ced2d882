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
#include "report/stream/stream_charts.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::StreamRun;
using schema::StreamStatus;

constexpr int kStreamJsonVersion = 2;

std::string ms(double value) { return fmt::format("{:.{}f} ms", value, value < 10 ? 2 : 1); }

std::string ms(const std::optional<double>& value) { return value ? ms(*value) : std::string(kAbsent); }

/// "p99 needs 1000 frames"; "" where there are that many.
std::string missing_text(const schema::LatencySummary& latency) {
  struct Percentile {
    const char* name;
    const std::optional<double>& value;
    double quantile;
  };
  for (const auto& [name, value, quantile] :
       {Percentile{"p95", latency.p95, 0.95}, Percentile{"p99", latency.p99, 0.99},
        Percentile{"p99.9", latency.p999, 0.999}})
    if (!value) return fmt::format("{} needs {} frames", name, stats::samples_needed(quantile));
  return "";
}

/// "p50 3.10 ms, p95 5.20 ms, most 9.00 ms (p99 needs 1000 frames)"
std::string latency_text(const schema::LatencySummary& latency) {
  std::string out = "p50 " + ms(latency.p50);
  if (latency.p95) out += ", p95 " + ms(latency.p95);
  if (latency.p99) out += ", p99 " + ms(latency.p99);
  if (latency.p999) out += ", p99.9 " + ms(latency.p999);
  out += ", most " + ms(latency.max);
  const auto missing = missing_text(latency);
  return missing.empty() ? out : fmt::format("{} ({})", out, missing);
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

Facts settings_facts(const StreamRun& run) {
  const auto& spec = run.request.spec;
  const auto& settings = spec.settings;
  Facts out;
  std::vector<std::string> sources;
  for (const auto& source : run.ready.sources)
    sources.push_back(fmt::format("{} ({}x{}{})", source.name, source.width, source.height,
                                  source.fps > 0 ? fmt::format(", {:g} FPS", source.fps) : std::string()));
  if (sources.size() > 4) sources = {sources.front(), fmt::format("and {} more", sources.size() - 1)};
  out.rows = {{"Sources", plain_text(fmt::format("{}", fmt::join(sources, ", ")))},
              {"Model", plain_text(fmt::format("{} ({})", spec.model.workload.location, run.ready.runtime))},
              {"Input", plain_text(run.ready.input)},
              {"Decoder", plain_text(run.ready.decoder)},
              {"Inferences in flight", std::to_string(run.ready.workers)},
              {"Frames that may wait",
               std::to_string(run.status.queue_size > 0 ? run.status.queue_size : run.ready.queue_size)},
              {"Batch",
               fmt::format("{} at most, {:g} ms of waiting for more", settings.batch_size, settings.frame_timeout_ms)}};
  if (run.environment)
    out.rows.emplace_back(
        "Machine", plain_text(fmt::format(
                       "{}, {:g} usable CPUs{}", run.environment->cpu_model, run.environment->usable_cpus,
                       run.environment->gpus.empty() ? std::string() : ", " + run.environment->gpus.front().name)));
  if (spec.load)
    out.rows.emplace_back("Load", spec.load->process == "offline" ? std::string("as fast as the pipeline takes it")
                                  : spec.load->process == "trace"
                                      ? plain_text(fmt::format("{}, {:.4g} frames per second and source",
                                                               spec.load->trace, spec.load->rate_per_s))
                                      : fmt::format("{} at {:g} frames per second and source, seed {}",
                                                    spec.load->process, spec.load->rate_per_s, spec.load->seed));
  return out;
}

Table batch_table(const StreamStatus& status) {
  Table table;
  table.columns = {{"Frames in an inference", Align::right}, {"Inferences", Align::right}, {"Share", Align::right}};
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
  table.columns = {{"GPU"}, {"Mean", Align::right}, {"Most", Align::right}};
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
  add("memory in use", &StreamGpu::memory_used_bytes, kGib, "{:.1f} GiB");
  add("power", &StreamGpu::power_w, 1, "{:.0f} W");
  add("temperature", &StreamGpu::temperature_c, 1, "{:.0f} °C");
  return table;
}

}  // namespace

std::string verdict_title(const StreamRun& run) {
  if (run.verdict && run.verdict->held_per_s) {
    const double held = *run.verdict->held_per_s;
    if (held == 0) return run.is_void() ? "No answer: the load was late itself" : "None of the rates was held";
    return run.verdict->passed ? fmt::format("The rates were held, up to {:g} FPS per source", held)
           : run.is_void()
               ? fmt::format("Held up to {:g} FPS per source; above, no answer: the load was late itself", held)
               : fmt::format("Held up to {:g} FPS per source, and not above", held);
  }
  if (run.is_void()) return "No answer: the load was late itself";
  const bool passed = run.verdict && run.verdict->passed;
  if (run.request.spec.load && run.request.spec.load->process == "offline")
    return passed ? "The peak was measured" : "The peak does not hold";
  return passed ? "The load was held" : "The load was not held";
}

std::string drops_text(const StreamStatus& status) {
  std::vector<std::string> parts;
  for (const auto& [reason, count] : status.dropped) parts.push_back(fmt::format("{} {}", count, reason));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

Table stream_latency_table(const StreamStatus& status) {
  Table table;
  table.columns = {{"Stage"},
                   {"Mean", Align::right},
                   {"p50", Align::right},
                   {"p95", Align::right, true},
                   {"p99", Align::right},
                   {"p99.9", Align::right, true},
                   {"Most", Align::right}};
  const auto add = [&](const char* name, const schema::LatencySummary& row) {
    if (row.count > 0)
      table.rows.push_back({{name, ms(row.mean), ms(row.p50), ms(row.p95), ms(row.p99), ms(row.p999), ms(row.max)}});
  };
  add("end to end", status.latency);
  add("coming in", status.late);
  add("waiting for a worker", status.queue);
  add("prepare, infer, decode", status.service);
  add("waiting for frames before it", status.order);
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
          verdict.passed   ? "held"
          : status.is_void ? "void"
                           : "not held",
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

Table stream_time_table(const StreamRun& run) {
  Table table;
  table.columns = {{"Workers' time"}, {"Seconds", Align::right}, {"Share", Align::right}};
  constexpr std::array kRows{std::pair{"inference", "inference"},
                             std::pair{"crops", "second model on crops"},
                             std::pair{"copy", "copies to and from the device"},
                             std::pair{"preprocess", "host: preparing frames"},
                             std::pair{"postprocess", "host: decoding outputs"},
                             std::pair{"no_frame", "idle, source: no frame was there"},
                             std::pair{"filling", "idle: waiting for a fuller batch"},
                             std::pair{"output", "idle, order: held back by the output"}};
  double all = 0;
  for (const auto& [key, seconds] : run.status.worker_s) all += seconds;
  for (const auto& [key, title] : kRows) {
    const auto found = run.status.worker_s.find(key);
    if (found != run.status.worker_s.end() && found->second > 0)
      table.rows.push_back({{title, fmt::format("{:.2f}", found->second), share(found->second, all)}});
  }
  return table;
}

ReportModel build_stream_report(const schema::MessageRenderer& words, const StreamRun& run) {
  ReportModel model;
  model.title = "Stream: " + schema::stream_subject(run);
  model.subtitle = fmt::format("{}, {:.1f} s", run.started_utc, run.duration_s);
  Section summary{"summary", "Summary", {}};
  if (!run.error.empty())
    summary.blocks.emplace_back(Callout{Tone::bad, "It ended early", plain_text(words.text(run.error))});
  if (run.verdict && !run.verdict->passed)
    for (const auto& reason : words.texts(run.verdict->reasons))
      summary.blocks.emplace_back(Callout{Tone::bad, verdict_title(run), plain_text(reason)});
  if (run.verdict && run.verdict->passed)
    summary.blocks.emplace_back(Callout{Tone::good, verdict_title(run), plain_text(words.text(run.status.audit))});
  summary.blocks.emplace_back(key_figures(run));
  model.sections.push_back(std::move(summary));
  if (auto chart = stream_load_chart(run)) {
    Section load{"load", "Latency against load", {}};
    load.blocks.emplace_back(std::move(*chart));
    load.blocks.emplace_back(stream_load_table(run));
    load.blocks.emplace_back(Paragraph{
        fmt::format("Each rate was measured for {:g} s with a pipeline of its own. What follows is that of {:g} FPS "
                    "per source.",
                    run.request.spec.load->duration_s, run.request.spec.load->rate_per_s)});
    model.sections.push_back(std::move(load));
  }
  Section time{"time", "Time", {}};
  if (auto chart = stream_time_chart(run)) time.blocks.emplace_back(std::move(*chart));
  time.blocks.emplace_back(stream_latency_table(run.status));
  time.blocks.emplace_back(stream_time_table(run));
  time.blocks.emplace_back(batch_table(run.status));
  if (auto chart = stream_gpu_chart(run)) time.blocks.emplace_back(std::move(*chart));
  if (auto table = gpu_table(run); !table.rows.empty()) time.blocks.emplace_back(std::move(table));
  model.sections.push_back(std::move(time));
  Section how{"how", "Pipeline", {}};
  how.blocks.emplace_back(settings_facts(run));
  BulletList checks;
  for (const auto& check : run.status.checks)
    checks.items.push_back(
        plain_text(fmt::format("{}: {}", check.passed ? "holds" : "fails", words.text(check.message))));
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
  const auto skipped = status.skipped > 0 ? fmt::format("{} skipped, ", status.skipped) : std::string();
  out.emplace_back("frames", fmt::format("{} came in, {} delivered, {}dropped: {}", status.offered, status.delivered,
                                         skipped, drops_text(status)));
  out.emplace_back("rate", fmt::format("{:.1f} FPS in {:.1f} s; {:.1f} in an inference on average, busy {:.0f} %",
                                       status.delivered_per_s, status.span_s, status.mean_batch, 100 * status.busy));
  if (status.latency.count > 0) out.emplace_back("latency", latency_text(status.latency));
  if (!status.audit.empty()) out.emplace_back("load", words.text(status.audit));
  for (const auto& check : status.checks)
    if (!check.passed) out.emplace_back("check", words.text(check.message));
  return out;
}

}  // namespace ridgeline::report
