// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/chosen_values.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fakes/onnx_builder.hpp"
#include "fakes/words.hpp"
#include "unit/workload/temp_folder.hpp"
#include "workload/onnx/model_inspector.hpp"

namespace ridgeline::workload {
namespace {

using fakes::OnnxBuilder;
using onnx::TensorProto;

class ChosenValuesTest : public ::testing::Test {
 protected:
  schema::ModelDescription look(const OnnxBuilder& model, std::vector<schema::GivenValue> given = {}) {
    InspectRequest request;
    request.workload.kind = "onnx";
    request.workload.location = folder_.write("model.onnx", model.bytes()).string();
    request.workload.given_values = std::move(given);
    auto result = inspect_onnx_model(request);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(schema::ModelDescription{});
  }
  /// Of the first shape set, at a batch of 1; "" without a rule.
  static std::string text(const schema::ModelDescription& model, const std::string& name, std::size_t set = 0,
                          std::int64_t batch = 1) {
    if (set < model.input_values.size())
      for (const auto& values : model.input_values[set])
        if (values.name == name) return schema::values_text(values, batch);
    return "";
  }
  TempFolder folder_;
};

TEST_F(ChosenValuesTest, indices_cover_the_shortest_axis_that_they_reach) {
  OnnxBuilder model;
  model.input("ids", {"batch", "seq"}, TensorProto::INT32).weight("words", {30522, 8}).weight("few", {100, 8});
  model.integers("one", {1});
  model.node("Cast", {"ids"}, {"wide"}).integer("to", TensorProto::INT64);
  model.node("Gather", {"words", "wide"}, {"a"}).node("Add", {"wide", "one"}, {"next"});
  model.node("Gather", {"few", "next"}, {"b"}).node("Add", {"a", "b"}, {"y"}).output("y");
  // Shifted by one, the last of 100 rows is row 98 before.
  EXPECT_EQ(text(look(model), "ids"), "0..98");
}

// Each of these moves the indices on their way to the rows, or passes them on.
TEST_F(ChosenValuesTest, indices_are_followed_through_what_does_not_change_them) {
  struct Way {
    const char* op;
    std::vector<std::string> inputs;
  };
  const std::vector<Way> ways{{"Identity", {"ids"}},
                              {"Reshape", {"ids", "flat"}},
                              {"Flatten", {"ids"}},
                              {"Unsqueeze", {"ids", "zero"}},
                              {"Squeeze", {"ids", "zero"}},
                              {"Transpose", {"ids"}},
                              {"Slice", {"ids", "zero", "six"}},
                              {"Concat", {"ids", "ids"}},
                              {"Tile", {"ids", "two"}},
                              {"Expand", {"ids", "two"}},
                              {"Gather", {"ids", "zero"}},
                              {"Split", {"ids"}}};
  for (const auto& way : ways) {
    OnnxBuilder model;
    model.input("ids", {1, 6}, TensorProto::INT64).weight("words", {30522, 8});
    model.integers("flat", {-1}).integers("zero", {0}).integers("six", {6}).integers("two", {2, 1});
    model.node(way.op, way.inputs, {"moved"});
    if (std::string(way.op) == "Concat" || std::string(way.op) == "Split") model.integer("axis", 0);
    model.node("Gather", {"words", "moved"}, {"y"}).output("y");
    EXPECT_EQ(text(look(model), "ids"), "0..30521") << way.op;
  }
}

TEST_F(ChosenValuesTest, every_kind_of_index_covers_its_own_axis) {
  const auto of = [&](const char* op, const std::vector<std::string>& inputs, int axis) {
    OnnxBuilder model;
    model.input("data", {7, 5}).input("at", {2, 5}, TensorProto::INT64).integers("depth", {9}).weight("update", {2, 5});
    model.integers("values", {0, 1});
    model.node(op, inputs, {"y"}).integer("axis", axis).output("y");
    return text(look(model), "at");
  };
  EXPECT_EQ(of("Gather", {"data", "at"}, 0), "0..6");
  EXPECT_EQ(of("Gather", {"data", "at"}, 1), "0..4");
  EXPECT_EQ(of("Gather", {"data", "at"}, -1), "0..4");
  EXPECT_EQ(of("GatherElements", {"data", "at"}, 0), "0..6");
  EXPECT_EQ(of("ScatterElements", {"data", "at", "update"}, 0), "0..6");
  EXPECT_EQ(of("OneHot", {"at", "depth", "values"}, -1), "0..8");
}

// token_type_ids of a vocabulary of 1 were 0 or 1, and every run ended with an index out of range.
TEST_F(ChosenValuesTest, one_row_has_one_index) {
  OnnxBuilder model;
  model.input("token_type_ids", {"batch", "seq"}, TensorProto::INT64).weight("types", {1, 8});
  model.node("Gather", {"types", "token_type_ids"}, {"y"}).output("y");
  EXPECT_EQ(text(look(model), "token_type_ids"), "0");
}

TEST_F(ChosenValuesTest, an_index_of_the_batch_grows_with_it) {
  OnnxBuilder model;
  model.input("past", {"batch", 4}).input("beam_idx", {"batch"}, TensorProto::INT64);
  model.node("Gather", {"past", "beam_idx"}, {"y"}).output("y");
  const auto seen = look(model);
  EXPECT_EQ(text(seen, "beam_idx", 0, 1), "0");
  EXPECT_EQ(text(seen, "beam_idx", 0, 8), "0..7");
}

TEST_F(ChosenValuesTest, lengths_are_the_time_axis) {
  OnnxBuilder model;
  model.input("x", {12, "N", 4})
      .input("lens", {"N"}, TensorProto::INT64)
      .weight("w", {1, 32, 4})
      .weight("r", {1, 32, 8});
  model.node("Cast", {"lens"}, {"l"}).integer("to", TensorProto::INT32);
  model.node("LSTM", {"x", "w", "r", "", "l"}, {"y"}).integer("hidden_size", 8).output("y");
  EXPECT_EQ(text(look(model), "lens"), "12");
}

TEST_F(ChosenValuesTest, masks_hide_nothing_whichever_way_round_they_are) {
  OnnxBuilder model;
  model.input("keep", {2, 4}, TensorProto::BOOL).input("pad", {2, 4}, TensorProto::BOOL).input("x", {2, 4});
  model.weight("fill", {1});
  model.node("Where", {"keep", "x", "fill"}, {"a"}).node("Where", {"pad", "fill", "a"}, {"b"});
  model.output("b");
  const auto seen = look(model);
  EXPECT_EQ(text(seen, "keep"), "1");
  EXPECT_EQ(text(seen, "pad"), "0");
}

TEST_F(ChosenValuesTest, arguments_are_valid) {
  OnnxBuilder model;
  model.input("x", {1, 64}).input("shape", {2}, TensorProto::INT64).input("k", {1}, TensorProto::INT64);
  model.input("a", {4}, TensorProto::INT64).input("b", {4}, TensorProto::INT64);
  model.node("Expand", {"x", "shape"}, {"wide"}).node("TopK", {"x", "k"}, {"best", "where"});
  model.node("Div", {"a", "b"}, {"q"}).output("wide", {"p", "q"}).output("best").output("q", {4}, TensorProto::INT64);
  const auto seen = look(model);
  EXPECT_EQ(text(seen, "shape"), "1, 64");
  EXPECT_EQ(text(seen, "k"), "64");
  EXPECT_EQ(text(seen, "b"), "1");
  EXPECT_EQ(text(seen, "a"), "");  // nothing is asked of it: 0 or 1
  EXPECT_EQ(seen.input_notes.size(), 4U);
}

TEST_F(ChosenValuesTest, slices_have_steps_and_axes_that_exist) {
  OnnxBuilder model;
  model.input("x", {4, 64}).input("m", {2}, TensorProto::INT32).input("n", {2}, TensorProto::INT32);
  for (const char* name : {"starts", "ends", "axes", "steps"}) model.input(name, {2}, TensorProto::INT64);
  model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"}).output("y");
  model.node("Mod", {"m", "n"}, {"rest"}).output("rest", {2}, TensorProto::INT32);
  const auto seen = look(model);
  EXPECT_EQ(text(seen, "starts"), "0");
  EXPECT_EQ(text(seen, "ends"), "4, 64");
  EXPECT_EQ(text(seen, "axes"), "0, 1");
  EXPECT_EQ(text(seen, "steps"), "1");
  EXPECT_EQ(text(seen, "n"), "1") << "Mod divides as well";
}

TEST_F(ChosenValuesTest, masks_of_integers_hide_nothing) {
  OnnxBuilder model;
  model.input("added", {1, 8}, TensorProto::INT64).input("times", {1, 8}, TensorProto::INT64).input("x", {1, 8});
  auto* large = model.model.mutable_graph()->add_initializer();
  large->set_name("large");
  large->set_data_type(TensorProto::FLOAT);
  large->add_float_data(-1e9F);
  auto* one = model.model.mutable_graph()->add_initializer();
  one->set_name("one");
  one->set_data_type(TensorProto::FLOAT);
  one->add_float_data(1);
  // (1 - mask) * -1e9 is added to the scores, as BERT has it.
  model.node("Cast", {"added"}, {"f"}).integer("to", TensorProto::FLOAT).node("Sub", {"one", "f"}, {"hidden"});
  model.node("Mul", {"hidden", "large"}, {"bias"}).node("Add", {"x", "bias"}, {"scores"});
  model.node("Cast", {"times"}, {"t"}).integer("to", TensorProto::FLOAT).node("Mul", {"scores", "t"}, {"y"});
  const auto seen = look(model.output("y"));
  EXPECT_EQ(text(seen, "added"), "1");
  EXPECT_EQ(text(seen, "times"), "1");
}

TEST_F(ChosenValuesTest, where_the_graph_does_not_tell_the_name_does) {
  OnnxBuilder model;
  model.input("x", {1, "sequence"}).input("x_lens", {1}, TensorProto::INT64);
  model.input("attention_mask", {1}, TensorProto::INT64).input("beam_idx", {1}, TensorProto::INT64);
  model.input("other", {3}, TensorProto::INT64);
  for (const char* name : {"x", "x_lens", "attention_mask", "beam_idx", "other"})
    model.node("Abs", {name}, {std::string(name) + "_out"}).output(std::string(name) + "_out");
  const auto seen = look(model);
  EXPECT_EQ(text(seen, "x_lens"), std::to_string(seen.shapes.at(0).at(0).dims.at(1)));
  EXPECT_EQ(text(seen, "attention_mask"), "1");
  EXPECT_EQ(text(seen, "beam_idx"), "0");
  EXPECT_EQ(text(seen, "other"), "");
  // Each choice is told with its reason, also where there is none.
  for (const char* part :
       {"x_lens: 128, a length by its name", "attention_mask: 1, a mask by its name",
        "beam_idx: 0, an index by its name", "other: 0 or 1, because the graph does not show what it is"})
    EXPECT_TRUE(std::any_of(seen.input_notes.begin(), seen.input_notes.end(), [&](const auto& note) {
      return fakes::text_of(note).rfind(part, 0) == 0;
    })) << part;
}

TEST_F(ChosenValuesTest, what_the_user_gives_goes_before_all_of_it) {
  OnnxBuilder model;
  model.input("a:0", {2, 3}, TensorProto::INT64).input("scale", {}).weight("words", {10, 4});
  model.node("Gather", {"words", "a:0"}, {"b"}).node("Mul", {"b", "scale"}, {"y"}).output("y");
  const auto given = [&](const char* ids) { return text(look(model, {{"a:0", ids}, {"scale", "0.5"}}), "a:0"); };
  EXPECT_EQ(given("3"), "3");
  EXPECT_EQ(given("-1"), "-1");
  EXPECT_EQ(given("ones"), "1");
  EXPECT_EQ(given("zeros"), "0");
  EXPECT_EQ(given("0..30521"), "0..30521") << "though there are ten rows: the runtime says so";
  const auto seen = look(model, {{"scale", "0.5"}});
  EXPECT_EQ(text(seen, "a:0"), "0..9");
  EXPECT_EQ(text(seen, "scale"), "0.5");
  EXPECT_EQ(fakes::text_of(seen.input_notes.back()), "scale: scalar = 0.5, as --input gives it");
}

TEST_F(ChosenValuesTest, each_branch_of_a_condition_is_a_shape_set) {
  OnnxBuilder yes, no;
  yes.node("Relu", {"x"}, {"p"}).output("p", {2, 3});
  no.node("Neg", {"x"}, {"n"}).output("n", {2, 3});
  OnnxBuilder model;
  model.input("x", {2, 3}).input("rate", {1}, TensorProto::INT64).integers("high", {16000});
  model.node("Equal", {"rate", "high"}, {"c"});
  model.node("If", {"c"}, {"y"}).graph("then_branch", yes).graph("else_branch", no).output("y");
  const auto seen = look(model);
  ASSERT_EQ(seen.shapes.size(), 2U);
  EXPECT_EQ(text(seen, "rate", 0), "16000");
  EXPECT_NE(text(seen, "rate", 1), "16000");
  ASSERT_EQ(seen.input_notes.size(), 2U);
  EXPECT_NE(fakes::text_of(seen.input_notes[0]).find("then branch"), std::string::npos);
  const auto given = look(model, {{"rate", "16000"}});
  EXPECT_EQ(given.shapes.size(), 1U);
}

TEST_F(ChosenValuesTest, a_branch_that_refuses_the_shapes_of_the_others_has_its_own) {
  OnnxBuilder yes, no;
  yes.node("Conv", {"x", "window"}, {"p"}).ints("kernel_shape", {256}).output("p");
  no.node("Add", {"x", "short"}, {"n"}).output("n");
  OnnxBuilder model;
  model.input("x", {1, 1, "sequence"}).input("rate", {}, TensorProto::INT64).integers("high", {16000});
  model.weight("window", {1, 1, 256}).weight("short", {1, 1, 64});
  model.node("Equal", {"rate", "high"}, {"c"});
  model.node("If", {"c"}, {"y"}).graph("then_branch", yes).graph("else_branch", no).output("y");
  const auto seen = look(model);
  ASSERT_EQ(seen.shapes.size(), 2U);
  EXPECT_EQ(seen.shapes[0][0].dims, (std::vector<std::int64_t>{1, 1, 256}));
  EXPECT_EQ(seen.shapes[1][0].dims, (std::vector<std::int64_t>{1, 1, 64}));
  EXPECT_EQ(text(seen, "rate", 0), "16000");
  ASSERT_FALSE(seen.input_notes.empty());
  EXPECT_NE(fakes::text_of(seen.input_notes[0]).find("a separate shape set with x:1x1x256"), std::string::npos)
      << fakes::text_of(seen.input_notes[0]);
}

TEST_F(ChosenValuesTest, a_loop_has_rounds) {
  OnnxBuilder body;
  body.input("i", {}, TensorProto::INT64).input("go", {}, TensorProto::BOOL).input("s", {2});
  body.node("Identity", {"go"}, {"on"}).node("Tanh", {"s"}, {"t"}).output("on").output("t");
  OnnxBuilder model;
  model.input("n", {}, TensorProto::INT64).input("go", {}, TensorProto::BOOL).input("x", {2});
  model.node("Loop", {"n", "go", "x"}, {"y"}).graph("body", body).output("y");
  const auto seen = look(model);
  EXPECT_EQ(text(seen, "n"), "10");
  EXPECT_EQ(text(seen, "go"), "1");
}

TEST_F(ChosenValuesTest, refuses_values_that_the_type_does_not_have) {
  OnnxBuilder model;
  model.input("x", {2}, TensorProto::UINT8).node("Identity", {"x"}, {"y"}).output("y");
  InspectRequest request;
  request.workload.kind = "onnx";
  request.workload.location = folder_.write("model.onnx", model.bytes()).string();
  for (const char* wrong : {"300", "-1", "1.5", "9..3", "0..256"}) {
    request.workload.given_values = {{"x", wrong}};
    const auto result = inspect_onnx_model(request);
    ASSERT_FALSE(result) << wrong;
    EXPECT_EQ(result.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(result.error().message.find("from 0 to 255"), std::string::npos) << result.error().message;
  }
  request.workload.given_values = {{"z", "1"}};
  ASSERT_FALSE(inspect_onnx_model(request));
}

TEST_F(ChosenValuesTest, an_input_without_elements_is_refused) {
  OnnxBuilder model;
  model.input("x", {0, 64}).node("Relu", {"x"}, {"y"}).output("y");
  InspectRequest request;
  request.workload.location = folder_.write("model.onnx", model.bytes()).string();
  const auto result = inspect_onnx_model(request);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("no elements"), std::string::npos);
}

TEST_F(ChosenValuesTest, the_nameless_axis_of_a_recurrent_state_is_the_batch) {
  OnnxBuilder model;
  model.input("x", {12, "N", 4}).input("h", {1, "", 8}).weight("w", {1, 24, 4}).weight("r", {1, 24, 8});
  model.node("GRU", {"x", "w", "r", "", "", "h"}, {"y"}).integer("hidden_size", 8).output("y");
  EXPECT_EQ(look(model).shapes.front()[1].dims, (std::vector<std::int64_t>{1, 1, 8}));
}

}  // namespace
}  // namespace ridgeline::workload
