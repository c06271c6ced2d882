// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/shape_choice.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "workload/onnx/dim_role.hpp"

namespace ridgeline::workload {
namespace {

using schema::InputShape;
using schema::ShapeSet;
using schema::TensorDescription;
using Dims = std::vector<std::int64_t>;

TensorDescription tensor(const std::string& name, const Dims& dims, std::vector<std::string> names = {},
                         const std::string& type = "float") {
  names.resize(dims.size());
  return {name, type, dims, names};
}

Dims only_shape(const TensorDescription& input, const ShapeHints& hints = {}) {
  const auto choice = choose_shapes({input}, {}, hints);
  EXPECT_TRUE(choice) << choice.error().message;
  return choice->sets.at(0).at(0).dims;
}

std::string refusal(const TensorDescription& input, const InputShape& wanted) {
  const auto choice = choose_shapes({input}, {{wanted}}, {});
  EXPECT_FALSE(choice);
  if (choice) return "";
  EXPECT_EQ(choice.error().code, base::ErrorCode::invalid_argument);
  return base::error_line(choice.error());
}

TEST(ShapeChoice, guesses_images_by_layout_and_what_is_fixed) {
  EXPECT_EQ(only_shape(tensor("x", {-1, 3, -1, -1})), (Dims{1, 3, 640, 640}));
  EXPECT_EQ(only_shape(tensor("x", {-1, -1, -1, 3})), (Dims{1, 640, 640, 3}));
  EXPECT_EQ(only_shape(tensor("x", {-1, 3, 48, -1})), (Dims{1, 3, 48, 320}));
  EXPECT_EQ(only_shape(tensor("x", {-1, 3, 512, -1})), (Dims{1, 3, 512, 512}));
  EXPECT_EQ(only_shape(tensor("x", {-1, -1, -1, -1})), (Dims{1, 3, 640, 640}));
  ShapeHints classifier;
  classifier.classifies = true;
  EXPECT_EQ(only_shape(tensor("x", {-1, 3, -1, -1}), classifier), (Dims{1, 3, 224, 224}));
}

TEST(ShapeChoice, lets_metadata_and_weights_decide_before_guessing) {
  ShapeHints hints;
  hints.image = ImageHint{416, 608, messages::DimImageSource::metadata};
  hints.known[{"x", 1}] = {4, messages::dim_of_weights("Conv")};
  const auto choice = choose_shapes({tensor("x", {-1, -1, -1, -1})}, {}, hints);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->sets[0][0].dims, (Dims{1, 4, 416, 608}));
  ASSERT_EQ(choice->notes.size(), 1U);
  EXPECT_NE(fakes::text_of(choice->notes[0]).find("metadata imgsz"), std::string::npos)
      << fakes::text_of(choice->notes[0]);
  EXPECT_NE(fakes::text_of(choice->notes[0]).find("--shape x:1x4x416x608"), std::string::npos)
      << fakes::text_of(choice->notes[0]);
}

TEST(ShapeChoice, gives_a_symbolic_name_one_size_everywhere) {
  const std::vector<TensorDescription> inputs = {tensor("input_ids", {-1, -1}, {"batch", "seq"}, "int64"),
                                                 tensor("attention_mask", {-1, -1}, {"batch", "seq"}, "int64")};
  const auto guessed = choose_shapes(inputs, {}, {});
  ASSERT_TRUE(guessed);
  EXPECT_EQ(guessed->sets[0][0].dims, (Dims{1, 128}));
  EXPECT_EQ(guessed->sets[0][1].dims, (Dims{1, 128}));
  const auto given = choose_shapes(inputs, {{{"attention_mask", {8, 64}}}}, {});
  ASSERT_TRUE(given);
  EXPECT_EQ(given->sets[0][0].dims, (Dims{8, 64}));
  EXPECT_FALSE(given->guessed);
}

TEST(ShapeChoice, treats_a_decoder_as_one_step_after_a_past) {
  const std::vector<TensorDescription> inputs = {
      tensor("input_ids", {-1, -1}, {"batch_size", "sequence_length"}, "int64"),
      tensor("attention_mask", {-1, -1}, {"batch_size", "past_sequence_length + sequence_length"}, "int64"),
      tensor("past_key_values.0.key", {-1, 8, -1, 64}, {"batch_size", "", "past_sequence_length", ""})};
  const auto choice = choose_shapes(inputs, {}, {});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->sets[0][0].dims, (Dims{1, 1}));
  EXPECT_EQ(choice->sets[0][1].dims, (Dims{1, 129}));
  EXPECT_EQ(choice->sets[0][2].dims, (Dims{1, 8, 128, 64}));
}

TEST(ShapeChoice, keeps_every_member_of_a_mix_and_fills_it_separately) {
  const std::vector<TensorDescription> inputs = {tensor("a", {-1, 4}), tensor("b", {2, -1}, {"", "L"})};
  const auto choice = choose_shapes(inputs, {{{"a", {3, 4}}}, {{"b", {2, 9}}}}, {});
  ASSERT_TRUE(choice);
  ASSERT_EQ(choice->sets.size(), 2U);
  EXPECT_EQ(choice->sets[0], (ShapeSet{{"a", {3, 4}}, {"b", {2, 128}}}));
  EXPECT_EQ(choice->sets[1], (ShapeSet{{"a", {1, 4}}, {"b", {2, 9}}}));
}

TEST(ShapeChoice, refuses_shapes_that_do_not_fit_and_says_what_does) {
  const auto input = tensor("images", {-1, 3, -1, -1}, {"batch", "", "h", ""});
  EXPECT_EQ(
      refusal(input, {"images", {1, 3, 8}}),
      "--shape images:1x3x8 has 3 dimensions, but the model's input has 4 (batchx3xhx?); give 4 sizes joined by x");
  EXPECT_EQ(refusal(input, {"images", {1, 4, 8, 8}}),
            "--shape images:1x4x8x8 has 4 on axis 1, where the model fixes 3 (batchx3xhx?); leave it at 3");
  EXPECT_NE(refusal(input, {"images", {1, 3, -8, 8}}).find("negative dimension -8"), std::string::npos);
  EXPECT_NE(refusal(input, {"images", {1, 3, 1 << 20, 1 << 20}}).find("more than 2^40"), std::string::npos);
  EXPECT_NE(refusal(input, {"image", {1, 3, 8, 8}}).find("did you mean \"images\""), std::string::npos);
}

TEST(ShapeChoice, leaves_fixed_inputs_without_a_note_and_containers_without_a_shape) {
  const auto choice = choose_shapes({tensor("x", {2, 3}), tensor("s", {}, {}, "sequence(float)")}, {}, {});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->sets[0], (ShapeSet{{"x", {2, 3}}}));
  EXPECT_TRUE(choice->notes.empty());
  EXPECT_FALSE(choice->guessed);
}

TEST(DimRole, reads_the_names_that_exporters_write) {
  EXPECT_EQ(role_of_dim_name("batch_size"), DimRole::batch);
  EXPECT_EQ(role_of_dim_name("N"), DimRole::batch);
  EXPECT_EQ(role_of_dim_name("encoder_sequence_length"), DimRole::sequence);
  EXPECT_EQ(role_of_dim_name("past_sequence_length"), DimRole::past);
  EXPECT_EQ(role_of_dim_name("image_height"), DimRole::height);
  EXPECT_EQ(role_of_dim_name("p2o.DynamicDimension.0"), DimRole::unknown);
  EXPECT_EQ(role_of_dim_name("unk__615"), DimRole::unknown);
  EXPECT_EQ(role_of_dim_name(""), DimRole::unknown);
}

TEST(DimRole, finds_the_batch_axis_by_name_then_by_position) {
  EXPECT_EQ(dynamic_batch_axis(tensor("x", {-1, -1, 8}, {"seq", "batch", ""})), 1U);
  EXPECT_EQ(dynamic_batch_axis(tensor("x", {-1, 3})), 0U);
  EXPECT_EQ(dynamic_batch_axis(tensor("x", {-1, 8}, {"seq_len", ""})), std::nullopt);
  EXPECT_EQ(dynamic_batch_axis(tensor("x", {1, -1})), std::nullopt);
  EXPECT_EQ(with_batch({tensor("x", {-1, -1, 8}, {"seq", "batch", ""})}, {{"x", {5, 1, 8}}}, 4),
            (ShapeSet{{"x", {5, 4, 8}}}));
}

}  // namespace
}  // namespace ridgeline::workload
