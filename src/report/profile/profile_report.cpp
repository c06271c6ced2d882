// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/profile/kernel_detail.hpp"
#include "report/profile/module_icicle.hpp"
#include "report/profile/module_table.hpp"
#include "report/profile/profile_charts.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/utf8.hpp"
#include "schema/kernel_name.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileKernel;
using schema::ProfileRun;

constexpr std::size_t kListedKernels = 40;
constexpr std::size_t kListedNodes = 60;
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

std::string subject_of(const ProfileRun& run) {
  std::vector<std::string> names;
  for (const auto& source : run.sources) names.emplace_back(base::file_name(source.path));
  return base::listed(names);
}

/// "10 kernels, 10 graph launches".
std::string work_words(const schema::ProfileDevice& device) {
  const auto graphs = counted(static_cast<std::size_t>(device.graph_launches), "graph launch");
  if (device.graph_launches > 0 && device.kernels == 0) return graphs;
  return counted(static_cast<std::size_t>(device.kernels), "kernel") +
         (device.graph_launches > 0 ? ", " + graphs : std::string());
}

KeyFigures key_figures(const ProfileRun& run) {
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
                           fmt::format("{} of {}", duration_words(busy), duration_words(span)),
                           busy * 10 >= span * 9 ? Tone::good : Tone::warning});
    out.figures.push_back(
        {kernels_title(run), fmt::format("{}", kernels + graph_launches),
         fmt::format("{} in the mean",
                     duration_words(whole_ns(run) / std::max<std::int64_t>(1, kernels + graph_launches))),
         Tone::neutral});
  } else if (is_host_only(run)) {
    out.figures.push_back(
        {"Time on the host", duration_words(tables.span_ns), "no work of a GPU was recorded", Tone::neutral});
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
          {tables.memory.size() == 1 ? "Peak memory" : fmt::format("Peak memory of GPU {}", row.device),
           base::format_bytes(static_cast<double>(row.peak_allocated_bytes)),
           fmt::format("{} reserved", base::format_bytes(static_cast<double>(row.reserved_at_peak_bytes))),
           Tone::neutral});
  if (!run.findings.empty())
    out.figures.push_back({"Largest saving", fmt::format("{:.0f} %", 100 * run.findings.front().saving_share),
                           run.findings.front().rule(), Tone::good});
  return out;
}

Section where_section(const ProfileRun& run) {
  Section section{"summary", is_memory_only(run) ? "Summary" : "Where the time went", {}};
  section.blocks.emplace_back(key_figures(run));
  if (auto table = time_table(run); !table.rows.empty()) {
    if (auto chart = time_chart(run)) section.blocks.emplace_back(std::move(*chart));
    table.caption = "Kernels that overlap count once.";
    section.blocks.emplace_back(std::move(table));
  }
  if (auto table = operations_table(run, kListedNodes); !table.rows.empty() && run.tables.devices.empty()) {
    table.caption =
        "By operation. Bytes and FLOPs follow from the shapes: what the node reads and writes, wherever it lies.";
    section.blocks.emplace_back(std::move(table));
  }
  BulletList facts;
  for (const auto& device : run.tables.devices) {
    if (device.streams > 1)
      facts.items.push_back(
          fmt::format("{}: {} streams; the busiest, {}, works {} of the time; copies and kernels overlap {}.",
                      plain_text(device_name(device)), device.streams, device.critical_stream,
                      share_words(device.critical_ns, device.span_ns), duration_words(device.both_ns)));
    if (device.collective_ns > 0)
      facts.items.push_back(fmt::format(
          "{}: communication takes {}, of which {} with no other kernel at the same time.",
          plain_text(device_name(device)), duration_words(device.collective_ns), duration_words(device.exposed_ns)));
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
    section.blocks.emplace_back(
        Callout{Tone::good, std::move(title), "None of the rules found a saving of 1 % or more."});
  }
  for (const auto& finding : run.findings) {
    section.blocks.emplace_back(Callout{
        Tone::neutral,
        fmt::format("Saves about {:.0f} %: {}", 100 * finding.saving_share, plain_text(words.text(finding.title))),
        plain_text(words.text(finding.advice))});
    BulletList lines;
    if (!finding.module.empty()) lines.items.push_back("Where: " + plain_text(finding.module));
    for (const auto& line : words.texts(finding.evidence)) lines.items.push_back(sentence(plain_text(line)));
    lines.items.push_back(fmt::format("Predicted saving: {} ({}).", duration_words(finding.saving_ns),
                                      plain_text(words.text(finding.computed))));
    section.blocks.emplace_back(std::move(lines));
    if (!finding.snippet.empty()) section.blocks.emplace_back(CodeBlock{"python", finding.snippet});
  }
  if (run.findings.size() > 1)
    section.blocks.emplace_back(Paragraph{"Savings may overlap; each is that of its change alone."});
  return section;
}

Section timeline_section(const ProfileRun& run, const std::optional<std::string>& data) {
  Section section{"timeline", "Timeline", {}};
  if (!data) return section;
  std::size_t kernels = 0;
  std::size_t graph_launches = 0;
  std::size_t copies = 0;
  for (const auto& row : run.tables.kernels) kernels += static_cast<std::size_t>(row.calls);
  for (const auto& device : run.tables.devices) graph_launches += static_cast<std::size_t>(device.graph_launches);
  kernels -= std::min(kernels, graph_launches);
  for (const auto& row : run.tables.copies) copies += static_cast<std::size_t>(row.calls);
  std::size_t nodes = 0;
  for (const auto& row : run.tables.nodes) nodes += static_cast<std::size_t>(row.calls);
  std::vector<std::string> work;
  if (kernels > 0) work.push_back(counted(kernels, "kernel"));
  if (graph_launches > 0) work.push_back(counted(graph_launches, "graph launch"));
  if (copies > 0) work.push_back(copies == 1 ? "1 copy or set" : fmt::format("{} copies and sets", copies));
  if (nodes > 0) work.push_back(counted(nodes, "call") + " of nodes");
  if (work.empty()) return section;
  section.blocks.emplace_back(Timeline{"events", "What ran when",
                                       fmt::format("{} in {}.", base::listed(work), duration_words(run.tables.span_ns)),
                                       *data});
  return section;
}

Section modules_section(const ProfileRun& run) {
  Section section{"modules", "Modules", {}};
  if (is_memory_only(run)) return section;
  if (auto icicle = module_icicle(run)) section.blocks.emplace_back(std::move(*icicle));
  ModuleView view;
  view.least = 0.003;
  view.most = 120;
  auto table = module_table(run, view);
  table.caption = is_host_only(run)
                      ? "Time on the host of all calls together, of threads beside each other each counts; self is "
                        "without the rows below; backward is the part that the backward pass took."
                  : run.tables.devices.empty()
                      ? "Of one run; self is without the rows below."
                      : "Time on the GPU of all calls together, self without the rows below; backward is the part of "
                        "it that the backward pass launched; host is the time of the calls themselves.";
  section.blocks.emplace_back(std::move(table));
  if (auto chart = bytes_chart(run)) section.blocks.emplace_back(std::move(*chart));
  return section;
}

Section kernels_section(const ProfileRun& run) {
  Section section{"kernels", kernels_title(run), {}};
  if (run.tables.kernels.empty()) return section;
  auto words = section.title;
  words.front() = static_cast<char>(words.front() - 'A' + 'a');
  auto table = kernels_table(run, kListedKernels);
  const bool measured =
      std::any_of(run.tables.kernels.begin(), run.tables.kernels.end(), [](const auto& row) { return row.bytes >= 0; });
  table.caption =
      fmt::format("{} of {} {}, the longest in total first.{}", table.rows.size(), run.tables.kernels.size(), words,
                  measured ? " Bytes are DRAM bytes, measured by hardware counters." : "");
  section.blocks.emplace_back(std::move(table));
  if (auto copies = copies_table(run, kListedCopies); !copies.rows.empty()) {
    copies.caption = "Copies and sets of memory.";
    section.blocks.emplace_back(std::move(copies));
  }
  return section;
}

void add_tables(std::vector<TitledTable> tables, const ProfileKernel& of, Section& section) {
  for (auto& [title, table] : tables) {
    table.caption = fmt::format("{} of {}.", title, plain_text(schema::short_kernel_name(of.name)));
    section.blocks.emplace_back(std::move(table));
  }
}

/// Kernels beside each other, and the longest of them in detail.
Section counters_section(const ProfileRun& run) {
  Section section{"counters", "Hardware counters", {}};
  auto table = counters_table(run, kListedKernels);
  if (table.rows.empty()) return section;
  table.caption = "Means of a launch, by Nsight Compute; the longest kernels first.";
  section.blocks.emplace_back(std::move(table));
  std::size_t shown = 0;
  for (const auto& kernel : run.tables.kernels)
    if (!kernel.counters.empty() && shown++ < kDetailedKernels) add_tables(counter_detail(kernel), kernel, section);
  return section;
}

/// The one that was asked for.
Section kernel_section(const ProfileRun& run, const std::string& name) {
  Section section{"kernel", "One kernel", {}};
  if (const auto* kernel = name.empty() ? nullptr : find_kernel(run, name))
    add_tables(kernel_detail(*kernel, peak_bytes_per_s(run)), *kernel, section);
  return section;
}

Section nodes_section(const ProfileRun& run) {
  Section section{"nodes", "Nodes", {}};
  if (run.tables.nodes.empty()) return section;
  if (auto chart = roofline_chart(run)) section.blocks.emplace_back(std::move(*chart));
  auto table = nodes_table(run, kListedNodes);
  table.caption =
      fmt::format("{} of {} nodes, the longest in total first.", table.rows.size(), run.tables.nodes.size());
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section steps_section(const ProfileRun& run) {
  Section section{"steps", "Steps", {}};
  auto table = steps_table(run);
  if (table.rows.empty()) return section;
  if (auto chart = steps_chart(run)) section.blocks.emplace_back(std::move(*chart));
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section idle_section(const ProfileRun& run) {
  Section section{"idle", "Idle time of the GPU", {}};
  auto table = idle_table(run);
  if (table.rows.empty()) return section;
  table.caption =
      "A gap's cause is what the launching thread did between the end of the work before and the launch of the work "
      "behind.";
  section.blocks.emplace_back(std::move(table));
  return section;
}

Section sources_section(const schema::MessageRenderer& words, const ProfileRun& run, bool has_events) {
  Section section{"sources", "What was read", {}};
  Facts facts;
  for (const auto& source : run.sources)
    facts.rows.emplace_back(plain_text(source.path),
                            fmt::format("{}, {}, {} events", source.tool,
                                        base::format_bytes(static_cast<double>(source.bytes)), source.events));
  section.blocks.emplace_back(std::move(facts));
  BulletList lines;
  for (const auto& [label, text] : profile_summary(words, run))
    if (label == "run" || label == "reach") lines.items.push_back(sentence(plain_text(label + ": " + text)));
  for (const auto& note : words.texts(run.notes)) lines.items.push_back(sentence(plain_text(note)));
  for (const auto& line : words.texts(run.tables.missing))
    lines.items.push_back(sentence("The trace has " + plain_text(line)));
  if (!has_events) lines.items.emplace_back("The timeline is left out: the events are not kept.");
  if (!lines.items.empty()) section.blocks.emplace_back(std::move(lines));
  return section;
}

}  // namespace

ReportModel build_profile_report(const schema::MessageRenderer& words, const ProfileRun& recorded,
                                 const std::optional<std::string>& timeline, const std::string& kernel) {
  const auto run = per_run(recorded);
  ReportModel model;
  model.title = "Profile of " + subject_of(run);
  model.subtitle = fmt::format("{} · run {}", utc_text(run.started_utc), run.id);
  for (auto section : {where_section(run), advice_section(words, run), timeline_section(run, timeline),
                       modules_section(run), kernels_section(run), kernel_section(run, kernel), counters_section(run),
                       nodes_section(run), steps_section(run), idle_section(run), memory_section(run),
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
  for (const auto& source : run.sources)
    out.emplace_back("read", fmt::format("{}: {}, {} events", source.path, source.tool, source.events));
  for (const auto& device : run.tables.devices)
    out.emplace_back(
        fmt::format("GPU {}", device.device),
        fmt::format(
            "{}{} of {} busy ({}), {}{}{}", device.name.empty() ? "" : device.name + ": ",
            duration_words(device.busy_ns), duration_words(device.span_ns), share_words(device.busy_ns, device.span_ns),
            work_words(device), device.streams > 1 ? fmt::format(", {} streams", device.streams) : "",
            device.memory_bytes_per_s > 0
                ? fmt::format(", memory of {:.0f} GB/s at most", static_cast<double>(device.memory_bytes_per_s) / 1e9)
                : ""));
  for (const auto& row : run.tables.memory)
    if (is_memory_only(run))
      out.emplace_back(
          fmt::format("GPU {}", row.device),
          fmt::format("{} allocated at the peak, {} reserved; {} allocations, {} frees",
                      base::format_bytes(static_cast<double>(row.peak_allocated_bytes)),
                      base::format_bytes(static_cast<double>(row.reserved_at_peak_bytes)), row.allocations, row.frees));
  if (is_host_only(run))
    out.emplace_back("host", fmt::format("{} from the first to the last operation, no work of a GPU",
                                         duration_words(run.tables.span_ns)));
  const auto& steps = run.tables.steps;
  if (!steps.empty()) {
    std::vector<double> times;
    for (const auto& step : steps) times.push_back(static_cast<double>(step.duration_ns));
    out.emplace_back("steps", fmt::format("{} x {}, median {}", steps.size(), run.tables.step_name,
                                          duration_words(std::llround(stats::median(std::move(times))))));
  }
  if (run.cost) {
    const auto& cost = *run.cost;
    auto text = fmt::format("{} on {}, {} with the profiler", base::format_duration(cost.plain_ns), run.provider,
                            base::format_duration(cost.traced_ns));
    if (cost.traced_ns > 0 && cost.nodes_ns > 0)
      text += fmt::format("; its nodes take {} of that ({:.0f} %)", base::format_duration(cost.nodes_ns),
                          100 * cost.nodes_ns / cost.traced_ns);
    if (cost.event_ns > 0)
      text += fmt::format(", less about {} of the profiler's own ({:.0f} nodes x {})",
                          base::format_duration(cost.own_ns()), cost.events, base::format_duration(cost.event_ns));
    out.emplace_back("run", std::move(text));
  }
  if (run.roof.bytes_per_s > 0)
    out.emplace_back("reach", fmt::format("memory {:.3g} GB/s, matrix product {:.3g} GFLOP/s, both measured beside it",
                                          run.roof.bytes_per_s / 1e9, run.roof.flops_per_s / 1e9));
  for (auto& line : rate_notes(run)) out.emplace_back("reach", std::move(line));
  for (auto& note : words.texts(run.notes)) out.emplace_back("note", std::move(note));
  for (auto& line : words.texts(run.tables.missing)) out.emplace_back("missing", std::move(line));
  return out;
}

FindingText finding_text(const schema::MessageRenderer& words, const schema::ProfileFinding& finding) {
  FindingText out;
  out.title = fmt::format("saves about {:.0f} %: {}", 100 * finding.saving_share, words.text(finding.title));
  if (!finding.module.empty()) out.lines.push_back(one_line("where: " + finding.module));
  for (const auto& line : words.texts(finding.evidence)) out.lines.push_back(one_line(line));
  out.lines.push_back(
      fmt::format("predicted saving {}: {}", duration_words(finding.saving_ns), words.text(finding.computed)));
  out.lines.push_back(words.text(finding.advice));
  out.snippet = finding.snippet;
  return out;
}

}  // namespace ridgeline::report
