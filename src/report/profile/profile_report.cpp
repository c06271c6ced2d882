// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_report.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/bytes_sources.hpp"
#include "report/profile/kernel_detail.hpp"
#include "report/profile/module_icicle.hpp"
#include "report/profile/module_table.hpp"
#include "report/profile/profile_answer.hpp"
#include "report/profile/profile_charts.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/profile/profile_verification.hpp"
#include "report/utf8.hpp"
#include "schema/kernel_name.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileKernel;
using schema::ProfileRun;

constexpr std::size_t kListedKernels = 40;
constexpr std::size_t kListedNodes = 60;
constexpr std::size_t kListedLines = 40;
constexpr std::size_t kListedCopies = 12;
constexpr std::size_t kDetailedKernels = 3;  // with counters

std::string duration_words(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

std::string share_words(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? fmt::format("{:.0f} %", 100 * static_cast<double>(part) / static_cast<double>(whole))
                   : std::string(kAbsent);
}

std::string device_name(const schema::ProfileDevice& device) {
  return fmt::format("GPU {}{}", device.device, device.name.empty() ? "" : " " + device.name);
}

std::optional<std::int64_t> unless_none(std::int64_t count) { return count > 0 ? std::optional(count) : std::nullopt; }

std::optional<double> unless_none(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

double as_number(std::int64_t value) { return static_cast<double>(value); }

/// "10 kernels, 10 graph launches".
schema::Message work_of(const schema::ProfileDevice& device) {
  const bool graphs_alone = device.graph_launches > 0 && device.kernels == 0;
  return messages::profile_work({.kernels = graphs_alone ? std::nullopt : std::optional(device.kernels),
                                 .graphs = unless_none(device.graph_launches)});
}

/// What the rows of the kernels are.
messages::ProfileKernelsKind kind_of_kernels(const ProfileRun& run) {
  using enum messages::ProfileKernelsKind;
  bool has_kernels = false;
  bool has_graphs = false;
  for (const auto& device : run.tables.devices) {
    has_kernels = has_kernels || device.kernels > 0;
    has_graphs = has_graphs || device.graph_launches > 0;
  }
  if (!has_graphs) return kernels;
  return has_kernels ? both : graphs;
}

KeyFigures key_figures(const schema::MessageRenderer& words, const ProfileRun& run) {
  KeyFigures out;
  const auto& tables = run.tables;
  std::int64_t span = 0;
  std::int64_t busy = 0;
  std::int64_t kernels = 0;
  std::int64_t graph_launches = 0;
  for (const auto& device : tables.devices) {
    span += device.span_ns;
    busy += device.busy_ns;
    kernels += device.kernels;
    graph_launches += device.graph_launches;
  }
  if (!tables.devices.empty()) {
    out.figures.push_back({"GPU busy", share_words(busy, span),
                           words.text(messages::profile_busy_of({.busy = as_number(busy), .span = as_number(span)})),
                           busy * 10 >= span * 9 ? Tone::good : Tone::warning});
    out.figures.push_back({kernels_title(run), fmt::format("{}", kernels + graph_launches),
                           words.text(messages::profile_in_the_mean(
                               as_number(whole_ns(run) / std::max<std::int64_t>(1, kernels + graph_launches)))),
                           Tone::neutral});
  } else if (is_host_only(run)) {
    out.figures.push_back({"Time on the host", duration_words(tables.span_ns),
                           words.text(messages::profile_no_gpu_work()), Tone::neutral});
  } else if (!is_memory_only(run)) {
    out.figures.push_back(
        {"Time of nodes", duration_words(whole_ns(run)), counted(tables.nodes.size(), "node"), Tone::neutral});
  }
  if (!tables.steps.empty())
    out.figures.push_back(
        {"Steps", fmt::format("{}", tables.steps.size()), plain_text(tables.step_name), Tone::neutral});
  for (const auto& row : tables.memory)
    if (tables.memory.size() == 1 || is_memory_only(run))
      out.figures.push_back(
          {tables.memory.size() == 1 ? "Peak memory" : words.text(messages::profile_peak_of_gpu(row.device)),
           base::format_bytes(static_cast<double>(row.peak_allocated_bytes)),
           words.text(messages::profile_reserved(as_number(row.reserved_at_peak_bytes))), Tone::neutral});
  if (!run.findings.empty())
    out.figures.push_back({"Largest saving", fmt::format("{:.0f} %", 100 * run.findings.front().saving_share),
                           run.findings.front().rule(), Tone::good});
  return out;
}

Section where_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"summary", is_memory_only(run) ? "Summary" : "Where the time went", {}};
  section.blocks.emplace_back(key_figures(words, run));
  if (auto table = time_table(words, run); !table.rows.empty()) {
    if (auto chart = time_chart(words, run)) section.blocks.emplace_back(std::move(*chart));
    table.caption = words.text(messages::profile_overlap());
    section.blocks.emplace_back(std::move(table));
  }
  if (auto table = operations_table(run, kListedNodes); !table.rows.empty() && run.tables.devices.empty()) {
    table.caption = words.text(messages::profile_by_operation());
    section.blocks.emplace_back(std::move(table));
  }
  BulletList facts;
  for (const auto& device : run.tables.devices) {
    if (device.streams > 1)
      facts.items.push_back(words.text(messages::profile_streams({.gpu = plain_text(device_name(device)),
                                                                  .streams = device.streams,
                                                                  .stream = device.critical_stream,
                                                                  .share = share_of(device.critical_ns, device.span_ns),
                                                                  .both = as_number(device.both_ns)})));
    if (device.collective_ns > 0)
      facts.items.push_back(words.text(messages::profile_communication({.gpu = plain_text(device_name(device)),
                                                                        .all = as_number(device.collective_ns),
                                                                        .exposed = as_number(device.exposed_ns)})));
  }
  if (!facts.items.empty()) section.blocks.emplace_back(std::move(facts));
  return section;
}

Section advice_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"findings", "What to do", {}};
  if (is_memory_only(run) || is_host_only(run)) return section;
  if (run.findings.empty()) {
    auto title = words.text(schema::no_findings(run));
    title.front() = 'N';
    section.blocks.emplace_back(Callout{Tone::good, std::move(title), words.text(messages::profile_no_finding())});
  }
  for (const auto& finding : run.findings) {
    section.blocks.emplace_back(Callout{Tone::neutral,
                                        plain_text(words.text(messages::profile_saves_of_page(
                                            {.share = finding.saving_share, .title = finding.title}))),
                                        plain_text(words.text(finding.advice))});
    BulletList lines;
    if (!finding.module.empty())
      lines.items.push_back(
          plain_text(words.text(messages::profile_where_of_page({.module = finding.module, .line = finding.line}))));
    for (const auto& line : words.texts(finding.evidence)) lines.items.push_back(sentence(plain_text(line)));
    lines.items.push_back(plain_text(words.text(
        messages::profile_saving_of_page({.time = as_number(finding.saving_ns), .computed = finding.computed}))));
    if (finding.verification)
      for (const auto& line : verification_lines(words, finding)) lines.items.push_back(sentence(plain_text(line)));
    section.blocks.emplace_back(std::move(lines));
    if (!finding.snippet.empty()) section.blocks.emplace_back(CodeBlock{"python", finding.snippet});
  }
  if (run.findings.size() > 1) section.blocks.emplace_back(Paragraph{words.text(messages::profile_savings_overlap())});
  return section;
}

Section timeline_section(const schema::MessageRenderer& words, const ProfileRun& run,
                         const std::optional<std::string>& data) {
  Section section{"timeline", "Timeline", {}};
  if (!data) return section;
  std::int64_t kernels = 0;
  std::int64_t graph_launches = 0;
  std::int64_t copies = 0;
  for (const auto& row : run.tables.kernels) kernels += row.calls;
  for (const auto& device : run.tables.devices) graph_launches += device.graph_launches;
  kernels -= std::min(kernels, graph_launches);
  for (const auto& row : run.tables.copies) copies += row.calls;
  std::int64_t nodes = 0;
  for (const auto& row : run.tables.nodes) nodes += row.calls;
  std::vector<std::string> work;
  if (kernels > 0) work.push_back(words.text(messages::profile_work({.kernels = kernels, .graphs = std::nullopt})));
  if (graph_launches > 0)
    work.push_back(words.text(messages::profile_work({.kernels = std::nullopt, .graphs = graph_launches})));
  if (copies > 0) work.push_back(words.text(messages::profile_copies(copies)));
  if (nodes > 0) work.push_back(words.text(messages::profile_calls_of_nodes(nodes)));
  if (work.empty()) return section;
  section.blocks.emplace_back(Timeline{
      "events", "Timeline of events",
      words.text(messages::profile_events_of_timeline({.work = work, .time = as_number(run.tables.span_ns)})), *data});
  return section;
}

Section modules_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"modules", "Modules", {}};
  if (is_memory_only(run)) return section;
  if (auto icicle = module_icicle(words, run)) section.blocks.emplace_back(std::move(*icicle));
  ModuleView view;
  view.least = 0.003;
  view.most = 120;
  auto table = module_table(words, run, view);
  table.caption = words.text(is_host_only(run)            ? messages::profile_modules_of_host()
                             : run.tables.devices.empty() ? messages::profile_modules_of_run()
                                                          : messages::profile_modules());
  for (const auto& note : words.texts(bytes_notes(run))) table.caption += " " + sentence(plain_text(note));
  section.blocks.emplace_back(std::move(table));
  if (auto chart = bytes_chart(words, run)) section.blocks.emplace_back(std::move(*chart));
  return section;
}

Section kernels_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"kernels", kernels_title(run), {}};
  if (run.tables.kernels.empty()) return section;
  auto table = kernels_table(words, run, kListedKernels);
  const bool measured =
      std::any_of(run.tables.kernels.begin(), run.tables.kernels.end(), [](const auto& row) { return row.bytes >= 0; });
  table.caption = words.text(messages::profile_kernels({.shown = std::ssize(table.rows),
                                                        .all = std::ssize(run.tables.kernels),
                                                        .kind = kind_of_kernels(run),
                                                        .measured = measured}));
  for (const auto& note : words.texts(bytes_notes(run))) table.caption += " " + sentence(plain_text(note));
  section.blocks.emplace_back(std::move(table));
  if (auto graphs = graphs_table(words, run); !graphs.rows.empty()) {
    graphs.caption = words.text(messages::profile_graphs_caption());
    section.blocks.emplace_back(std::move(graphs));
  }
  if (auto copies = copies_table(words, run, kListedCopies); !copies.rows.empty()) {
    copies.caption = words.text(messages::profile_copies_caption());
    section.blocks.emplace_back(std::move(copies));
  }
  return section;
}

Section lines_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"lines", "Lines", {}};
  auto table = lines_table(run, kListedLines);
  if (table.rows.empty()) return section;
  table.caption =
      words.text(messages::profile_lines({.shown = std::ssize(table.rows), .all = std::ssize(run.tables.lines)}));
  section.blocks.emplace_back(std::move(table));
  return section;
}

void add_tables(const schema::MessageRenderer& words, std::vector<TitledTable> tables, const ProfileKernel& of,
                Section& section) {
  for (auto& [title, table] : tables) {
    table.caption = words.text(
        messages::profile_table_of_kernel({.table = title, .kernel = plain_text(schema::short_kernel_name(of.name))}));
    section.blocks.emplace_back(std::move(table));
  }
}

messages::ProfileCountersBy source_of_counters(const ProfileRun& run) {
  bool by_recorder = false;
  bool by_ncu = false;
  for (const auto& kernel : run.tables.kernels) {
    const bool counted = kernel.bytes_source == schema::BytesSource::range_profiler ||
                         kernel.bytes_source == schema::BytesSource::uncaptured_step;
    if (!kernel.counters.empty()) (counted ? by_recorder : by_ncu) = true;
  }
  using enum messages::ProfileCountersBy;
  return by_recorder && by_ncu ? both : by_recorder ? recorder : ncu;
}

/// Kernels beside each other, and the longest of them in detail.
Section counters_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"counters", "Hardware counters", {}};
  auto table = counters_table(run, kListedKernels);
  if (table.rows.empty()) return section;
  table.caption = words.text(messages::profile_counters(source_of_counters(run)));
  section.blocks.emplace_back(std::move(table));
  std::size_t shown = 0;
  for (const auto& kernel : run.tables.kernels)
    if (!kernel.counters.empty() && shown++ < kDetailedKernels)
      add_tables(words, counter_detail(words, kernel), kernel, section);
  return section;
}

/// The one that was asked for.
Section kernel_section(const schema::MessageRenderer& words, const ProfileRun& run, const std::string& name) {
  Section section{"kernel", "One kernel", {}};
  if (const auto* kernel = name.empty() ? nullptr : find_kernel(run, name))
    add_tables(words, kernel_detail(words, *kernel, peak_bytes_per_s(run)), *kernel, section);
  return section;
}

Section nodes_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"nodes", "Nodes", {}};
  if (run.tables.nodes.empty()) return section;
  if (auto chart = roofline_chart(words, run)) section.blocks.emplace_back(std::move(*chart));
  auto table = nodes_table(run, kListedNodes);
  table.caption =
      words.text(messages::profile_nodes({.shown = std::ssize(table.rows), .all = std::ssize(run.tables.nodes)}));
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section steps_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"steps", "Steps", {}};
  auto table = steps_table(run);
  if (table.rows.empty()) return section;
  if (auto chart = steps_chart(words, run)) section.blocks.emplace_back(std::move(*chart));
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section idle_section(const schema::MessageRenderer& words, const ProfileRun& run) {
  Section section{"idle", "Idle time of the GPU", {}};
  auto table = idle_table(words, run);
  if (table.rows.empty()) return section;
  table.caption = words.text(messages::profile_cause_of_gap());
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section sources_section(const schema::MessageRenderer& words, const ProfileRun& run, bool has_events) {
  Section section{"sources", run.request.command.empty() ? "Input files" : "Recording", {}};
  Facts facts;
  for (const auto& source : run.sources)
    facts.rows.emplace_back(plain_text(source.path),
                            fmt::format("{}, {}, {} events", source.tool,
                                        base::format_bytes(static_cast<double>(source.bytes)), source.events));
  section.blocks.emplace_back(std::move(facts));
  BulletList lines;
  for (const auto& [label, text] : profile_summary(words, run))
    if (label == "run" || label == "reach" || label == "bytes")
      lines.items.push_back(sentence(plain_text(label + ": " + text)));
  for (const auto& note : words.texts(run.notes)) lines.items.push_back(sentence(plain_text(note)));
  for (const auto& what : run.tables.missing)
    lines.items.push_back(sentence(plain_text(words.text(messages::profile_missing(what)))));
  if (!has_events) lines.items.push_back(words.text(messages::profile_no_timeline()));
  if (!lines.items.empty()) section.blocks.emplace_back(std::move(lines));
  return section;
}

}  // namespace

ReportModel build_profile_report(const schema::MessageRenderer& words, const ProfileRun& recorded,
                                 const std::optional<std::string>& timeline, const std::string& kernel) {
  const auto run = per_run(recorded);
  ReportModel model;
  model.title = "Profile of " + base::listed(schema::source_names(run));
  model.subtitle = fmt::format("{} · run {}", utc_text(run.started_utc), run.id);
  model.asked = profile_asked(words, run);
  model.answer = profile_answer_section(words, run);
  for (auto section : {where_section(words, run), advice_section(words, run), timeline_section(words, run, timeline),
                       modules_section(words, run), lines_section(words, run), kernels_section(words, run),
                       kernel_section(words, run, kernel), counters_section(words, run), nodes_section(words, run),
                       steps_section(words, run), idle_section(words, run), memory_section(words, run),
                       sources_section(words, run, timeline.has_value() || is_memory_only(run))})
    if (!section.blocks.empty()) model.sections.push_back(std::move(section));
  model.footer = "ridgeline " + run.command_line;
  return model;
}

base::Json profile_json(const schema::MessageRenderer& words, const ProfileRun& run) {
  auto json = schema::with_words(words, run);
  json["schema_version"] = kProfileJsonVersion;
  return json;
}

std::vector<std::pair<std::string, std::string>> profile_summary(const schema::MessageRenderer& words,
                                                                 const ProfileRun& run) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](std::string label, const schema::Message& message) {
    out.emplace_back(std::move(label), words.text(message));
  };
  for (const auto& source : run.sources)
    add("read", messages::profile_source({.path = source.path, .tool = source.tool, .events = source.events}));
  for (const auto& device : run.tables.devices) {
    const bool has_share = device.span_ns > 0;
    add(fmt::format("GPU {}", device.device),
        messages::profile_gpu(
            {.name = device.name,
             .busy = as_number(device.busy_ns),
             .span = as_number(device.span_ns),
             .share = has_share ? std::optional(share_of(device.busy_ns, device.span_ns)) : std::nullopt,
             .work = work_of(device),
             .streams = device.streams > 1 ? std::optional<std::int64_t>(device.streams) : std::nullopt,
             .peak = unless_none(as_number(device.memory_bytes_per_s) / 1e9)}));
  }
  for (const auto& row : run.tables.memory)
    if (is_memory_only(run))
      add(fmt::format("GPU {}", row.device),
          messages::profile_memory_of_gpu({.allocated = as_number(row.peak_allocated_bytes),
                                           .reserved = as_number(row.reserved_at_peak_bytes),
                                           .allocations = row.allocations,
                                           .frees = row.frees}));
  if (is_host_only(run)) add("host", messages::profile_host(as_number(run.tables.span_ns)));
  const auto& steps = run.tables.steps;
  if (!steps.empty()) {
    std::vector<double> times;
    for (const auto& step : steps) times.push_back(as_number(step.duration_ns));
    add("steps", messages::profile_steps({.steps = std::ssize(steps),
                                          .name = run.tables.step_name,
                                          .median = std::round(stats::median(std::move(times)))}));
  }
  if (run.cost) {
    const auto& cost = *run.cost;
    const bool has_nodes = cost.traced_ns > 0 && cost.nodes_ns > 0;
    add("run", messages::profile_cost({.plain = cost.plain_ns,
                                       .provider = run.provider,
                                       .traced = cost.traced_ns,
                                       .nodes = has_nodes ? std::optional(cost.nodes_ns) : std::nullopt,
                                       .share = has_nodes ? cost.nodes_ns / cost.traced_ns : 0,
                                       .own = cost.event_ns > 0 ? std::optional(cost.own_ns()) : std::nullopt,
                                       .events = cost.events,
                                       .event = cost.event_ns}));
  }
  if (run.roof.bytes_per_s > 0)
    add("reach", messages::profile_roof({.bytes = run.roof.bytes_per_s / 1e9, .flops = run.roof.flops_per_s / 1e9}));
  for (const auto& note : rate_notes(run)) add("reach", note);
  for (const auto& note : bytes_notes(run)) add("bytes", note);
  for (auto& note : words.texts(run.notes)) out.emplace_back("note", std::move(note));
  for (auto& line : words.texts(run.tables.missing)) out.emplace_back("missing", std::move(line));
  return out;
}

FindingText finding_text(const schema::MessageRenderer& words, const schema::ProfileFinding& finding) {
  FindingText out;
  out.title = words.text(messages::profile_saves({.share = finding.saving_share, .title = finding.title}));
  if (!finding.module.empty())
    out.lines.push_back(
        one_line(words.text(messages::profile_where({.module = finding.module, .line = finding.line}))));
  for (const auto& line : words.texts(finding.evidence)) out.lines.push_back(one_line(line));
  out.lines.push_back(
      words.text(messages::profile_saving({.time = as_number(finding.saving_ns), .computed = finding.computed})));
  if (finding.verification)
    for (const auto& line : verification_lines(words, finding)) out.lines.push_back(one_line(line));
  out.lines.push_back(words.text(finding.advice));
  out.snippet = finding.snippet;
  return out;
}

}  // namespace ridgeline::report
