// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/class_decoder.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

TEST(ClassDecoder, logits_become_probabilities_of_the_five_best) {
  // exp: 1, e, e^2, e^3, e^4, e^5; their sum is 234.2041.
  const auto found = decode_outputs("classify", {}, {{"logits", {6}, {2, 0, 5, 1, 4, 3}}}, same_geometry(8, 8));
  ASSERT_TRUE(found) << found.error().message;
  const auto& classes = found->at("classes");
  ASSERT_EQ(classes.size(), 5U);
  const std::vector<int> order{2, 4, 5, 0, 3};
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(classes[i].at("class"), order[i]);
    EXPECT_NEAR(classes[i].at("score").get<double>(), std::exp(5.0 - static_cast<double>(i)) / 234.2041, 1e-4);
    EXPECT_FALSE(classes[i].contains("label"));
  }
}

TEST(ClassDecoder, probabilities_stay_what_they_are_and_have_names) {
  DecoderOptions options;
  options.labels = {"cat", "dog", "\"cow\""};
  const auto found = decode_outputs("classify", options, {{"p", {1, 1, 3}, {0.2F, 0.1F, 0.7F}}}, same_geometry(8, 8));
  ASSERT_TRUE(found) << found.error().message;
  const auto& classes = found->at("classes");
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].at("label"), "\"cow\"");
  EXPECT_NEAR(classes[0].at("score").get<double>(), 0.7, 1e-6);
  EXPECT_EQ(classes[2].at("label"), "dog");
}

TEST(ClassDecoder, what_scores_less_is_left_out) {
  DecoderOptions options;
  options.score_threshold = 0.5;
  const auto found = decode_outputs("classify", options, {{"p", {3}, {0.2F, 0.1F, 0.7F}}}, same_geometry(8, 8));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->at("classes").size(), 1U);
  EXPECT_EQ(found->at("classes")[0].at("class"), 2);
}

TEST(ClassDecoder, takes_the_output_that_has_as_many_values_as_there_are_labels) {
  DecoderOptions options;
  options.labels = {"cat", "dog", "cow"};
  const auto found =
      decode_outputs("classify", options, {{"embedding", {4}, 9.0F}, {"logits", {3}, {0, 7, 0}}}, same_geometry(8, 8));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->at("classes")[0].at("label"), "dog");
}

TEST(ClassDecoder, refuses_what_it_does_not_read) {
  const auto error_of = [](const DecoderOptions& options, const std::vector<MadeOutput>& outputs) {
    const auto found = decode_outputs("classify", options, outputs, same_geometry(8, 8));
    return found ? std::string() : found.error().message;
  };
  DecoderOptions named;
  named.labels = {"cat", "dog"};
  EXPECT_NE(error_of({}, {{"map", {4, 4}}}).find("decoder classify: map of 4x4: expected one value a class"),
            std::string::npos);
  EXPECT_NE(error_of({}, {{"a", {4}}, {"b", {4}}}).find("expected one value a class"), std::string::npos);
  EXPECT_NE(error_of(named, {{"p", {3}}}).find("p of 3: expected 2 values, as there are labels"), std::string::npos);
  EXPECT_NE(error_of({}, {{"p", {1}}}).find("expected one value a class"), std::string::npos);
  EXPECT_NE(error_of({}, {{"p", {2}, {0, std::nanf("")}}}).find("NaN"), std::string::npos);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_NE(error_of({}, {{"p", {2}, {0, infinity}}}).find("infinite"), std::string::npos);
  EXPECT_EQ(error_of({}, {{"p", {2}, {0, -infinity}}}), "");  // a class that the model rules out
}

}  // namespace
}  // namespace ridgeline::stream
