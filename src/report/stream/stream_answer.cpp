// SPDX-License-Identifier: Apache-2.0
#include "report/stream/stream_answer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/stream/stream_report.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

using schema::MessageRenderer;
using schema::StreamRun;

constexpr std::size_t kStreamRows = 5;
constexpr double kShownMs = 0.005;    // what is less is printed as 0.00
constexpr double kShownShare = 0.01;  // of the workers' time

Callout verdict(const MessageRenderer& words, const StreamRun& run) {
  if (!run.error.empty()) return {Tone::bad, "The run ended early", sentence(plain_text(words.text(run.error)))};
  if (!run.verdict)
    return {
        run.status.all_dropped() > 0 ? Tone::warning : Tone::good,
        words.text(messages::stream_delivered(
            {.delivered = run.status.delivered, .offered = run.status.offered, .rate = run.status.delivered_per_s})),
        {}};
  std::string text;
  for (const auto& reason : words.texts(run.verdict->reasons))
    text += (text.empty() ? "" : " ") + sentence(plain_text(reason));
  const auto tone = run.verdict->passed ? Tone::good : run.is_void() ? Tone::warning : Tone::bad;
  return {tone, words.text(verdict_title(run)), std::move(text)};
}

/// The rates around the one that was held: the last that passed, and what came after it.
Table rates(const StreamRun& run) {
  auto table = stream_load_table(run);
  if (table.rows.size() <= kStreamRows) return table;
  const auto failed =
      std::find_if(run.points.begin(), run.points.end(), [](const auto& one) { return !one.verdict.passed; });
  const auto from = std::clamp<std::ptrdiff_t>(failed - run.points.begin() - 3, 0,
                                               static_cast<std::ptrdiff_t>(table.rows.size() - kStreamRows));
  table.rows.erase(table.rows.begin(), table.rows.begin() + from);
  table.rows.resize(kStreamRows);
  return table;
}

/// Stages that took time.
Table stages(const MessageRenderer& words, const StreamRun& run) {
  auto status = run.status;
  for (auto* stage : {&status.late, &status.queue, &status.service, &status.order})
    if (stage->mean < kShownMs && stage->p50 < kShownMs) stage->count = 0;
  return stream_latency_table(words, status);
}

std::vector<std::string> shares_of_time(const MessageRenderer& words, const StreamRun& run) {
  std::vector<std::string> out;
  double all = 0;
  for (const auto& [key, seconds] : run.status.worker_s) all += seconds;
  for (const auto& [work, seconds] : stream_times(words, run))
    if (seconds >= kShownShare * all) out.push_back(fmt::format("{} {:.0f} %", work, 100 * seconds / all));
  return out;
}

}  // namespace

std::string stream_asked(const MessageRenderer& words, const StreamRun& run) {
  const auto& spec = run.request.spec;
  return one_line(words.text(messages::stream_asked(
      {.subject = schema::stream_subject(run),
       .model = std::string(base::file_name(spec.model.workload.location)),
       .runtime = run.ready.runtime,
       .load = spec.load ? offered_load(*spec.load) : schema::Message(),
       .slo = spec.settings.slo_ms > 0 ? std::optional(spec.settings.slo_ms * 1e6) : std::nullopt,
       .time = run.status.span_s * 1e9})));
}

Section stream_answer_section(const MessageRenderer& words, const StreamRun& run) {
  Section section{"answer", "", {}};
  section.blocks.emplace_back(verdict(words, run));
  Facts facts;
  for (auto& [label, text] : stream_summary(words, run)) facts.rows.emplace_back(label, plain_text(text));
  if (const auto shares = shares_of_time(words, run); !shares.empty())
    facts.rows.emplace_back("workers", plain_text(fmt::format("{}", fmt::join(shares, ", "))));
  section.blocks.emplace_back(std::move(facts));
  section.blocks.emplace_back(Paragraph{words.text(messages::next_page(run.id))});
  if (auto table = run.points.empty() ? stages(words, run) : rates(run); !table.rows.empty())
    section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace ridgeline::report
