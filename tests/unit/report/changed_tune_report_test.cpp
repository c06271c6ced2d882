// SPDX-License-Identifier: Apache-2.0
// What a report of `tune` says of other runs than the fixture's.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "fakes/tune_run_fixture.hpp"
#include "fakes/words.hpp"
#include "report/json_report.hpp"
#include "report/renderers.hpp"
#include "report/tune_report.hpp"

namespace ridgeline::report {
namespace {

/// The fixture's report after a change of its records.
std::string changed_report(void (*change)(fakes::TuneRecords&)) {
  auto records = fakes::TuneRunFixture::make();
  change(records);
  return render_markdown(build_tune_report(fakes::words(), records.run, records.outcomes, records.pairs));
}

TEST(ChangedTuneReport, says_which_trials_what_each_setting_contributes_was_measured_on) {
  const auto page = changed_report([](auto& records) {
    // The recommendation is not always the finalist of which settings were left out.
    records.run.verdict->configuration = records.run.trials.at(8).configuration;
    records.run.verdict->trial_id = 9;
  });
  EXPECT_NE(page.find("Each setting of the best finalist, trial [10](#trial-10), was put back"), std::string::npos);
  EXPECT_NE(page.find("| [10](#trial-10) | `intra_op_num_threads=4` | `8` |"), std::string::npos);
  EXPECT_NE(page.find("*What each setting of the best finalist (trial 10) contributes, with 95 % intervals*"),
            std::string::npos);
  const auto records = fakes::TuneRunFixture::make();
  const auto comparisons = tune_json(fakes::words(), records.run, records.outcomes, records.pairs).at("comparisons");
  EXPECT_EQ(comparisons.at(0).at("a_trial_id"), 1);
  EXPECT_EQ(comparisons.at(0).at("b_trial_id"), 10);
  EXPECT_EQ(comparisons.at(2).at("a_trial_id"), 10);
  EXPECT_TRUE(comparisons.at(2).at("b_trial_id").is_null()) << "never a trial of its own";
  EXPECT_EQ(comparisons.at(4).at("b_trial_id"), 9);
}

TEST(ChangedTuneReport, tells_trials_that_were_stopped_early_from_those_that_ran_to_the_end) {
  const auto page = changed_report([](auto&) {});
  EXPECT_NE(page.find("5 failed or rejected, 2 stopped early, 1 cached"), std::string::npos);
  EXPECT_NE(page.find("15 trials ran to the end with acceptable outputs; 2 more were stopped early"),
            std::string::npos);
  const auto without_failures = [](auto& records) {
    auto& trials = records.run.trials;
    trials.erase(std::remove_if(trials.begin(), trials.end(),
                                [&](const auto& trial) {
                                  return records.outcomes.at(trial.key).status != schema::TrialStatus::ok;
                                }),
                 trials.end());
  };
  const auto ok = changed_report(without_failures);
  EXPECT_NE(ok.find("| 2 stopped early, 1 cached |"), std::string::npos);
  EXPECT_NE(ok.find("None: no trial failed or was rejected."), std::string::npos);
  EXPECT_EQ(ok.find("very trial ran to the end"), std::string::npos);
  EXPECT_EQ(ok.find("all ran to the end"), std::string::npos);
  const auto unfinished = changed_report([](auto& records) {
    records.run.trials.resize(2);
    records.outcomes.erase(records.run.trials.back().key);
  });
  EXPECT_NE(unfinished.find("1 not finished"), std::string::npos);
  EXPECT_EQ(unfinished.find("very trial ran to the end"), std::string::npos);
  const auto all = changed_report([](auto& records) { records.run.trials.resize(4); });
  EXPECT_NE(all.find("| all ran to the end, 1 cached |"), std::string::npos);
  EXPECT_NE(all.find("None: every trial ran to the end with acceptable outputs."), std::string::npos);
}

TEST(ChangedTuneReport, says_when_nothing_but_the_current_configuration_was_tried) {
  const auto page = changed_report([](auto& records) {
    records.run.trials.resize(1);
    records.run.pairs.clear();
    records.run.verdict = schema::TuneVerdict{};
    records.run.verdict->decision = schema::Decision::keep;
    records.run.verdict->trial_id = 1;
    records.run.verdict->reason = fakes::legacy("nothing beat it; no other configuration came close");
  });
  EXPECT_NE(page.find("> No configuration other than the current one was tried."), std::string::npos);
  EXPECT_EQ(page.find("came close"), std::string::npos);
}

TEST(ChangedTuneReport, recommends_nothing_without_a_verdict) {
  const auto page = changed_report([](auto& records) {
    records.run.interrupted = true;
    records.run.verdict = schema::TuneVerdict{};
    records.run.verdict->trial_id = 1;  // the best so far
    records.run.verdict->configuration = records.run.current;
    records.run.verdict->reason = fakes::legacy("interrupted before the finalists were compared");
  });
  EXPECT_NE(page.find("**No verdict**"), std::string::npos);
  EXPECT_NE(page.find("(**in use now**)"), std::string::npos);
  EXPECT_EQ(page.find("**recommended**"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::report
