// SPDX-License-Identifier: Apache-2.0
// Models that the runtime does not run with the inputs, or with the settings of the reference.
#include <algorithm>

#include <gtest/gtest.h>

#include "fakes/tune_campaign_fixture.hpp"
#include "fakes/words.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using schema::TrialStatus;

class RefusedInputsTest : public fakes::TuneCampaignFixture {
 protected:
  void SetUp() override {
    fakes::TuneCampaignFixture::SetUp();
    executor_.model.inputs = {{"x", "float", {1, -1}, {"", "samples"}}};
    executor_.model.shapes = {{{"x", {1, 128}}}};
    executor_.take_length = [](std::int64_t length, schema::ModelDescription& model) {
      model.shapes = {{{"x", {1, length}}}};
      model.shape_notes = {fakes::legacy(fmt::format("x is taken as 1x{}", length))};
    };
    executor_.reference_error = [this](const schema::TrialSpec& spec) -> std::optional<base::Error> {
      const auto length = spec.workload.shapes.at(0).at(0).dims.at(1);
      if (length >= least_) return std::nullopt;
      return base::Error{ErrorCode::refused_inputs, fmt::format("the runtime refuses the inputs (x 1x{})", length)};
    };
  }
  static bool has_note(const TuneResult& result, const std::string& text) {
    const auto& notes = result.run.notes;
    return std::any_of(notes.begin(), notes.end(), [&](const auto& note) { return fakes::text_of(note) == text; });
  }
  std::int64_t least_ = 500;  ///< length of x that the model takes
};

TEST_F(RefusedInputsTest, are_made_longer_until_the_runtime_takes_them) {
  const auto result = must_run();
  EXPECT_EQ(result.run.workload.shapes, (std::vector<schema::ShapeSet>{{{"x", {1, 512}}}}));
  EXPECT_EQ(result.run.model.shapes, result.run.workload.shapes);
  EXPECT_TRUE(has_note(result, "x is taken as 1x512"));
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
}

TEST_F(RefusedInputsTest, end_the_run_with_the_first_refusal_when_no_length_fits) {
  least_ = 1 << 20;
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::refused_inputs);
  EXPECT_EQ(result.error().message, "the runtime refuses the inputs (x 1x128)");
}

TEST_F(RefusedInputsTest, of_fixed_shapes_are_not_tried_again) {
  executor_.take_length = [](std::int64_t, auto&) {};
  int asked = 0;
  const auto refuse = executor_.reference_error;
  executor_.reference_error = [&](const schema::TrialSpec& spec) {
    ++asked;
    return refuse(spec);
  };
  ASSERT_FALSE(run());
  EXPECT_EQ(asked, 1);
}

TEST_F(RefusedInputsTest, end_a_run_without_an_accuracy_check_as_well) {
  request_.check_accuracy = false;
  executor_.failure = [](const auto&) { return TrialStatus::failed; };
  const auto result = run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::refused_inputs);
  EXPECT_EQ(executor_.trials_run, 1);
}

TEST_F(RefusedInputsTest, are_not_asked_for_where_trials_go_well) {
  request_.check_accuracy = false;
  const auto result = must_run();
  EXPECT_EQ(executor_.references_made, 0);
  EXPECT_EQ(result.run.workload.shapes, executor_.model.shapes);
}

TEST_F(RefusedInputsTest, a_reference_that_the_runtime_cannot_do_is_made_with_more_rewriting) {
  request_.reference = {{"graph_optimization_level", "disable_all"}};
  executor_.reference_error = [](const schema::TrialSpec& spec) -> std::optional<base::Error> {
    if (spec.configuration.get_or("graph_optimization_level", "all").as_text() != "disable_all") return std::nullopt;
    return base::Error{ErrorCode::unsupported, "Type Error: a cast is missing"};
  };
  const auto result = must_run();
  ASSERT_EQ(executor_.references.size(), 1U);
  EXPECT_EQ(executor_.references[0].configuration.get_or("graph_optimization_level", "").as_text(), "basic");
  EXPECT_TRUE(has_note(result,
                       "the accuracy reference runs with graph_optimization_level=basic, as this runtime refuses the "
                       "model with disable_all: Type Error: a cast is missing"));
  EXPECT_EQ(result.run.verdict->decision, schema::Decision::change);
}

}  // namespace
}  // namespace ridgeline::campaign
