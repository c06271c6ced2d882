// SPDX-License-Identifier: Apache-2.0
#include "report/busy_share.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "report/bench_report.hpp"
#include "report/renderers.hpp"

namespace ridgeline::report {
namespace {

using schema::FlagLevel;

schema::BenchTrial trial(std::optional<double> busy, std::optional<double> util,
                         std::vector<schema::QualityFlag> flags) {
  schema::BenchTrial out;
  schema::TrainingMeasurement measured;
  measured.samples_per_s = {1000, 990, 1010};
  measured.resources.gpu_busy = busy;
  measured.resources.gpu_util = util;
  measured.flags = std::move(flags);
  out.outcome.measurement = std::move(measured);
  return out;
}

const schema::QualityFlag kByGpm{FlagLevel::info, "gpu_busy_gpm", fakes::legacy("by GPM")};
const schema::QualityFlag kByNvml{FlagLevel::info, "gpu_busy_nvml", fakes::legacy("only NVML's (no GPM here)")};

bool has(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

TEST(BusyShare, both_numbers_stand_side_by_side) {
  schema::BenchRun run;
  run.trials = {trial(0.41, 0.97, {kByGpm}), trial(0.61, 0.99, {kByGpm})};
  EXPECT_TRUE(shows_nvml_beside(run));
  EXPECT_EQ(nvml_cell(run.trials[0]), "97");
  const auto line = fakes::text_of(busy_of(run));
  EXPECT_TRUE(has(line, "by GPM in 2 trials")) << line;
  EXPECT_TRUE(has(line, "+47.0 points")) << line;
  const auto markdown = render_markdown(build_bench_report(fakes::words(), run));
  EXPECT_TRUE(has(markdown, "NVML%")) << markdown;
  EXPECT_TRUE(has(markdown, "| 41 | 97 |")) << markdown;
}

TEST(BusyShare, nvml_s_number_alone_says_why) {
  schema::BenchRun run;
  run.trials = {trial(std::nullopt, 0.97, {kByNvml})};
  EXPECT_FALSE(shows_nvml_beside(run));
  EXPECT_EQ(fakes::text_of(busy_of(run)), "in 1 trial: only NVML's (no GPM here)");
  const auto markdown = render_markdown(build_bench_report(fakes::words(), run));
  EXPECT_FALSE(has(markdown, "NVML%")) << markdown;
  EXPECT_TRUE(has(markdown, "| 97 |")) << markdown;
}

TEST(BusyShare, without_a_gpu_nothing_is_said) {
  schema::BenchRun run;
  run.trials = {trial(std::nullopt, std::nullopt, {})};
  EXPECT_TRUE(busy_of(run).empty());
  EXPECT_FALSE(shows_nvml_beside(run));
  EXPECT_EQ(nvml_cell(run.trials[0]), "–");
}

}  // namespace
}  // namespace ridgeline::report
