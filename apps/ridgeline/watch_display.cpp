// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/watch_display.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "ridgeline/words.hpp"
#include "watch/messages.hpp"

namespace ridgeline::app {
namespace {

using watch::WatchEventKind;

constexpr double kTakesTime = 0.001;  // s: a look at a file does not

Style style_of(WatchEventKind kind) {
  switch (kind) {
    case WatchEventKind::degraded:
    case WatchEventKind::failed:
    case WatchEventKind::action_failed: return Style::bad;
    case WatchEventKind::recovered:
    case WatchEventKind::restored:
    case WatchEventKind::profiled:
    case WatchEventKind::retuned: return Style::good;
    case WatchEventKind::changed:
    case WatchEventKind::profile_put_off:
    case WatchEventKind::retune_put_off: return Style::warning;
    default: return Style::bold;
  }
}

}  // namespace

void WatchDisplay::say(std::string_view word, Style style, std::string_view text) {
  const auto utc = base::system_clock().utc_now();
  const auto time = utc.size() >= 19 ? utc.substr(11, 8) : utc;
  fmt::print(stderr, "{} {} {}\n", time, styled(fmt::format("{:<10}", word), style, err_.colour), text);
}

void WatchDisplay::event(const watch::WatchEvent& event) {
  const auto line = json_ ? base::dump_json(watch::json_of(words(), event)) + "\n" : std::string();
  if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size() || std::fflush(stdout) != 0) intact_ = false;
  if (words_ == Words::none) return;
  say(base::enum_name(event.kind), style_of(event.kind), words().text(event.message));
  if (event.kind != WatchEventKind::degraded && event.kind != WatchEventKind::failed) return;
  for (std::size_t i = 0; i < event.causes.size(); ++i) {
    const auto& cause = event.causes[i];
    if (i > 0)
      say("", Style::dim, fmt::format("also {}: {}", base::enum_name(cause.kind), words().text(cause.evidence)));
    say("", Style::dim, fmt::format("  -> {}", words().text(cause.advice)));
  }
}

base::Result<void> WatchDisplay::check_output() const {
  if (intact_) return {};
  return base::fail(base::ErrorCode::io, "cannot write to standard output, so an event is lost")
      .hint("is the disk full?");
}

void WatchDisplay::probe(const watch::ProbeReport& report) {
  if (words_ != Words::probes && (report.problem.empty() || report.told)) return;
  if (words_ == Words::none) return;
  constexpr double kNsPerMs = 1e6;
  const auto in_ns = [](double ms) { return ms * kNsPerMs; };
  const auto message =
      watch::messages::probe({.number = report.number,
                              .problem = report.problem,
                              .now = report.now_ms ? std::optional(in_ns(*report.now_ms)) : std::nullopt,
                              .learning = report.learning,
                              .ratio = report.ratio.value_or(0),
                              .baseline = in_ns(report.baseline_ms.value_or(0)),
                              .deviation = report.probe_deviation,
                              .took = report.took_s >= kTakesTime ? std::optional(report.took_s) : std::nullopt});
  say("probe", report.problem.empty() ? Style::dim : Style::warning, app::words().text(message));
}

void WatchDisplay::note(std::string_view line) {
  if (words_ != Words::none) say("note", Style::dim, line);
}

void WatchDisplay::note(const schema::Message& message) { note(app::words().text(message)); }

void WatchDisplay::stage(std::string_view title) {
  if (words_ == Words::probes) say("retune", Style::dim, title);
}

}  // namespace ridgeline::app
