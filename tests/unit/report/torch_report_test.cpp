// SPDX-License-Identifier: Apache-2.0
// What the report of a PyTorch model has that others do not.
#include <gtest/gtest.h>

#include "fakes/tune_run_fixture.hpp"
#include "fakes/words.hpp"
#include "report/json_report.hpp"
#include "report/renderers.hpp"
#include "report/tune_report.hpp"

namespace ridgeline::report {
namespace {

class TorchReport : public ::testing::Test {
 protected:
  /// The recommended trial of the fixed run, as if it had been compiled.
  TorchReport() {
    auto& verdict = *records_.run.verdict;
    for (const auto& trial : records_.run.trials)
      if (trial.id == verdict.trial_id) winner_ = &*records_.outcomes.at(trial.key).measurement;
    for (auto& trial : records_.run.trials)
      if (trial.id == verdict.trial_id) trial.configuration.set("torch_compile", "default");
    verdict.configuration.set("torch_compile", "default");
    winner_->metrics["compile_s"] = 41;
    winner_->flags.push_back(
        {schema::FlagLevel::info, std::string(schema::kRanAs), fakes::legacy("3 compiled frames")});
    winner_->flags.push_back(
        {schema::FlagLevel::notice, "graph_breaks", fakes::legacy("2 graph breaks: call of print")});
    schema::LoadingCode code;
    code.python = "import torch\n\nmodel = torch.compile(model)\n";
    code.python_run = schema::CodeRun{"/x/python3", std::nullopt, {}};
    verdict.code = code;
  }
  std::string markdown() {
    return render_markdown(build_tune_report(fakes::words(), records_.run, records_.outcomes, records_.pairs));
  }
  base::Json json() { return tune_json(fakes::words(), records_.run, records_.outcomes, records_.pairs); }

  fakes::TuneRecords records_ = fakes::TuneRunFixture::make();
  schema::Measurement* winner_ = nullptr;
};

TEST_F(TorchReport, says_after_how_many_calls_compiling_has_paid_for_itself) {
  winner_->flags.push_back({schema::FlagLevel::info, std::string(schema::kColdCompile), fakes::legacy("")});
  const auto text = markdown();
  EXPECT_NE(text.find("Compiling takes 41.0 s, which pays for itself after "), std::string::npos)
      << text.substr(0, 900);
  const auto verdict = json()["verdict"];
  EXPECT_EQ(verdict["compile_s"], 41);
  EXPECT_EQ(verdict["compile_from_warm_cache"], false);
  EXPECT_GT(verdict["pays_after_calls"].get<double>(), 100);
}

TEST_F(TorchReport, says_where_the_time_is_of_a_warm_cache) {
  EXPECT_NE(markdown().find("Compiling took 41.0 s with a warm cache; the first time on a machine takes longer"),
            std::string::npos);
  EXPECT_EQ(json()["verdict"]["compile_from_warm_cache"], true);
}

TEST_F(TorchReport, shows_as_what_each_trial_ran) {
  const auto text = markdown();
  EXPECT_NE(text.find("3 compiled frames, 2 graph breaks: call of print"), std::string::npos);
  EXPECT_NE(text.find("ran in several graphs with Python between them"), std::string::npos);
  EXPECT_NE(text.find("| Compile |"), std::string::npos);
}

TEST_F(TorchReport, has_the_code_and_what_it_took_beside_its_trial) {
  const auto id = records_.run.verdict->trial_id;
  double own_ns = 0;
  const auto whole = json();
  for (const auto& row : whole["ranking"])
    if (row["trial_id"] == id) own_ns = row["median_ns"];
  auto& run = *records_.run.verdict->code->python_run;
  run.median_s = own_ns * 1.05e-9;
  auto text = markdown();
  EXPECT_NE(text.find("The code, around the line that makes your model:"), std::string::npos);
  EXPECT_NE(text.find("model = torch.compile(model)"), std::string::npos);
  EXPECT_NE(text.find("That is what their trial took."), std::string::npos);
  EXPECT_EQ(text.find("```cpp"), std::string::npos);
  run.median_s = own_ns * 1.5e-9;
  text = markdown();
  EXPECT_NE(text.find("these lines are 50 % slower"), std::string::npos);
  run.median_s.reset();
  run.problem = fakes::legacy("it hung");
  EXPECT_NE(markdown().find("The Python lines failed with /x/python3: it hung."), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::report
