// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_answer.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/bytes_sources.hpp"
#include "report/profile/module_table.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_report.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/profile/profile_verification.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

using schema::MessageRenderer;
using schema::ProfileRun;

constexpr std::size_t kProfileFindings = 2;
constexpr std::size_t kProfileRows = 5;
constexpr std::size_t kRowsAfterAdvice = 2;
constexpr double kBusyEnough = 0.9;  // of the time, from which on the GPU itself is the limit

double number_of(std::int64_t value) { return static_cast<double>(value); }

/// What each GPU did, and whether anything is to be gained.
std::string devices_of(const MessageRenderer& words, const ProfileRun& run) {
  std::string out;
  for (const auto& [label, text] : profile_summary(words, run))
    if (label.starts_with("GPU ")) out += (out.empty() ? "" : " ") + plain_text(fmt::format("{}: {}.", label, text));
  if (run.findings.empty() && !is_memory_only(run))
    out += (out.empty() ? "" : " ") + sentence(words.text(schema::no_findings(run)));
  return out;
}

Callout verdict(const MessageRenderer& words, const ProfileRun& run) {
  const auto& tables = run.tables;
  std::int64_t span = 0;
  std::int64_t busy = 0;
  for (const auto& device : tables.devices) {
    span += device.span_ns;
    busy += device.busy_ns;
  }
  const auto text = [&](const schema::Message& message) { return words.text(message); };
  if (span > 0) {
    const double share = number_of(busy) / number_of(span);
    return {share >= kBusyEnough ? Tone::good : Tone::warning,
            text(messages::profile_is_busy(
                {.gpus = gpu_count(run),
                 .share = share,
                 .span = number_of(span),
                 .saving = run.findings.empty() ? std::nullopt : std::optional(run.findings.front().saving_share)})),
            devices_of(words, run)};
  }
  if (is_memory_only(run)) {
    std::int64_t most = 0;
    for (const auto& row : tables.memory) most = std::max(most, row.peak_allocated_bytes);
    return {Tone::neutral, text(messages::profile_peak_of_run(number_of(most))), devices_of(words, run)};
  }
  if (is_host_only(run))
    return {
        Tone::neutral,
        text(messages::profile_on_host({.time = number_of(tables.span_ns), .recorded = !run.request.command.empty()})),
        {}};
  return {Tone::neutral,
          text(messages::profile_in_nodes({.time = number_of(whole_ns(run)), .nodes = std::ssize(tables.nodes)})),
          run.findings.empty() ? sentence(text(schema::no_findings(run))) : std::string()};
}

/// What to do, a line each.
Facts advice(const MessageRenderer& words, const ProfileRun& run) {
  Facts out;
  if (is_memory_only(run) || is_host_only(run)) return out;
  std::size_t number = 0;
  for (const auto& finding : run.findings) {
    if (++number <= kProfileFindings)
      out.rows.emplace_back(fmt::format("{}. saves {:.0f} %", number, 100 * finding.saving_share),
                            plain_text(sentence(words.text(finding.title)) + " " + words.text(finding.advice)));
    if (finding.verification)
      out.rows.emplace_back(fmt::format("{}. tried", number),
                            plain_text(sentence(verification_lines(words, finding).front())));
  }
  return out;
}

/// Of where the time went, what took most.
Table longest(const MessageRenderer& words, const ProfileRun& run) {
  auto table = time_table(words, run);
  const auto share_of = [](const Table::Row& row) { return std::strtod(row.cells.back().c_str(), nullptr); };
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [&](const auto& a, const auto& b) { return share_of(a) > share_of(b); });
  return table;
}

/// The first of these that the files have: where the time went, operations, what holds the memory, modules.
Table evidence(const MessageRenderer& words, const ProfileRun& run) {
  if (auto table = longest(words, run); !table.rows.empty()) return table;
  if (auto table = operations_table(run, kProfileRows); !table.rows.empty()) return table;
  if (auto table = holders_table(run); !table.rows.empty()) return table;
  if (auto table = memory_table(run); !table.rows.empty()) return table;
  if (auto table = nodes_table(run, kProfileRows); !table.rows.empty()) return table;
  return module_table(words, run, {});
}

}  // namespace

std::string profile_asked(const MessageRenderer& words, const ProfileRun& run) {
  std::int64_t events = 0;
  double bytes = 0;
  for (const auto& source : run.sources) {
    events += source.events;
    if (source.tool == schema::kRecordedByUs) bytes += number_of(source.bytes);
  }
  std::string device;
  if (!run.tables.devices.empty()) device = run.tables.devices.front().name;
  return one_line(words.text(messages::profile_asked({.names = base::listed(schema::source_names(run)),
                                                      .tool = run.sources.empty() ? "" : run.sources.front().tool,
                                                      .events = events,
                                                      .bytes = bytes > 0 ? std::optional(bytes) : std::nullopt,
                                                      .device = device,
                                                      .gpus = gpu_count(run)})));
}

Section profile_answer_section(const MessageRenderer& words, const ProfileRun& run) {
  Section section{"answer", "", {}};
  section.blocks.emplace_back(verdict(words, run));
  if (auto list = advice(words, run); !list.rows.empty()) section.blocks.emplace_back(std::move(list));
  if (!run.findings.empty() && !run.findings.front().snippet.empty() && !is_host_only(run))
    section.blocks.emplace_back(CodeBlock{"python", run.findings.front().snippet});
  // What the files lack, or hold in part, bounds what all of this means.
  BulletList notes;
  const auto note = [&](const std::string& text) { notes.items.push_back(sentence(plain_text(text))); };
  for (const auto& text : words.texts(memory_notes(run))) note(text);
  const auto known_bytes = words.texts(bytes_notes(run));
  for (const auto& text : words.texts(run.notes)) note(text);
  for (const auto& text : words.texts(run.tables.missing)) note(text);
  auto table = evidence(words, run);
  table.caption.clear();
  const auto most =
      run.findings.empty() ? kProfileRows - std::min(kProfileRows - 2, notes.items.size()) : kRowsAfterAdvice;
  table.rows.resize(std::min(table.rows.size(), most));
  // Advice and notes fill the screen; the rest is in `show --all`.
  const auto above = std::min(run.findings.size(), kProfileFindings) + notes.items.size();
  const bool has_room = above < 3 || is_host_only(run);
  if (has_room && !table.rows.empty()) section.blocks.emplace_back(std::move(table));
  for (const auto& text : known_bytes) note(text);
  if (!notes.items.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

}  // namespace ridgeline::report
