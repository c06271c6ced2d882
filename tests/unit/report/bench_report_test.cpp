// SPDX-License-Identifier: Apache-2.0
#include "report/bench_report.hpp"
#include "fakes/words.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "report/renderers.hpp"

namespace ridgeline::report {
namespace {

TEST(BenchReport, counts_combinations_not_their_repeats) {
  schema::BenchRun run;
  run.request.search = "grid";
  run.request.space = {{16, 32}, {0}, {schema::AmpMode::off}, {false}};
  for (const std::int64_t batch : {16, 32, 32}) {
    auto& trial = run.trials.emplace_back();
    trial.id = static_cast<int>(run.trials.size());
    trial.settings.batch = batch;
  }
  run.trials.emplace_back().data = schema::DataMode::device;
  const auto markdown = render_markdown(build_bench_report(fakes::words(), run));
  EXPECT_NE(markdown.find("| Search | grid, 4 trials; 2 of 2 combinations trained in full |"), std::string::npos)
      << markdown;
}

TEST(BenchReport, says_where_a_rate_is_too_uncertain_to_rely_on) {
  schema::BenchRun run;
  run.answers.emplace();
  auto& fastest = run.answers->fastest.emplace();
  fastest.samples_per_s = 25938;
  fastest.low = 10875;
  fastest.high = 41001;
  EXPECT_NE(
      render_markdown(build_bench_report(fakes::words(), run)).find("(10875–41001), too few measurements to rely on"),
      std::string::npos);
  fastest.low = 25000;
  fastest.high = 26800;
  const auto markdown = render_markdown(build_bench_report(fakes::words(), run));
  EXPECT_NE(markdown.find("(25000–26800)"), std::string::npos) << markdown;
  EXPECT_EQ(markdown.find("too few measurements"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::report
