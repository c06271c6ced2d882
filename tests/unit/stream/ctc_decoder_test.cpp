// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/ctc_decoder.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/stream/made_outputs.hpp"

namespace ridgeline::stream {
namespace {

/// Steps that each have one character with `score`, the others sharing the rest.
MadeOutput steps(std::size_t characters, const std::vector<std::size_t>& best, float score = 0.9F) {
  const auto count = static_cast<float>(characters - 1);
  MadeOutput out("p", {static_cast<std::int64_t>(best.size()), static_cast<std::int64_t>(characters)},
                 (1 - score) / count);
  for (std::size_t step = 0; step < best.size(); ++step) out.values[step * characters + best[step]] = score;
  return out;
}

DecoderOptions named(std::vector<std::string> labels) {
  DecoderOptions options;
  options.labels = std::move(labels);
  return options;
}

base::Json read(const DecoderOptions& options, const MadeOutput& output) {
  const auto found = decode_outputs("ctc", options, {output}, same_geometry(320, 48));
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : base::Json();
}

TEST(CtcDecoder, repeats_are_one_character_unless_a_blank_is_between) {
  const auto found = read(named({"a", "b", "é"}), steps(4, {0, 1, 1, 0, 1, 3, 2, 2, 0}));
  EXPECT_EQ(found.at("text"), "aaéb");
  EXPECT_NEAR(found.at("score").get<double>(), 0.9, 1e-4);
}

TEST(CtcDecoder, one_more_than_labels_and_blank_is_the_space) {
  EXPECT_EQ(read(named({"a", "b"}), steps(4, {1, 3, 2})).at("text"), "a b");
}

TEST(CtcDecoder, as_many_as_labels_have_the_blank_among_them) {
  EXPECT_EQ(read(named({"a", "b", "<blank>"}), steps(3, {2, 0, 2, 1, 1})).at("text"), "ab");
  EXPECT_EQ(read(named({"-", "a", "b"}), steps(3, {0, 1, 0, 2, 2})).at("text"), "ab")
      << "the first, where none says so";
}

TEST(CtcDecoder, logits_are_scored_as_probabilities) {
  MadeOutput logits("x", {2, 3}, {0, 2, 0, 3, 0, 0});
  const auto found = read(named({"a", "b"}), logits);
  EXPECT_EQ(found.at("text"), "a");
  EXPECT_NEAR(found.at("score").get<double>(), std::exp(2) / (std::exp(2) + 2), 1e-4);
}

TEST(CtcDecoder, nothing_read_is_empty_with_a_score_of_0) {
  const auto found = read(named({"a", "b"}), steps(3, {0, 0}));
  EXPECT_EQ(found.at("text"), "");
  EXPECT_EQ(found.at("score"), 0);
}

TEST(CtcDecoder, text_below_the_threshold_is_left_out) {
  auto options = named({"a", "b"});
  options.score_threshold = 0.8;
  const auto found = read(options, steps(3, {1}, 0.6F));
  EXPECT_EQ(found.at("text"), "");
  EXPECT_NEAR(found.at("score").get<double>(), 0.6, 1e-4);
}

TEST(CtcDecoder, a_decoder_can_be_used_for_texts_of_any_length) {
  const auto made = make_decoder("ctc", named({"a", "b"}), std::vector<OutputShape>{{"p", {-1, -1}}}, -1, 48);
  ASSERT_TRUE(made) << made.error().message;
  for (const std::size_t length : {3U, 1U, 9U}) {
    const std::vector<MadeOutput> outputs{steps(3, std::vector<std::size_t>(length, 2))};
    std::string json;
    ASSERT_TRUE((*made)->decode(views_of(outputs), same_geometry(320, 48), json));
    EXPECT_EQ(json, R"({"text":"b","score":0.9})");
  }
}

TEST(CtcDecoder, refuses_what_it_does_not_read) {
  const auto error_of = [](const DecoderOptions& options, const std::vector<MadeOutput>& outputs) {
    const auto found = decode_outputs("ctc", options, outputs, same_geometry(320, 48));
    return found ? std::string() : found.error().message;
  };
  EXPECT_NE(error_of({}, {steps(3, {1})}).find("decoder ctc: labels: expected the model's characters"),
            std::string::npos);
  EXPECT_NE(error_of(named({"a", "b"}), {steps(6, {1})})
                .find("decoder ctc: p of 1x6: 6 characters for 2 labels; expected as many, or 1 or 2 more"),
            std::string::npos);
  EXPECT_NE(error_of(named({"a", "b"}), {{"p", {3}}}).find("expected one output, steps x characters"),
            std::string::npos);
  EXPECT_NE(error_of(named({"a", "b"}), {{"p", {1, 3}, {0, 0, std::nanf("")}}}).find("NaN"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::stream
