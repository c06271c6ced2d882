// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_answer.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/utf8.hpp"

namespace ridgeline::report {
namespace {

using schema::MessageRenderer;
using schema::ProfileRun;

constexpr std::size_t kProfileFindings = 3;
constexpr std::size_t kProfileRows = 5;
constexpr std::size_t kRowsAfterAdvice = 3;
constexpr double kBusyEnough = 0.9;  // of the time, from which on the GPU itself is the limit

double number_of(std::int64_t value) { return static_cast<double>(value); }

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
                {.gpus = std::ssize(tables.devices),
                 .share = share,
                 .span = number_of(span),
                 .saving = run.findings.empty() ? std::nullopt : std::optional(run.findings.front().saving_share)})),
            run.findings.empty() ? sentence(text(schema::no_findings(run))) : std::string()};
  }
  if (is_memory_only(run)) {
    std::int64_t most = 0;
    for (const auto& row : tables.memory) most = std::max(most, row.peak_allocated_bytes);
    return {Tone::neutral, text(messages::profile_peak_of_run(number_of(most))), {}};
  }
  if (is_host_only(run)) return {Tone::neutral, text(messages::profile_on_host(number_of(tables.span_ns))), {}};
  return {Tone::neutral,
          text(messages::profile_in_nodes({.time = number_of(whole_ns(run)), .nodes = std::ssize(tables.nodes)})),
          run.findings.empty() ? sentence(text(schema::no_findings(run))) : std::string()};
}

/// What to do, a line each.
Facts advice(const MessageRenderer& words, const ProfileRun& run) {
  Facts out;
  if (is_memory_only(run) || is_host_only(run)) return out;
  for (const auto& finding : run.findings) {
    if (out.rows.size() == kProfileFindings) break;
    out.rows.emplace_back(fmt::format("{}. saves {:.0f} %", out.rows.size() + 1, 100 * finding.saving_share),
                          plain_text(sentence(words.text(finding.title)) + " " + words.text(finding.advice)));
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

}  // namespace

std::string profile_asked(const MessageRenderer& words, const ProfileRun& run) {
  std::vector<std::string> names;
  std::int64_t events = 0;
  for (const auto& source : run.sources) {
    names.emplace_back(base::file_name(source.path));
    events += source.events;
  }
  std::string device;
  if (!run.tables.devices.empty()) device = run.tables.devices.front().name;
  return one_line(words.text(messages::profile_asked({.names = base::listed(names),
                                                      .tool = run.sources.empty() ? "" : run.sources.front().tool,
                                                      .events = events,
                                                      .device = device,
                                                      .gpus = std::ssize(run.tables.devices)})));
}

Section profile_answer_section(const MessageRenderer& words, const ProfileRun& run) {
  Section section{"answer", "", {}};
  section.blocks.emplace_back(verdict(words, run));
  if (auto list = advice(words, run); !list.rows.empty()) section.blocks.emplace_back(std::move(list));
  if (!run.findings.empty() && !run.findings.front().snippet.empty() && !is_host_only(run))
    section.blocks.emplace_back(CodeBlock{"python", run.findings.front().snippet});
  Table table = longest(words, run);
  if (table.rows.empty()) table = operations_table(run, kProfileRows);
  if (table.rows.empty()) table = memory_table(run);
  if (table.rows.empty()) table = nodes_table(run, kProfileRows);
  table.caption.clear();
  table.rows.resize(std::min(table.rows.size(), run.findings.empty() ? kProfileRows : kRowsAfterAdvice));
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  BulletList notes;
  for (const auto& note : words.texts(run.notes)) notes.items.push_back(sentence(plain_text(note)));
  if (!notes.items.empty()) section.blocks.emplace_back(std::move(notes));
  return section;
}

}  // namespace ridgeline::report
