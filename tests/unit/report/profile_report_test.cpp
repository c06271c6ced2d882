// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_report.hpp"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "report/format.hpp"
#include "report/profile/module_table.hpp"
#include "report/profile/profile_charts.hpp"
#include "report/profile/profile_csv.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"
#include "report/profile/profile_tables.hpp"
#include "report/renderers.hpp"
#include "schema/messages.hpp"
#include "trace/messages.hpp"

namespace ridgeline::report {
namespace {

using schema::ModuleKind;

schema::ProfileRun profile_of_layers() {
  schema::ProfileRun run;
  run.id = "20261126-080000-abcd";
  run.started_utc = "2026-11-26T08:00:00Z";
  run.sources = {{"trace.json.gz", "PyTorch profiler", 1000, 50}};
  auto& tables = run.tables;
  schema::ProfileDevice device;
  device.name = "NVIDIA H100";
  device.kernels = 7;
  device.span_ns = 2'000'000;
  device.busy_ns = device.kernel_ns = 1'000'000;
  device.idle = {{schema::IdleCause::launch, 5, 1'000'000, 300'000, {{"train.py(4): step", 1'000'000}}}};
  tables.devices.push_back(device);
  const auto add = [&](const std::string& path, const std::string& name, int parent, ModuleKind kind,
                       std::int64_t total, std::int64_t self) {
    schema::ProfileModule row;
    row.path = path;
    row.name = name;
    row.parent = parent;
    row.kind = kind;
    row.calls = 1;
    row.gpu_total_ns = total;
    row.gpu_self_ns = self;
    row.kernels = 1;
    tables.modules.push_back(row);
  };
  add("", "", -1, ModuleKind::root, 1'000'000, 0);
  add("Net_0", "Net_0", 0, ModuleKind::module, 900'000, 0);
  for (int i = 0; i < 3; ++i) {
    const auto name = "Layer_" + std::to_string(i);
    add("Net_0/" + name, name, 1, ModuleKind::module, 300'000, 0);
    add("Net_0/" + name + "/aten::mm", "aten::mm", 2 + 2 * i, ModuleKind::operation, 300'000, 300'000);
  }
  add("(unattributed)", "(unattributed)", 0, ModuleKind::unattributed, 100'000, 100'000);
  schema::ProfileKernel kernel;
  kernel.name = "void at::native::f<4, \"x\", float>(int, float)";
  kernel.module = "Net_0/Layer_0/aten::mm";
  kernel.calls = 7;
  kernel.total_ns = 1'000'000;
  kernel.counters = {{"dram__bytes_read.sum", "byte", 7, 35e6, 4e6, 6e6}};
  tables.kernels.push_back(kernel);
  run.findings.push_back({trace::messages::launch_bound(0.5),
                          "train.py(4): step",
                          {schema::messages::legacy({"5 gaps", {}})},
                          900'000,
                          0.45,
                          schema::messages::legacy({"the gaps' time", {}}),
                          schema::messages::legacy({"Launch at once.", {}}),
                          "torch.compile(model)"});
  return run;
}

std::string cells_of(const Table& table, std::size_t column) {
  std::string out;
  for (const auto& row : table.rows) out += row.cells[column] + "|";
  return out;
}

TEST(ProfileFinding, of_an_older_record_is_read) {
  const auto finding =
      base::parse_json(R"({"rule": "sync", "title": "the GPU waits", "module": "m", "evidence": ["a gap"],
      "saving_ns": 3, "saving_share": 0.5, "computed": "a sum", "advice": "Wait less.", "code": "loss"})",
                       "")
          .value()
          .get<schema::ProfileFinding>();
  EXPECT_TRUE(finding.title.is(schema::kLegacy));
  EXPECT_EQ(base::Json(finding).get<schema::ProfileFinding>().rule(), "sync");
  EXPECT_EQ(finding_text(fakes::words(), finding).title, "saves about 50 %: the GPU waits");
  EXPECT_EQ(fakes::texts_of(finding.evidence), std::vector<std::string>{"a gap"});
  EXPECT_EQ(finding.snippet, "loss");
}

TEST(ProfileFinding, has_a_rule_by_its_title) {
  schema::ProfileFinding finding;
  finding.title = trace::messages::launch_bound(0.5);
  EXPECT_EQ(finding.rule(), "launch-bound");
}

TEST(ProfileTables, alike_modules_are_one_row_unless_a_depth_is_given) {
  const auto run = profile_of_layers();
  const std::string two = "\u00a0\u00a0";
  EXPECT_EQ(cells_of(module_table(fakes::words(), run, {}), 0), "Net_0/3 x Layer/aten::mm|(unattributed)|");
  EXPECT_EQ(cells_of(module_table(fakes::words(), run, {.depth = 2}), 0),
            "Net_0|" + two + "Layer_0|" + two + "Layer_1|" + two + "Layer_2|(unattributed)|");
  EXPECT_EQ(cells_of(module_table(fakes::words(), run, {}), 3), "90 %|10 %|");
}

TEST(ProfileTables, a_depth_leaves_out_what_took_no_time) {
  auto run = profile_of_layers();
  for (const std::size_t i : {4U, 6U}) run.tables.modules[i].gpu_total_ns = run.tables.modules[i].gpu_self_ns = 0;
  const std::string two = "\u00a0\u00a0";
  EXPECT_EQ(cells_of(module_table(fakes::words(), run, {.depth = 2}), 0),
            "Net_0|" + two + "Layer_0|" + two + "(2 more without time)|(unattributed)|");
  EXPECT_EQ(cells_of(module_table(fakes::words(), run, {.depth = 2}), 2).find("0 ns"), std::string::npos);
}

/// "model.7" is a place in a container: what stands there is alike where it has the same parts.
TEST(ProfileTables, places_in_a_container_are_one_row_where_they_have_the_same_parts) {
  schema::ProfileRun run;
  const auto add = [&](const std::string& name, int parent, std::int64_t total) {
    schema::ProfileModule row;
    row.name = row.path = name;
    row.parent = parent;
    row.kind = parent < 0 ? ModuleKind::root : ModuleKind::module;
    row.host_total_ns = total;
    run.tables.modules.push_back(row);
    return static_cast<int>(run.tables.modules.size() - 1);
  };
  add("", -1, 1000);
  for (int i = 0; i < 4; ++i) {
    const auto at = add("model." + std::to_string(i), 0, 200);
    add(i == 3 ? "detect" : "conv", at, 100);
    add("act", at, 100);
  }
  const auto names = cells_of(module_table(fakes::words(), run, {}), 0);
  EXPECT_NE(names.find("3 x model.#|"), std::string::npos) << names;
  EXPECT_NE(names.find("|model.3|"), std::string::npos) << names;
}

TEST(ProfileTables, processes_are_named_where_there_are_several) {
  auto run = profile_of_layers();
  run.tables.devices.push_back(run.tables.devices.front());
  run.tables.devices.front().process = run.tables.devices.back().process = 148;
  run.tables.devices.back().device = 1;
  EXPECT_EQ(cells_of(time_table(fakes::words(), run), 0), "0|0|1|1|");
  run.tables.devices.back().process = 149;
  EXPECT_EQ(cells_of(time_table(fakes::words(), run), 0),
            "0 (process 148)|0 (process 148)|1 (process 149)|1 (process 149)|");
}

TEST(ProfileTables, paths_that_are_cut_keep_their_end) {
  auto run = profile_of_layers();
  run.tables.memory.resize(1);
  run.tables.memory[0].holders = {{"model/" + std::string(200, 'x') + "/attention/aten::linear", 5, 1}};
  const auto text = render_table(holders_table(run), 80, false);
  EXPECT_NE(text.find("/attention/aten::linear │"), std::string::npos) << text;
  EXPECT_NE(text.find("…x"), std::string::npos) << text;
}

/// Modules of three kinds, one each, whose time grows with their bytes.
TEST(ProfileCharts, bytes_are_fitted_across_modules_where_no_kind_has_enough) {
  auto run = profile_of_layers();
  auto& modules = run.tables.modules;
  modules.resize(4, modules.back());
  const auto set = [&](std::size_t i, const char* name, std::int64_t bytes, std::int64_t ns) {
    modules[i].name = modules[i].path = name;
    modules[i].parent = 0;
    modules[i].kind = ModuleKind::module;
    modules[i].bytes = bytes;
    modules[i].gpu_total_ns = ns;
  };
  set(1, "backbone", 3'000'000, 3'000'000 + 500'000);
  set(2, "encoder", 2'000'000, 2'000'000 + 500'000);
  set(3, "decoder", 1'000'000, 1'000'000 + 500'000);
  const auto chart = bytes_chart(fakes::words(), run);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->alternative, "By the fit across all 1 GB/s and 500 µs that does not depend on bytes.");
  EXPECT_EQ(chart->option["series"].back()["type"], "line");
  set(1, "backbone", 1'000'000, 2'000'000);
  set(2, "encoder", 1'000'000, 3'000'000);
  EXPECT_EQ(bytes_chart(fakes::words(), run)->alternative,
            "All move the same number of bytes, so no fit shows how time grows with them.");
  set(1, "backbone", 3'000'000, 1'000'000);
  set(2, "encoder", 2'000'000, 1'200'000);
  EXPECT_EQ(bytes_chart(fakes::words(), run)->alternative, "Time does not grow with bytes.");
  modules.pop_back();
  EXPECT_FALSE(bytes_chart(fakes::words(), run)) << "two points show nothing";
}

TEST(ProfileTables, what_is_left_out_is_a_row) {
  auto run = profile_of_layers();
  run.tables.modules[2].name = "Stem";
  run.tables.modules[2].gpu_total_ns = 5;
  run.tables.modules[3].gpu_total_ns = 5;
  const auto names = cells_of(module_table(fakes::words(), run, {}), 0);
  EXPECT_NE(names.find("(1 more)"), std::string::npos) << names;
}

TEST(ProfileTables, rates_are_of_the_launches_whose_bytes_are_known) {
  auto run = profile_of_layers();
  run.tables.kernels[0].total_ns = 400;
  run.tables.kernels[0].bytes = 600;
  run.tables.kernels[0].bytes_ns = 200;
  const auto kernels = kernels_table(fakes::words(), run, 1);
  EXPECT_EQ(kernels.columns.at(6).title, "GB/s");
  EXPECT_EQ(cells_of(kernels, 6), "3.0|");
  // Of three alike layers one has bytes.
  run.tables.modules[3].bytes = 600;
  run.tables.modules[3].bytes_ns = 200;
  const auto modules = module_table(fakes::words(), run, {});
  EXPECT_EQ(modules.columns.at(7).title, "GB/s");
  EXPECT_EQ(cells_of(modules, 7).substr(0, 4), "3.0|");
}

TEST(ProfileTables, bytes_are_a_share_of_the_peak_that_the_trace_tells) {
  auto run = profile_of_layers();
  auto& kernels = run.tables.kernels;
  kernels[0].bytes = 1'676'000'000;
  kernels.push_back(kernels[0]);
  kernels[1].name = "impossible";
  kernels[1].bytes *= 3;
  run.tables.modules[1].bytes = 1'676'000'000;
  EXPECT_EQ(kernels_table(fakes::words(), run, 5).columns.size(), 8U) << "the peak is unknown";
  run.tables.devices[0].memory_bytes_per_s = 3'352'000'000'000;
  const auto table = kernels_table(fakes::words(), run, 5);
  ASSERT_EQ(table.columns.size(), 9U);
  EXPECT_EQ(table.columns[7].title, "Share of peak");
  EXPECT_EQ(cells_of(table, 7), "50 %|" + std::string(kAbsent) + "|");
  EXPECT_EQ(cells_of(table, 6), "1676|" + std::string(kAbsent) + "|") << "no memory is that fast";
  ASSERT_EQ(rate_notes(run).size(), 1U);
  EXPECT_NE(
      fakes::text_of(rate_notes(run)[0]).find("1 of 2 kernels would move more than the memory's 3352 GB/s, up to 5028"),
      std::string::npos)
      << fakes::text_of(rate_notes(run)[0]);
  const auto modules = module_table(fakes::words(), run, {});
  const auto peak = std::find_if(modules.columns.begin(), modules.columns.end(),
                                 [](const auto& column) { return column.title == "Share of peak"; });
  EXPECT_NE(peak, modules.columns.end());
  run.tables.devices.push_back(run.tables.devices[0]);
  run.tables.devices[1].memory_bytes_per_s = 2'000'000'000'000;
  EXPECT_EQ(kernels_table(fakes::words(), run, 5).columns.size(), 8U) << "two GPUs of different kinds";
}

TEST(ProfileReport, of_the_host_alone_has_times_and_no_advice) {
  auto run = profile_of_layers();
  run.tables.devices.clear();
  run.tables.kernels.clear();
  run.findings.clear();
  run.tables.span_ns = 2'000'000;
  for (auto& row : run.tables.modules) {
    row.host_total_ns = row.gpu_total_ns;
    row.host_self_ns = row.gpu_self_ns;
  }
  run.tables.step_name = "ProfilerStep";
  run.tables.steps = {{"ProfilerStep#1", 0, 1'000'000, 0, 0}, {"ProfilerStep#2", 1'000'000, 3'000'000, 0, 0}};
  std::ostringstream out;
  for (const auto& [label, text] : profile_summary(fakes::words(), run)) out << label << ": " << text << "\n";
  EXPECT_NE(out.str().find("host: 2.00 ms from the first to the last operation, no GPU work"), std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("steps: 2 x ProfilerStep, median 2.00 ms"), std::string::npos) << out.str();
  EXPECT_EQ(steps_table(run).rows.size(), 1U);
  const auto page = render_markdown(build_profile_report(fakes::words(), run));
  EXPECT_EQ(page.find("What to do"), std::string::npos);
  EXPECT_EQ(page.find("node"), std::string::npos) << page;
  EXPECT_NE(page.find("Host time of all calls"), std::string::npos);
}

TEST(ProfileTables, times_sum_to_the_span) {
  const auto run = profile_of_layers();
  EXPECT_EQ(cells_of(time_table(fakes::words(), run), 1), "kernels|idle: launch-bound, the host is behind|");
  EXPECT_EQ(cells_of(time_table(fakes::words(), run), 3), "50 %|50 %|");
}

TEST(ProfileTables, graphs_as_a_whole_are_no_kernels) {
  auto run = profile_of_layers();
  auto& device = run.tables.devices.front();
  device.kernels = 3;
  device.graph_launches = 1;
  EXPECT_EQ(kernels_title(run), "Kernels and graph launches");
  EXPECT_EQ(cells_of(time_table(fakes::words(), run), 1),
            "kernels and graph launches|idle: launch-bound, the host is behind|");
  const auto line = [&] {
    std::string all;
    for (const auto& [label, text] : profile_summary(fakes::words(), run)) all += text + "\n";
    return all;
  };
  EXPECT_NE(line().find("3 kernels, 1 graph launch"), std::string::npos) << line();
  device.kernels = 0;
  EXPECT_EQ(kernels_title(run), "Graph launches");
  EXPECT_EQ(line().find("kernels"), std::string::npos) << line();
}

TEST(ProfileTables, idle_time_without_a_cause_is_not_nothing) {
  auto run = profile_of_layers();
  run.findings.clear();
  EXPECT_EQ(fakes::text_of(schema::no_findings(run)), "nothing to gain was found");
  run.tables.devices.front().idle.front().cause = schema::IdleCause::unknown;
  EXPECT_EQ(fakes::text_of(schema::no_findings(run)),
            "nothing to gain was found except idle time, whose cause the trace does not show");
  run.tables.devices.front().idle.clear();
  EXPECT_EQ(fakes::text_of(schema::no_findings(run)),
            "nothing to gain was found except idle time, whose cause the trace does not show");
}

TEST(ProfileTables, several_runs_are_shown_as_one) {
  schema::ProfileRun run;
  run.tables.runs = 4;
  run.tables.nodes.push_back({"conv", "Conv", "CPUExecutionProvider", "conv", 4, 4000, 400, -1});
  run.tables.modules.push_back({"", "", -1, ModuleKind::root});
  run.tables.modules.front().host_total_ns = 4000;
  const auto one = per_run(run);
  EXPECT_EQ(one.tables.nodes.front().total_ns, 1000);
  EXPECT_EQ(one.tables.nodes.front().bytes, 100);
  EXPECT_EQ(one.tables.nodes.front().flops, -1) << "unknown stays unknown";
  EXPECT_EQ(whole_ns(one), 1000);
}

TEST(ProfileRoof, is_the_longer_of_memory_and_arithmetic) {
  const schema::ProfileRoof roof{1e9, 1e12};
  EXPECT_NEAR(*roof.share(1000, 0, 2000), 0.5, 1e-9);
  EXPECT_NEAR(*roof.share(1000, 2'000'000, 2000), 1, 1e-9);
  EXPECT_FALSE(roof.share(-1, -1, 2000));
  EXPECT_FALSE(schema::ProfileRoof().share(1000, 1000, 2000));
}

TEST(ProfileRoof, more_than_all_of_it_is_no_share_and_is_said) {
  schema::ProfileRun run;
  run.roof = {1e9, 1e12};
  run.tables.nodes = {{"near", "Conv", "CPUExecutionProvider", "", 1, 2000, 1000, 0},
                      {"beyond", "Concat", "CPUExecutionProvider", "", 1, 1000, 9460, 0}};
  const auto table = nodes_table(run, 10);
  EXPECT_EQ(table.columns.back().title, "% of roof");
  EXPECT_EQ(table.rows[0].cells.back(), "50 %");
  EXPECT_EQ(table.rows[1].cells.back(), kAbsent);
  ASSERT_EQ(rate_notes(run).size(), 1U);
  EXPECT_NE(fakes::text_of(rate_notes(run)[0]).find("1 of 2 nodes would exceed that, up to 946 %"), std::string::npos);
  run.tables.nodes.pop_back();
  EXPECT_TRUE(rate_notes(run).empty());
  run.cost.emplace().event_ns = 2500;  // taken off, and more than what is left
  ASSERT_EQ(rate_notes(run).size(), 1U);
  EXPECT_NE(fakes::text_of(rate_notes(run)[0]).find("no rates for 1 of 1 nodes"), std::string::npos);
  for (const auto& cells : {nodes_table(run, 10).rows[0].cells, operations_table(run, 10).rows[0].cells})
    EXPECT_EQ(std::vector(cells.end() - 3, cells.end()),
              (std::vector<std::string>{std::string(kAbsent), "", std::string(kAbsent)}));
}

TEST(ProfileReport, says_where_the_time_went_and_what_to_do) {
  const auto report = build_profile_report(fakes::words(), profile_of_layers());
  const auto text = render_markdown(report);
  for (const auto* part :
       {"Profile of trace.json.gz", "Saves about 45 %", "torch.compile(model)", "train.py(4): step", "3 x Layer"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  const auto html = render_html(report, "");
  EXPECT_NE(html.find("Saves about 45 %"), std::string::npos);
  EXPECT_EQ(profile_json(fakes::words(), profile_of_layers()).at("schema_version"), kProfileJsonVersion);
}

TEST(ProfileCsv, quotes_and_leaves_out_what_is_unknown) {
  const auto files = profile_csv(fakes::words(), profile_of_layers());
  const auto content = [&](const std::string& name) {
    return std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.first == name; })->second;
  };
  std::istringstream kernels(content("kernels.csv"));
  std::string line;
  std::getline(kernels, line);
  EXPECT_EQ(line.substr(0, 23), "name,calls,total_ns,lea");
  EXPECT_EQ(line.substr(line.rfind(',')), ",dram__bytes_read.sum");
  std::getline(kernels, line);
  EXPECT_EQ(line,
            "\"void at::native::f<4, \"\"x\"\", float>(int, "
            "float)\",7,1000000,0,0,,Net_0/Layer_0/aten::mm,0,0,0,0,0,0,0,0,,,,5000000");
  EXPECT_EQ(content("counters.csv"),
            "kernel,metric,unit,launches,sum,mean,min,max\n"
            "\"void at::native::f<4, \"\"x\"\", float>(int, float)\",dram__bytes_read.sum,byte,7,35000000,5000000,"
            "4000000,6000000\n");
  EXPECT_EQ(content("modules.csv").substr(0, 41), "path,calls,self_ns,total_ns,bytes,flops,b");
  EXPECT_NE(content("modules.csv").find("\nNet_0/Layer_1,1,0,300000,,,0,1,"), std::string::npos)
      << content("modules.csv");
}

TEST(ModuleClass, digits_within_words_are_part_of_them) {
  EXPECT_EQ(schema::module_class("Conv2d_3"), "Conv2d_#");
  EXPECT_EQ(schema::module_class("FSDP (block.12.layer.1)"), "FSDP (block.#.layer.#)");
  EXPECT_EQ(schema::module_class("model/layers.3/mlp"), "model/layers.#/mlp");
  EXPECT_EQ(schema::module_class("layer1"), "layer1");
}

schema::ProfileMemory memory_of_layers() {
  schema::ProfileMemory row;
  row.peak_allocated_bytes = std::int64_t{1} << 30;
  row.peak_ns = 2'000'000;
  row.reserved_at_peak_bytes = std::int64_t{3} << 30;
  row.holders = {{"train.py(4): *step*", std::int64_t{1} << 29, 7}, {"(before the recording)", 5, 0}};
  row.series = {{0, 5, 10}, {2'000'000, std::int64_t{1} << 30, std::int64_t{3} << 30}};
  row.out_of_memory = {{3'000'000, 1 << 20, 1 << 10, "train.py(5): step"}};
  return row;
}

TEST(ProfileReport, shows_memory_and_what_holds_it) {
  auto run = profile_of_layers();
  EXPECT_TRUE(memory_section(fakes::words(), run).blocks.empty());
  run.tables.memory = {memory_of_layers()};
  EXPECT_EQ(cells_of(memory_table(run), 4), "2.00 GiB|");
  EXPECT_EQ(cells_of(holders_table(run), 3), "50 %|0.0 %|");
  EXPECT_EQ(cells_of(holders_table(run), 4), "7|–|");
  const auto notes = fakes::texts_of(memory_notes(run));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0], "GPU 0: out of memory after 3.00 ms: 1.00 MiB requested, 1.00 KiB free, by train.py(5): step");
  EXPECT_NE(notes[1].find("2.00 GiB of 3.00 GiB reserved are unused at the peak (200 %"), std::string::npos);
  const auto chart = memory_chart(fakes::words(), run);
  ASSERT_TRUE(chart);
  EXPECT_EQ(chart->option["series"].size(), 2U);
  EXPECT_EQ(chart->option["series"][1]["data"][1][1], 3072.0);
  run.tables.memory[0].reserved_at_peak_bytes = (std::int64_t{1} << 30) + 400'000'000;
  EXPECT_EQ(memory_notes(run).size(), 1U);
  EXPECT_EQ(profile_json(fakes::words(), run)["tables"]["memory"][0]["holders"][0]["allocations"], 7);
  EXPECT_EQ(profile_json(fakes::words(), run).get<schema::ProfileRun>().tables.memory[0].series[1].time_ns, 2'000'000);
}

TEST(ProfileReport, of_memory_alone_has_no_times) {
  schema::ProfileRun run;
  run.tables.memory = {memory_of_layers(), memory_of_layers()};
  run.tables.memory[1].device = 1;
  EXPECT_TRUE(is_memory_only(run));
  EXPECT_FALSE(is_memory_only(profile_of_layers()));
  std::string titles;
  for (const auto& section : build_profile_report(fakes::words(), run).sections) titles += section.title + "|";
  EXPECT_EQ(titles, "Summary|Memory|Input files|");
  EXPECT_EQ(render_markdown(build_profile_report(fakes::words(), run)).find("timeline"), std::string::npos);
  EXPECT_EQ(memory_chart(fakes::words(), run)->option["series"].size(), 4U);
  for (const auto& [name, content] : profile_csv(fakes::words(), run)) {
    if (name != "memory.csv") continue;
    EXPECT_EQ(content,
              "time_ns,device,allocated_bytes,reserved_bytes\n0,0,5,10\n2000000,0,1073741824,3221225472\n"
              "0,1,5,10\n2000000,1,1073741824,3221225472\n");
  }
}

}  // namespace
}  // namespace ridgeline::report
