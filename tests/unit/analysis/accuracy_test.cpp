// SPDX-License-Identifier: Apache-2.0
#include "analysis/accuracy.hpp"
#include "fakes/words.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace ridgeline::analysis {
namespace {

class AccuracyTest : public ::testing::Test {
 protected:
  AccuracyTest() {
    run_.accuracy_tolerance = 1e-3;
    run_.provider = schema::torch_providers().back().id;
    outcome_.measurement.emplace();
    outcome_.output_error.emplace();
    error().scaled_max_abs = 3.1e-3;
    error().worst_output = "y";
  }
  schema::OutputError& error() { return *outcome_.output_error; }
  schema::AccuracyGate& gate() {
    if (!run_.accuracy_gate) run_.accuracy_gate.emplace();
    return *run_.accuracy_gate;
  }
  std::string fault() const { return fakes::text_of(accuracy_fault(run_, outcome_).value_or(schema::Message())); }
  std::string note() const { return fakes::text_of(tf32_note(run_, outcome_).value_or(schema::Message())); }
  void ran_with(const std::string& key, const std::string& value) {
    outcome_.measurement->effective_settings = {{key, value}};
  }

  schema::TuneRun run_;
  schema::TrialOutcome outcome_;
};

TEST_F(AccuracyTest, without_a_gate_the_tolerance_decides) {
  EXPECT_EQ(fault(), "out of tolerance: scaled error 0.0031 in output \"y\", allowed 0.001");
  EXPECT_EQ(note(), "");
  run_.accuracy_tolerance = 0;
  EXPECT_EQ(fault(), "") << "outputs are not judged";
  run_.accuracy_tolerance = 1e-3;
  outcome_.output_error.reset();
  EXPECT_EQ(fault(), "");
}

TEST_F(AccuracyTest, outputs_that_change_from_call_to_call_are_judged_by_their_distribution) {
  error().scaled_max_abs = 0;
  auto& spread = error().spread.emplace();
  spread = {7, 0.5, 16, "y", schema::OutputStatistic::mean, 0.9, 0.1};
  EXPECT_EQ(fault(), "") << "chance gives 7.9 standard errors once in a million";
  spread.distance = 31;
  EXPECT_EQ(
      fault(),
      "output \"y\" has a different distribution: mean 0.9 over 16 calls, 0.1 in the reference, 31 standard errors "
      "apart, at most 7.9 accepted");
  spread.calls = 8;
  spread.distance = 13;
  EXPECT_EQ(fault(), "") << "fewer calls say less";
  spread.distance = 1e9;
  spread.relative = 9e-4;
  EXPECT_EQ(fault(), "") << "rounding";
  error().scaled_max_abs = 0.1;
  EXPECT_EQ(fault(), "out of tolerance: scaled error 0.1 in output \"y\", allowed 0.001") << "of another output";
  error().scaled_max_abs = 0;
  spread.relative = 0.02;
  gate().least_cosine = 0.999;
  error().cosine = 1;
  EXPECT_EQ(fault(), "") << "half precision rounds more";
  spread.relative = 0.2;
  EXPECT_NE(fault(), "");
}

TEST_F(AccuracyTest, tf32_may_differ_by_more_and_is_told) {
  gate().tf32_tolerance = 1e-2;
  EXPECT_EQ(fault(), "") << "cuDNN's default is TF32";
  EXPECT_EQ(note(), "TF32: differs by 3.1e-03 from FP32");
  ran_with("allow_tf32", "true");
  EXPECT_EQ(note(), "TF32: differs by 3.1e-03 from FP32");
  error().scaled_max_abs = 9e-4;
  EXPECT_EQ(note(), "") << "no more than rounding";
  error().scaled_max_abs = 1.1e-2;
  EXPECT_EQ(fault(), "out of tolerance: scaled error 0.011 in output \"y\", allowed 0.01");
  EXPECT_EQ(note(), "");
}

TEST_F(AccuracyTest, the_tolerance_of_tf32_is_for_trials_that_may_have_used_it) {
  gate().tf32_tolerance = 1e-2;
  for (const auto& [key, value] : {std::pair{"allow_tf32", "false"}, {"use_tf32", "0"}, {"use_tf32", "false"}}) {
    ran_with(key, value);
    EXPECT_NE(fault(), "") << key;
    EXPECT_EQ(note(), "") << key;
  }
  ran_with("grad_mode", "no_grad");
  EXPECT_EQ(fault(), "");
  run_.provider = schema::torch_providers().front().id;
  EXPECT_NE(fault(), "") << "CPUs have no TF32";
}

TEST_F(AccuracyTest, a_cosine_replaces_the_tolerance_but_not_the_look_at_shapes_and_finite_values) {
  gate().least_cosine = 0.999;
  gate().tf32_tolerance = 0;
  error().scaled_max_abs = 0.2;
  error().cosine = 0.9991;
  EXPECT_EQ(fault(), "");
  error().cosine = 0.99897;
  EXPECT_EQ(fault(), "cosine similarity to FP32 is 0.99897, minimum 0.999");
  error().cosine = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(fault(), "");
  error().cosine = 1;
  error().nan_mismatches = 2;
  EXPECT_NE(fault().find("NaN or infinite"), std::string::npos);
  error().nan_mismatches = 0;
  error().shape_mismatch = true;
  EXPECT_NE(fault().find("shape"), std::string::npos);
}

TEST_F(AccuracyTest, the_users_metric_replaces_both) {
  gate().least_cosine = 0.999;
  gate().reference_metric = 0.75;
  gate().metric_loss = 0.01;
  error().cosine = 0.5;
  error().metric = 0.7426;
  EXPECT_EQ(fault(), "");
  error().metric = 0.71;
  EXPECT_EQ(fault(), "metric 0.71, reference 0.75, maximum accepted loss 1 %");
  error().metric = 0.9;
  EXPECT_EQ(fault(), "") << "higher is better";
  error().metric.reset();
  error().metric_not_finite = true;
  EXPECT_EQ(fault(), "metric is not a finite number: reference 0.75, maximum accepted loss 1 %");
  EXPECT_EQ(note(), "");
}

TEST_F(AccuracyTest, of_a_negative_metric_the_share_is_of_its_magnitude) {
  gate().reference_metric = -2;
  gate().metric_loss = 0.1;
  error().metric = -2.19;
  EXPECT_EQ(fault(), "");
  error().metric = -2.21;
  EXPECT_EQ(fault(), "metric -2.21, reference -2, maximum accepted loss 10 %");
}

}  // namespace
}  // namespace ridgeline::analysis
