// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/terminal_progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/ranges.h>

#include "analysis/comparison_text.hpp"
#include "analysis/degradation_cause.hpp"
#include "analysis/summary.hpp"
#include "base/text.hpp"
#include "campaign/tune/tune_budget.hpp"
#include "execute/gpu_choice.hpp"
#include "report/format.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "report/utf8.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/words.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::app {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

std::string minutes(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string bar(double share, std::size_t cells) {
  static constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(cells);
  const auto whole = static_cast<std::size_t>(filled);
  std::string out;
  for (std::size_t i = 0; i < whole; ++i) out += "█";
  std::size_t used = whole;
  if (whole < cells) {
    const auto part = static_cast<std::size_t>((filled - static_cast<double>(whole)) * 8);
    out += kParts[part];
    used += part > 0;
  }
  for (std::size_t i = used; i < cells; ++i) out += "·";
  return out;
}

std::string phase_text(schema::TrialPhase phase) {
  switch (phase) {
    case schema::TrialPhase::launch: return "starting the worker";
    case schema::TrialPhase::load_runtime: return "loading the runtime";
    case schema::TrialPhase::create_session: return "creating the session";
    case schema::TrialPhase::warmup: return "warming up";
    case schema::TrialPhase::measure: return "measuring";
    case schema::TrialPhase::verify: return "checking the outputs";
  }
  return "";
}

/// "20 s", "2 min", "1:10 h": as exact as a forecast is.
std::string rough_time(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::max(1.0, seconds));
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  const auto whole = static_cast<long>(seconds / 60 + 0.5);
  return fmt::format("{}:{:02} h", whole / 60, whole % 60);
}

/// How long it will take, and what makes that shorter.
std::string forecast_text(const schema::TuneRun& run, const campaign::TimeForecast& time) {
  const bool quick = run.request.search == "quick";
  const auto low = rough_time(time.low_s);
  const auto high = rough_time(time.high_s);
  const auto limited_by = time.by_default ? "on a GPU, without --max-time" : "--max-time";
  std::string text = time.limit_s  ? fmt::format("at most {} ({})", time_text(*time.limit_s), limited_by)
                     : low == high ? "about " + high
                                   : fmt::format("{} to {}", low, high);
  text += fmt::format(": about {} trial{}{}", time.trials, time.trials == 1 ? "" : "s", quick ? " (--quick)" : "");
  if (time.comparisons > 0) text += fmt::format(", then up to {} comparisons", time.comparisons);
  if (time.stored) text += ", minus cached results";
  std::vector<std::string> shorter;
  if (!quick) shorter.emplace_back("--quick gives a first answer sooner");
  if (!time.limit_s) shorter.emplace_back("--max-time 5m limits it");
  if (time.by_default) shorter.emplace_back("--max-time 20m searches longer");
  if (!shorter.empty()) text += fmt::format("; {}", fmt::join(shorter, ", "));
  return text;
}

std::string_view stage_name(schema::TrialStage stage) {
  return stage == schema::TrialStage::baseline ? "default" : base::enum_name(stage);
}

}  // namespace

TerminalProgress::TerminalProgress(Terminal terminal, int verbosity, schema::Objective objective)
    : terminal_(terminal), verbosity_(verbosity), objective_(objective) {}

TerminalProgress::~TerminalProgress() { erase(); }

void TerminalProgress::finish() {
  erase();
  terminal_.interactive = false;
}

void TerminalProgress::erase() {
  if (drawn_lines_ == 0) return;
  fmt::print(stderr, "\r\x1b[{}A\x1b[J", drawn_lines_);
  std::fflush(stderr);
  drawn_lines_ = 0;
}

void TerminalProgress::line(std::string_view text) {
  if (verbosity_ < 0) return;
  erase();
  fmt::print(stderr, "{}\n", text);
}

void TerminalProgress::fact(std::string_view name, std::string_view text) {
  constexpr int kIndent = 9;
  line(fmt::format("{} {}", styled(fmt::format("{:<8}", name), Style::dim, terminal_.colour),
                   wrapped(text, terminal_.width - kIndent, kIndent)));
}

void TerminalProgress::environment_ready(const schema::TuneRun& run) {
  if (report::is_simulated(run)) line(words().text(report::messages::simulated()));
  const auto& environment = run.environment;
  std::string machine =
      fmt::format("{}, {:g} usable of {} CPUs", environment.cpu_model.empty() ? "unknown CPU" : environment.cpu_model,
                  environment.usable_cpus, environment.logical_cpus);
  if (environment.memory_bytes > 0)
    machine += fmt::format(", {}", base::format_bytes(static_cast<double>(environment.memory_bytes)));
  if (!environment.os.empty()) machine += ", " + environment.os;
  fact("machine", machine);
  fact("runtime", fmt::format("{} {} ({}), provider {}", run.runtime.name, run.runtime.version,
                              run.runtime.library_path.empty() ? "built in" : run.runtime.library_path, run.provider));
  if (run.on_gpu()) fact("gpu", execute::gpu_list(environment.gpus));
}

void TerminalProgress::model_ready(const schema::TuneRun& run) {
  const auto& model = run.model;
  // The shapes and the work hold for the batch of the inspection; what is run may have another.
  const auto inspected = model.batch_axis_size.value_or(0);
  const bool other_batch = batch_ && model.batch_is_dynamic && inspected > 0 && *batch_ != inspected;
  const auto batch = other_batch ? fmt::format(", batch {}", *batch_) : std::string();
  const double flops =
      other_batch ? model.flops * static_cast<double>(*batch_) / static_cast<double>(inspected) : model.flops;
  std::vector<std::string> facts;  // of code only that can be said which was seen when it ran
  if (model.nodes > 0) facts.push_back(fmt::format("{} nodes", model.nodes));
  facts.push_back(base::format_count(static_cast<double>(model.parameters)) + " parameters");
  if (flops > 0) facts.push_back(base::format_count(flops) + " FLOP per inference");
  fact("model", fmt::format("{}: {}", report::one_line(run.workload.location), fmt::join(facts, ", ")));
  for (const auto& text : words().texts(model.shape_notes))
    fact("shapes", text + (batch.empty() ? "" : "; run with" + batch.substr(1)));
  if (model.shape_notes.empty() || model.shapes.size() > 1)
    for (const auto& shapes : model.shapes)
      fact("shapes", (model.shapes.size() > 1 ? "in the mix: " : "") + analysis::shape_text(shapes) + batch);
  for (const auto& text : words().texts(model.input_notes)) fact("input", text);
  if (verbosity_ >= 1)
    for (const auto& text : words().texts(model.notes)) fact("note", text);
}

void TerminalProgress::space_ready(const schema::TuneRun& run, const campaign::TimeForecast& time) {
  std::string text = fmt::format("{} settings, {} combinations; search {}", run.space.size(),
                                 base::format_count(run.space_size), run.request.search);
  if (run.request.search == "grid" && static_cast<double>(time.trials) <= run.space_size)
    text += fmt::format(", {} of them allowed by the rules", time.trials);
  fact("space", text);
  if (!run.candidates.empty()) {
    std::vector<std::string> names;
    for (const auto& candidate : run.candidates) names.push_back(candidate.id);
    fact("others", fmt::format("{}: one trial of each first, then the settings of those near the fastest",
                               fmt::join(names, ", ")));
  }
  fact("time", forecast_text(run, time));
  fact("current", run.current.empty() ? "the runtime's defaults" : run.current.to_text());
  if (verbosity_ >= 2)
    for (const auto& pruned : run.pruned)
      fact("pruned", fmt::format("{}: {}", pruned.key, words().text(pruned.reason)));
  if (verbosity_ >= 0) line("");
}

void TerminalProgress::forecast_changed(const campaign::RunForecast& forecast) {
  end_s_ = forecast.all_s;
  if (!forecast.is_news) return;
  fact("time",
       words().text(report::messages::tune_forecast(
           {.all = forecast.all_s * 1e9,
            .search = forecast.search_s * 1e9,
            .trials = static_cast<std::int64_t>(forecast.trials),
            .comparisons = forecast.comparisons_s > 0 ? std::optional(forecast.comparisons_s * 1e9) : std::nullopt})));
}

void TerminalProgress::run_ended(const schema::TuneRun& run) {
  if (run.time_spent && measured_ > 0) fact("time", words().text(report::time_division(*run.time_spent)));
}

void TerminalProgress::stage(std::string_view title) {
  stage_ = title;
  now_.clear();
  phase_.clear();
  if (terminal_.interactive)
    draw(true);
  else
    line(fmt::format("... {}", title));
}

void TerminalProgress::trial_started(const schema::TunedTrial& trial, std::size_t remaining) {
  remaining_ = remaining + 1;
  stage_ = "searching";
  now_ = fmt::format("trial {}  {}", trial.id, trial.configuration.to_text());
  phase_.clear();
  draw(false);
}

void TerminalProgress::trial_finished(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) {
  ++finished_;
  remaining_ = remaining_ > 0 ? remaining_ - 1 : 0;
  if (trial.cached) {
    ++cached_;
  } else {
    ++measured_;
  }
  if (outcome.status != schema::TrialStatus::ok || !outcome.measurement) ++failed_;
  trial_line(trial, outcome, trial.cached ? "  (cached)" : "");
}

void TerminalProgress::trial_taken_again(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome) {
  figures_.erase(trial.id);
  trial_line(trial, outcome, "  (measured again)");
}

void TerminalProgress::trial_line(const schema::TunedTrial& trial, const schema::TrialOutcome& outcome,
                                  std::string remark) {
  std::string result;
  Style style = Style::bold;
  if (outcome.status == schema::TrialStatus::ok && outcome.measurement) {
    const bool stopped_early = outcome.measurement->stop_reason == schema::StopReason::stopped_early;
    const auto cost = analysis::cost_of(*outcome.measurement, objective_);
    result = words().text(report::value_by(*outcome.measurement, objective_));
    if (stopped_early) {
      style = Style::dim;
      remark += "  (stopped early: slower)";
    }
    if (!stopped_early) {
      const auto* best = best_figure();
      if (best == nullptr || cost.value < best->cost) style = Style::good;
      figures_[trial.id] = {cost.value,
                            fmt::format("trial {}  {}  {}", trial.id, result, trial.configuration.to_text())};
    }
  } else {
    style = Style::bad;
    result = fmt::format(
        "{}{}", base::enum_name(outcome.status),
        outcome.failure ? ": " + report::shorten(report::one_line(words().line(outcome.failure->message)), 100) : "");
  }
  if (!terminal_.interactive || verbosity_ >= 1) {
    const auto counter = fmt::format("[{:>3}/{}]", trial.id, finished_ + remaining_);
    counter_width_ = std::max(counter_width_, counter.size());
    line(fmt::format("{:<{}} {:<10} {}  {}{}", counter, counter_width_, stage_name(trial.stage),
                     styled(fmt::format("{:<14}", result), style, terminal_.colour), trial.configuration.to_text(),
                     remark.empty() ? "" : styled(remark, Style::dim, terminal_.colour)));
    if (verbosity_ >= 2 && !trial.reason.empty()) line(fmt::format("          {}", words().text(trial.reason)));
  }
  draw(false);
}

void TerminalProgress::pair_finished(const schema::TunedPair& pair) {
  if (terminal_.interactive && verbosity_ < 1) return;
  std::string text = words().line(pair.failure);
  if (pair.comparison)
    text = analysis::is_too_wide(*pair.comparison)
               ? fmt::format("{} for a ratio", analysis::kTooFewMeasurements)
               : fmt::format("ratio {:.3f} [{:.3f}, {:.3f}] {}{}", pair.comparison->ratio, pair.comparison->low,
                             pair.comparison->high, base::enum_name(pair.comparison->verdict),
                             analysis::tail_note(*pair.comparison));
  const bool names_setting = pair.purpose == schema::PairPurpose::leave_one_out;
  line(fmt::format("{:<{}} {:<10} {}", "[pair]", counter_width_,
                   names_setting ? pair.setting : base::enum_name(pair.purpose), text));
}

void TerminalProgress::note(const schema::Message& message) { fact("note", words().text(message)); }

void TerminalProgress::on_progress(const execute::JobProgress& progress) {
  phase_ = phase_text(progress.phase);
  if (progress.phase == schema::TrialPhase::measure && progress.steps > 0)
    phase_ += fmt::format(", {} runs", progress.steps);
  draw(false);
}

const TerminalProgress::Figure* TerminalProgress::best_figure() const {
  const auto best = std::min_element(figures_.begin(), figures_.end(),
                                     [](const auto& a, const auto& b) { return a.second.cost < b.second.cost; });
  return best == figures_.end() ? nullptr : &best->second;
}

std::string TerminalProgress::headline() const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const auto total = finished_ + remaining_;
  const auto cells = static_cast<std::size_t>(std::clamp(terminal_.width / 4, 10, 30));
  std::string text = fmt::format(
      "{} {} {}/{} trials  {} elapsed", styled(fmt::format("{:<10}", "tuning"), Style::bold, terminal_.colour),
      styled(bar(total > 0 ? static_cast<double>(finished_) / static_cast<double>(total) : 0, cells), Style::accent,
             terminal_.colour),
      finished_, total, minutes(elapsed));
  if (end_s_ > elapsed) text += fmt::format(", about {} left", minutes(end_s_ - elapsed));
  return text;
}

void TerminalProgress::draw(bool forced) {
  if (!terminal_.interactive || verbosity_ < 0) return;
  const auto now = Clock::now();
  if (!forced && drawn_ && now - *drawn_ < kRedraw) return;
  drawn_ = now;
  const auto room = static_cast<std::size_t>(std::max(terminal_.width - 12, 20));
  const auto row = [&](std::string_view name, std::string_view text) {
    return fmt::format("{} {}\n", styled(fmt::format("{:<10}", name), Style::dim, terminal_.colour),
                       report::shorten(report::one_line(text), room));
  };
  std::string block = headline() + "\n";
  block += row("now", now_.empty() ? stage_ : phase_.empty() ? now_ : phase_ + ": " + now_);
  const auto* best = best_figure();
  block += row("best", best == nullptr ? "-" : best->text);
  std::string counts = fmt::format("{} measured", measured_);
  if (cached_ > 0) counts += fmt::format(", {} cached", cached_);
  if (failed_ > 0) counts += fmt::format(", {} failed", failed_);
  block += row("", counts + "; Ctrl-C keeps what was found");
  erase();
  fmt::print(stderr, "{}", block);
  std::fflush(stderr);
  drawn_lines_ = 4;
}

}  // namespace ridgeline::app
