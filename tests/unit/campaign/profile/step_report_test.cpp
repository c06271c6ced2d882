// SPDX-License-Identifier: Apache-2.0
#include "campaign/profile/step_report.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "campaign/profile/verifiable_change.hpp"
#include "fakes/temporary_folder.hpp"

namespace ridgeline::campaign {
namespace {

StepReport report_of(std::vector<std::int64_t> block_ns, std::int64_t warm_up) {
  StepReport out;
  for (const auto ns : block_ns) out.blocks.push_back({2, ns});
  out.warm_up = warm_up;
  return out;
}

TEST(StepReport, median_of_the_blocks_behind_the_warm_up) {
  EXPECT_EQ(report_of({900, 20, 24, 22}, 1).median_ns(), 11);
  EXPECT_FALSE(report_of({900, 20, 24}, 1).median_ns());
  EXPECT_FALSE(report_of({}, 0).median_ns());
}

TEST(StepReport, why_a_change_took_no_effect) {
  StepReport report;
  EXPECT_EQ(report.ineffective().arguments().at("why"), "unknown");
  report.change = ChangeReport{"compile", 1, "", ""};
  EXPECT_TRUE(report.ineffective().empty());
  report.change = ChangeReport{"compile", 0, "already", ""};
  EXPECT_EQ(report.ineffective().arguments().at("why"), "already");
  report.change = ChangeReport{"compile", 0, "refused", "no kernel"};
  EXPECT_EQ(report.ineffective().arguments().at("detail"), "no kernel");
  report.change = ChangeReport{"compile", 0, "of a newer version", ""};
  EXPECT_EQ(report.ineffective().arguments().at("why"), "unknown");
}

TEST(StepReport, outputs_are_equal_only_if_the_present_repeats_them) {
  StepReport present;
  present.outputs = StepOutputs{{"0 float [2]"}, {1.0, std::nullopt}};
  auto changed = present;
  const auto first = [](const StepReport& a, const StepReport& b, const StepReport& c) {
    return compare_results(a, b, c).front().code();
  };
  EXPECT_EQ(first(present, present, changed), "campaign.verify_outputs_equal");
  changed.outputs->values[0] = 1.5;
  EXPECT_EQ(first(present, present, changed), "campaign.verify_outputs_differ");
  EXPECT_EQ(first(present, changed, changed), "campaign.verify_outputs_random");
  changed.outputs->tensors[0] = "0 half [2]";
  EXPECT_EQ(first(present, present, changed), "campaign.verify_outputs_unlike");
  present.losses = {{"1", 5}, {"2", 4}, {"16", 2}};
  changed.losses = {{"1", 5}, {"2", 3}};
  const auto results = compare_results(present, present, changed);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].arguments().at("pass"), 2);
}

TEST(StepReport, process_with_the_most_steps_counts) {
  const fakes::TemporaryFolder folder;
  EXPECT_FALSE(read_step_report(folder.path()));
  for (const auto* text : {R"({"steps": 5, "outputs": null, "change": null})", R"({"steps": 9})", "damaged"})
    ASSERT_TRUE(base::write_file_atomically(
        (folder.path() / ("steps-" + std::to_string(std::string(text).size()) + ".json")).string(), text));
  const auto report = read_step_report(folder.path());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->steps, 9);
}

TEST(VerifiableChange, by_rule_and_for_models_by_provider) {
  ASSERT_NE(program_change("fp32-gemm"), nullptr);
  EXPECT_EQ(program_change("fp32-gemm")->change, "tf32");
  EXPECT_EQ(program_change("sync"), nullptr);
  EXPECT_EQ(model_change("launch-bound", "cpu"), nullptr);
  ASSERT_NE(model_change("launch-bound", "cuda"), nullptr);
  EXPECT_EQ(model_change("launch-bound", "cuda")->setting(), "enable_cuda_graph=true");
  EXPECT_EQ(model_change("unfused-normalization", "cpu")->setting(), "graph_optimization_level=all");
}

}  // namespace
}  // namespace ridgeline::campaign
