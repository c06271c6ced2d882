// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "fakes/gpu_run_fixture.hpp"
#include "fakes/words.hpp"
#include "report/format.hpp"
#include "report/json_report.hpp"
#include "report/renderers.hpp"
#include "report/tune_report.hpp"
#include "unit/report/golden.hpp"

namespace ridgeline::report {
namespace {

const fakes::TuneRecords& gpu_records() {
  static const auto records = fakes::GpuRunFixture::make();
  return records;
}

/// Built once: ranking resamples, which takes its time in a debug build.
const ReportModel& gpu_report() {
  static const auto report =
      build_tune_report(fakes::words(), gpu_records().run, gpu_records().outcomes, gpu_records().pairs);
  return report;
}

const Section* section_of(const ReportModel& report, const std::string& id) {
  const auto at =
      std::find_if(report.sections.begin(), report.sections.end(), [&](const auto& one) { return one.id == id; });
  return at == report.sections.end() ? nullptr : &*at;
}

const Table* table_of(const ReportModel& report, const std::string& id, const std::string& caption) {
  const auto* section = section_of(report, id);
  if (section == nullptr) return nullptr;
  for (const auto& block : section->blocks)
    if (const auto* table = std::get_if<Table>(&block); table != nullptr && table->caption == caption) return table;
  return nullptr;
}

const Chart* chart_of(const ReportModel& report, const std::string& id) {
  for (const auto& section : report.sections)
    for (const auto& block : section.blocks)
      if (const auto* chart = std::get_if<Chart>(&block); chart != nullptr && chart->id == id) return chart;
  return nullptr;
}

TEST(GpuReport, renders_the_fixed_run_as_markdown) { expect_golden("gpu_tune.md", render_markdown(gpu_report())); }

TEST(GpuReport, gives_the_fixed_run_as_json) {
  const auto& records = gpu_records();
  expect_golden("gpu_tune.json",
                tune_json(fakes::words(), records.run, records.outcomes, records.pairs).dump(1) + "\n");
}

TEST(GpuReport, gives_the_fixed_run_as_csv) {}

TEST(GpuReport, says_of_which_scenario_its_numbers_are) {
  EXPECT_NE(render_markdown(gpu_report()).find("every copy is timed (--io host)"), std::string::npos);
  EXPECT_NE(gpu_report().subtitle.find("NVIDIA H200 · --io host"), std::string::npos) << gpu_report().subtitle;
  auto records = gpu_records();
  records.run.tensor_location = "device";
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  EXPECT_NE(render_markdown(report).find("no copy is timed (--io device)"), std::string::npos);
  EXPECT_EQ(tune_json(fakes::words(), records.run, records.outcomes, records.pairs).at("run").at("tensor_location"),
            "device");
}

TEST(GpuReport, has_no_column_for_what_no_setting_was_measured_by) {
  const auto* measured = table_of(gpu_report(), "verdict", "Settings that change");
  ASSERT_NE(measured, nullptr);
  EXPECT_EQ(measured->columns.size(), 4U);
  auto run = gpu_records().run;
  std::erase_if(run.pairs, [](const auto& pair) { return pair.purpose == schema::PairPurpose::leave_one_out; });
  const auto report = build_tune_report(fakes::words(), run, gpu_records().outcomes, gpu_records().pairs);
  const auto* table = table_of(report, "verdict", "Settings that change");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->columns.size(), 3U);
  for (const auto& row : table->rows) EXPECT_EQ(row.cells.size(), 3U);
  EXPECT_EQ(render_markdown(report).find("A dash: not measured"), std::string::npos);
}

TEST(GpuReport, shows_a_default_that_is_an_empty_text) {
  auto run = gpu_records().run;
  run.verdict->configuration.set("disable_specified_optimizers", "MatMulAddFusion");
  const auto report = build_tune_report(fakes::words(), run, gpu_records().outcomes, gpu_records().pairs);
  const auto* table = table_of(report, "verdict", "Settings that change");
  ASSERT_NE(table, nullptr);
  const auto row = std::find_if(table->rows.begin(), table->rows.end(), [](const auto& candidate) {
    return candidate.cells.front().find("disable_specified_optimizers") != std::string::npos;
  });
  ASSERT_NE(row, table->rows.end());
  EXPECT_EQ(row->cells.at(1), "`\"\"` (default)");
  EXPECT_EQ(row->cells.at(2), "`MatMulAddFusion`");
}

TEST(GpuReport, tells_memory_energy_and_drift_of_every_trial) {
  const auto* table = table_of(gpu_report(), "trials", "Every trial, in the order they ran");
  ASSERT_NE(table, nullptr);
  const std::vector<std::string> wanted{"GPU peak, GB", "Weights, GB", "Arena, GB", "Energy, mJ/item", "Output error"};
  const auto first =
      std::find_if(table->columns.begin(), table->columns.end(), [&](const auto& c) { return c.title == wanted[0]; });
  ASSERT_NE(first, table->columns.end());
  const auto at = static_cast<std::size_t>(first - table->columns.begin());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(table->columns.at(at + i).title, wanted[i]);
  for (const auto& row : table->rows) EXPECT_EQ(row.cells.size(), table->columns.size());
  EXPECT_EQ(table->rows.at(0).cells.at(at), "1.310");
  EXPECT_EQ(table->rows.at(0).cells.at(at + 1), "0.102");
  EXPECT_EQ(table->rows.at(3).cells.at(at + 4), "3.1e-06");
  EXPECT_EQ(table->rows.at(5).cells.at(at), kAbsent) << "a failed trial";
}

TEST(GpuReport, answers_what_load_serves_which_purpose) {
  const auto* answers = table_of(gpu_report(), "load", "Which load for which purpose");
  ASSERT_NE(answers, nullptr);
  ASSERT_EQ(answers->rows.size(), 4U);
  EXPECT_EQ(answers->rows[0].cells[1], "[17](#trial-17)") << "highest throughput";
  EXPECT_EQ(answers->rows[1].cells[1], "[7](#trial-7)") << "lowest latency";
  EXPECT_EQ(answers->rows[2].cells[0], "Best throughput under the latency limit");
  EXPECT_EQ(answers->rows[3].cells[0], "Best throughput per GB");
  const auto json = tune_json(fakes::words(), gpu_records().run, gpu_records().outcomes, gpu_records().pairs);
  EXPECT_EQ(json.at("load").at("lowest_latency"), 7);
}

TEST(GpuReport, lists_an_answer_over_the_latency_limit_beside_the_best_within_it) {
  auto records = gpu_records();
  const auto key = [&](int id) { return records.run.trials.at(static_cast<std::size_t>(id - 1)).key; };
  // As fast and of the same load as trial 12, and over the limit of 15 ms.
  for (double& latency : records.outcomes.at(key(17)).measurement->latency_ns) latency *= 1.2;
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto* answers = table_of(report, "load", "Which load for which purpose");
  ASSERT_NE(answers, nullptr);
  EXPECT_EQ(answers->rows[0].cells[0], "Highest throughput, not within the latency limit");
  EXPECT_EQ(answers->rows[0].cells[1], "[17](#trial-17)");
  EXPECT_EQ(answers->rows[2].cells[1], "[12](#trial-12)");
  const auto* loads = table_of(report, "load", "Every load, with its best trial");
  ASSERT_NE(loads, nullptr);
  ASSERT_GE(loads->rows.size(), 2U);
  const auto& best = loads->rows[loads->rows.size() - 2].cells;
  const auto& fastest = loads->rows.back().cells;
  EXPECT_EQ(best[2], "[12](#trial-12)");
  EXPECT_EQ(best.back(), "on the Pareto front");
  EXPECT_EQ(fastest[2], "[17](#trial-17)");
  EXPECT_EQ(fastest.back().rfind("listed for \"Highest throughput\"; constraint: latency_median_ms", 0), 0U)
      << fastest.back();
  const auto points = tune_json(fakes::words(), records.run, records.outcomes, records.pairs).at("load").at("points");
  EXPECT_EQ(points.back().at("trial_id"), 17);
  EXPECT_EQ(points.back().at("best_of_load"), false);
}

TEST(GpuReport, shows_the_batch_that_ran_out_of_memory) {
  const auto* loads = table_of(gpu_report(), "load", "Every load, with its best trial");
  ASSERT_NE(loads, nullptr);
  const auto failed =
      std::find_if(loads->rows.begin(), loads->rows.end(), [](const auto& row) { return row.tone == Tone::bad; });
  ASSERT_NE(failed, loads->rows.end());
  EXPECT_EQ(failed->cells[1], "1024");
  EXPECT_EQ(failed->cells.back(), "out of memory, 3.06 GiB requested");
}

TEST(GpuReport, shows_what_was_free_where_memory_ran_out) {
  auto records = gpu_records();
  for (auto& [key, outcome] : records.outcomes) {
    if (outcome.status != schema::TrialStatus::out_of_memory) continue;
    auto& gpu = outcome.failure->gpu.emplace();
    gpu.samples.resize(3);
    gpu.memory_free_before_bytes = std::int64_t{10} << 30;
    gpu.neighbours_before = {{4711, std::int64_t{128} << 30}};
  }
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto* failures = table_of(report, "failures", "Trials that failed or were rejected");
  ASSERT_NE(failures, nullptr);
  EXPECT_EQ(failures->rows.back().cells.at(4),
            "GPU memory ran out; 3.06 GiB requested; 10.0 GiB were free before; process 4711 used 128 GiB");
  const auto json = tune_json(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto& failure = json.at("trials").at(14).at("failure");
  EXPECT_EQ(failure.at("gpu").at("neighbours_before").at(0).at("pid"), 4711);
  EXPECT_FALSE(failure.at("gpu").contains("samples"));
}

TEST(GpuReport, draws_the_time_line_of_the_card_without_answers_from_the_store) {
  const auto* chart = chart_of(gpu_report(), "gpu-timeline");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->option.at("panels"), 3);
  EXPECT_EQ(chart->option.at("series").size(), 4U) << "three lines and the marks of held clocks";
  EXPECT_NE(chart->alternative.find("clocks were throttled at"), std::string::npos) << chart->alternative;
  auto records = gpu_records();
  for (auto& trial : records.run.trials) trial.cached = true;
  EXPECT_EQ(chart_of(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs), "gpu-timeline"),
            nullptr);
}

TEST(GpuReport, draws_a_line_for_each_gpu_of_a_run) {
  auto records = gpu_records();
  auto& gpus = records.run.environment.gpus;
  gpus.push_back(schema::GpuDescription(gpus.front()));
  gpus.back().index = 1;
  gpus.back().uuid = "GPU-second";
  for (auto& [key, outcome] : records.outcomes)
    if (outcome.measurement && outcome.measurement->gpu && !outcome.measurement->gpu->clock_reasons.empty())
      outcome.measurement->gpu->uuid = "GPU-second";
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto* chart = chart_of(report, "gpu-timeline");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->title, "The GPUs over the same time");
  const auto& series = chart->option.at("series");
  ASSERT_EQ(series.size(), 7U) << "two lines a panel and the marks of held clocks";
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(series.at(i).at("name"), i % 2 == 0 ? "GPU 0" : "GPU 1");
    EXPECT_EQ(series.at(i).at("role"), series.at(i % 2).at("role"));
    EXPECT_EQ(series.at(i).at("yAxisIndex"), i / 2);
  }
  EXPECT_NE(series.at(0).at("role"), series.at(1).at("role"));
  for (const auto& point : series.at(0).at("data")) {
    if (point.at(1).is_null()) continue;
    EXPECT_EQ(point.at(1), 1980) << "a swing of the other GPU's clock";
  }
  for (const auto& mark : series.at(6).at("data"))
    EXPECT_EQ(mark.at("tip").at(0).get<std::string>().rfind("Clocks of GPU 1 throttled during trial ", 0), 0U);
  EXPECT_NE(chart->alternative.find("GPU 0: SM clock between 1980 and 1980 MHz"), std::string::npos);
  EXPECT_NE(chart->alternative.find("clocks were never throttled. GPU 1: SM clock between 16"), std::string::npos)
      << chart->alternative;

  gpus.clear();
  const auto unknown = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  ASSERT_NE(chart_of(unknown, "gpu-timeline"), nullptr);
  EXPECT_EQ(chart_of(unknown, "gpu-timeline")->option.at("series").at(1).at("name"), "GPU-second");
}

TEST(GpuReport, names_what_limits_the_current_and_the_recommended_configuration) {
  const auto* limits = table_of(gpu_report(), "gpu", "Where the time of one inference goes");
  ASSERT_NE(limits, nullptr);
  ASSERT_EQ(limits->rows.size(), 2U);
  EXPECT_EQ(limits->rows[0].cells[1], "launch-bound");
  EXPECT_EQ(limits->rows[1].cells[1], "slow kernels") << "arithmetic is 18 % and busy 99 % of the time";
  for (const auto& row : limits->rows)
    for (const auto& cell : row.cells) EXPECT_EQ(cell.find("up to"), std::string::npos) << cell;
}

TEST(GpuReport, says_up_to_of_what_is_counted_over_the_nodes_of_the_file) {
  auto records = gpu_records();
  records.run.runtime_graphs.clear();
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  const auto* limits = table_of(report, "gpu", "Where the time of one inference goes");
  ASSERT_NE(limits, nullptr);
  ASSERT_EQ(limits->columns.at(5).title, "Memory");
  ASSERT_EQ(limits->columns.at(7).title, "Launches");
  const auto& cells = limits->rows.at(0).cells;
  EXPECT_EQ(cells.at(4).find("up to"), std::string::npos) << cells.at(4);
  EXPECT_EQ(cells.at(5).rfind("up to ", 0), 0U) << cells.at(5);
  EXPECT_EQ(cells.at(7).rfind("up to ", 0), 0U) << cells.at(7);
}

TEST(GpuReport, stands_without_telemetry_ceilings_load_or_description) {
  auto records = gpu_records();
  records.run.gpu_ceilings.reset();
  records.run.environment.gpus.clear();
  records.run.runtime.provider_libraries.clear();
  for (auto& [key, outcome] : records.outcomes)
    if (outcome.measurement) {
      outcome.measurement->gpu.reset();
      outcome.measurement->metrics.clear();
    }
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  EXPECT_EQ(chart_of(report, "gpu-timeline"), nullptr);
  EXPECT_EQ(chart_of(report, "load-memory"), nullptr);
  EXPECT_NE(render_markdown(report).find("not measured"), std::string::npos);
  schema::TuneRun empty;
  empty.provider = "cuda";
  EXPECT_NE(section_of(build_tune_report(fakes::words(), empty, {}, {}), "gpu"), nullptr);
}

TEST(GpuReport, leaves_the_report_of_a_cpu_without_a_word_of_it) {
  const auto records = fakes::TuneRunFixture::make();
  const auto report = build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs);
  EXPECT_EQ(section_of(report, "gpu"), nullptr);
  EXPECT_EQ(section_of(report, "load"), nullptr);
  EXPECT_FALSE(tune_json(fakes::words(), records.run, records.outcomes, records.pairs).contains("load"));
}

}  // namespace
}  // namespace ridgeline::report
