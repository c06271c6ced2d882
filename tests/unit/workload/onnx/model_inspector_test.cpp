// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/model_inspector.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "fakes/onnx_builder.hpp"
#include "fakes/words.hpp"
#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

using fakes::OnnxBuilder;
using schema::ShapeSet;

class ModelInspectorTest : public ::testing::Test {
 protected:
  base::Result<schema::ModelDescription> inspect(const std::filesystem::path& path, std::vector<ShapeSet> shapes = {}) {
    InspectRequest request;
    request.workload.kind = "onnx";
    request.workload.location = path.string();
    request.workload.shapes = std::move(shapes);
    return inspect_onnx_model(request);
  }
  schema::ModelDescription describe(const OnnxBuilder& model, std::vector<ShapeSet> shapes = {}) {
    auto result = inspect(folder_.write("model.onnx", model.bytes()), std::move(shapes));
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(schema::ModelDescription{});
  }
  schema::ModelDescription describe_demo(const char* name, std::vector<ShapeSet> shapes = {}) {
    auto result = inspect(std::filesystem::path(RL_TEST_MODEL_DIR) / name, std::move(shapes));
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(schema::ModelDescription{});
  }
  static bool demo_models_present() { return std::filesystem::exists(RL_TEST_MODEL_DIR); }
  TempFolder folder_;
};

TEST_F(ModelInspectorTest, names_the_nodes_that_draw_random_numbers) {
  OnnxBuilder branch;
  branch.node("RandomUniformLike", {"x"}, {"b"}).output("b");
  OnnxBuilder model;
  model.input("x", {"N", 4}).input("c", {}, onnx::TensorProto::BOOL).input("train", {}, onnx::TensorProto::BOOL);
  for (const bool value : {false, true}) {
    auto* tensor = model.model.mutable_graph()->add_initializer();
    tensor->set_name(value ? "on" : "off");
    tensor->set_data_type(onnx::TensorProto::BOOL);
    tensor->add_int32_data(value ? 1 : 0);
  }
  model.weight("ratio", {});
  model.node("RandomNormalLike", {"x"}, {"n"})
      .node("Dropout", {"n", "ratio", "off"}, {"d1"})
      .node("Dropout", {"d1", "ratio"}, {"d2"})
      .node("Dropout", {"d2", "ratio", "on"}, {"d3"})
      .node("Dropout", {"d3", "ratio", "train"}, {"d4"})
      .node("If", {"c"}, {"e"})
      .graph("then_branch", branch)
      .graph("else_branch", branch)
      .node("Sampling", {"e"}, {"y"}, "com.microsoft");
  model.opset("com.microsoft", 1);
  auto* function = model.model.add_functions();
  function->set_name("Noise");
  function->set_domain("mine");
  OnnxBuilder::fill(*function->add_node(), "Bernoulli", {"p"}, {"q"}, "");
  function->mutable_node(0)->set_name("");
  EXPECT_EQ(describe(model.output("y", {"N", 4})).random_nodes,
            (std::vector<std::string>{"RandomNormalLike \"RandomNormalLike_n\"", "Dropout \"Dropout_d3\"",
                                      "Dropout \"Dropout_d4\"", "RandomUniformLike \"RandomUniformLike_b\"",
                                      "RandomUniformLike \"RandomUniformLike_b\"",
                                      "com.microsoft.Sampling \"Sampling_y\"", "Bernoulli \"q\""}));
  EXPECT_TRUE(describe(OnnxBuilder().input("x", {4}).node("Relu", {"x"}, {"y"}).output("y", {4})).random_nodes.empty());
}

TEST_F(ModelInspectorTest, describes_what_the_file_says) {
  OnnxBuilder body;
  body.node("Relu", {"h"}, {"b"}).output("b");
  OnnxBuilder model;
  model.input("x", {"N", 4}).input("w", {4, 2}).weight("w", {4, 2}).input("c", {1}, onnx::TensorProto::BOOL);
  model.node("MatMul", {"x", "w"}, {"h"})
      .node("If", {"c"}, {"y"})
      .graph("then_branch", body)
      .graph("else_branch", body);
  const auto description = describe(model.output("y", {"N", 2}));
  ASSERT_EQ(description.inputs.size(), 2U);  // w is an initializer
  EXPECT_EQ(description.inputs[0].name, "x");
  EXPECT_EQ(description.inputs[0].dims, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(description.inputs[0].dim_names, (std::vector<std::string>{"N", ""}));
  EXPECT_EQ(description.inputs[1].element_type, "bool");
  EXPECT_EQ(description.node_counts, (std::map<std::string, std::int64_t>{{"If", 1}, {"MatMul", 1}, {"Relu", 2}}));
  EXPECT_EQ(description.nodes, 4);
  EXPECT_TRUE(description.has_control_flow);
  EXPECT_EQ(description.parameters, 8);
  EXPECT_EQ(description.parameter_bytes, 32);
  EXPECT_EQ(description.parameter_types, (std::map<std::string, std::int64_t>{{"float", 8}}));
  EXPECT_EQ(description.opsets.at(""), 17);
  EXPECT_EQ(description.ir_version, 8);
  EXPECT_EQ(description.producer, "builder");
  EXPECT_EQ(description.sha256, base::sha256_hex(model.bytes()));
}

TEST_F(ModelInspectorTest, counts_one_dimensional_convolutions_by_kernel_or_weight) {
  OnnxBuilder model;
  model.input("x", {1, 3, 32}).input("i", {1, 3, 8, 8});
  model.weight("flat", {4, 3, 5}).weight("square", {4, 3, 3, 3});
  model.node("Conv", {"x", "flat"}, {"a"}).node("Conv", {"x", "flat"}, {"b"}).ints("kernel_shape", {5});
  model.node("Conv", {"i", "square"}, {"c"}).node("Conv", {"i", "square"}, {"d"}).ints("kernel_shape", {3, 3});
  const auto description = describe(model.output("a", {1, 4, 28}).output("c", {1, 4, 6, 6}));
  EXPECT_EQ(description.node_counts.at("Conv"), 4);
  EXPECT_EQ(description.one_dimensional_convolutions, 2);
}

TEST_F(ModelInspectorTest, adds_up_arithmetic_and_traffic_for_the_chosen_shapes) {
  OnnxBuilder model;
  model.input("x", {"N", 4})
      .weight("w", {4, 2})
      .node("MatMul", {"x", "w"}, {"h"})
      .node("Relu", {"h"}, {"y"})
      .output("y");
  const auto three = describe(model, {{{"x", {3, 4}}}});
  EXPECT_EQ(three.flops, 2.0 * 3 * 2 * 4 + 3 * 2);
  // parameters 32, input 48, h written and read 2 x 24, output 24
  EXPECT_EQ(three.min_bytes, 32.0 + 48 + 2 * 24 + 24);
  const auto mix = describe(model, {{{"x", {3, 4}}}, {{"x", {5, 4}}}});
  EXPECT_EQ(mix.flops, 2.0 * 4 * 2 * 4 + 4 * 2);
  EXPECT_EQ(mix.shapes.size(), 2U);
}

TEST_F(ModelInspectorTest, recognises_the_batch) {
  OnnxBuilder dynamic;
  dynamic.input("x", {"N", 4}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_TRUE(describe(dynamic).batch_is_dynamic);
  EXPECT_EQ(describe(dynamic).batch_axis_size, 1);
  EXPECT_EQ(describe(dynamic, {{{"x", {6, 4}}}}).batch_axis_size, 6);
  OnnxBuilder fixed;
  fixed.input("x", {8, 4}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_FALSE(describe(fixed).batch_is_dynamic);
  EXPECT_EQ(describe(fixed).batch_axis_size, 8);
  OnnxBuilder none;
  none.input("x", {8, 4}).input("z", {3, 4}).node("Concat", {"x", "z"}, {"y"}).integer("axis", 0).output("y");
  EXPECT_EQ(describe(none).batch_axis_size, std::nullopt);
}

TEST_F(ModelInspectorTest, looks_for_another_size_when_the_graph_refuses_the_usual_one) {
  OnnxBuilder model;  // x must add to a constant of 1x3x224x224
  model.input("x", {1, 3, "h", "w"})
      .weight("mean", {1, 3, 224, 224})
      .node("Sub", {"x", "mean"}, {"y"})
      .output("y", {1, 3, 224, 224});
  const auto description = describe(model);
  EXPECT_EQ(description.shapes.at(0).at(0).dims, (std::vector<std::int64_t>{1, 3, 224, 224}));
  EXPECT_TRUE(description.notes.empty());
}

/// Samples that a reflecting Pad of 64, computed by the graph as PyTorch exports it, and a Conv of 256 take.
OnnxBuilder spectrum_model(std::int64_t opset) {
  OnnxBuilder model(opset);
  model.input("x", {"batch", "sequence"}).weight("window", {4, 1, 256});
  model.integers("given", {0, 64}).integers("others", {0, 0}).integers("pairs", {-1, 2}).integers("flat", {-1});
  model.integers("zero", {0}).integers("one", {1}).integers("last", {-1}).integers("far", {-9223372036854775807});
  model.node("Concat", {"given", "others"}, {"all"}).integer("axis", 0).node("Reshape", {"all", "pairs"}, {"rows"});
  model.node("Slice", {"rows", "last", "far", "zero", "last"}, {"reversed"});
  model.node("Transpose", {"reversed"}, {"columns"}).ints("perm", {1, 0}).node("Reshape", {"columns", "flat"}, {"p"});
  model.node("Cast", {"p"}, {"pads"}).integer("to", onnx::TensorProto::INT64);
  model.node("Pad", {"x", "pads"}, {"padded"}).text("mode", "reflect");
  model.node("Unsqueeze", {"padded", "one"}, {"channel"});
  model.node("Conv", {"channel", "window"}, {"y"}).ints("strides", {128}).output("y");
  return model;
}

TEST_F(ModelInspectorTest, sees_the_window_of_a_convolution_behind_pads_that_the_graph_computes) {
  const auto description = describe(spectrum_model(17));
  EXPECT_EQ(description.shapes.at(0).at(0).dims, (std::vector<std::int64_t>{1, 256}));
  ASSERT_EQ(description.shape_notes.size(), 1U);
  EXPECT_NE(fakes::text_of(description.shape_notes[0]).find("axis 1 (sequence) = 256, a length that fits the graph"),
            std::string::npos)
      << fakes::text_of(description.shape_notes[0]);
}

TEST_F(ModelInspectorTest, sees_it_in_opsets_that_are_newer_than_the_rules) {
  EXPECT_EQ(describe(spectrum_model(20)).shapes.at(0).at(0).dims, (std::vector<std::int64_t>{1, 256}));
}

TEST_F(ModelInspectorTest, takes_the_length_that_it_is_asked_for) {
  InspectRequest request;
  request.workload.kind = "onnx";
  OnnxBuilder model;
  model.input("x", {1, "sequence"}).node("Relu", {"x"}, {"y"}).output("y");
  request.workload.location = folder_.write("model.onnx", model.bytes()).string();
  request.length = 2048;
  const auto longer = inspect_onnx_model(request);
  ASSERT_TRUE(longer) << longer.error().message;
  EXPECT_EQ(longer->shapes.at(0).at(0).dims, (std::vector<std::int64_t>{1, 2048}));
  request.workload.shapes = {{{"x", {1, 7}}}};
  EXPECT_EQ(inspect_onnx_model(request)->shapes.at(0).at(0).dims, (std::vector<std::int64_t>{1, 7}));
}

TEST_F(ModelInspectorTest, describes_inputs_that_no_generator_can_make) {
  OnnxBuilder model;
  model.input("s", {2}, onnx::TensorProto::STRING).node("Identity", {"s"}, {"y"}).output("y");
  EXPECT_EQ(describe(model).inputs.at(0).element_type, "string");
}

TEST_F(ModelInspectorTest, names_operators_it_cannot_count_and_does_not_fail) {
  OnnxBuilder model(21);
  model.opset("acme", 1).input("x", {1, 4}).node("Mystery", {"x"}, {"y"}, "acme").output("y");
  const auto description = describe(model);
  EXPECT_EQ(description.uncounted_ops, (std::map<std::string, std::int64_t>{{"acme.Mystery", 1}}));
  EXPECT_FALSE(description.notes.empty());
}

TEST_F(ModelInspectorTest, knows_the_demo_models) {
  if (!demo_models_present()) GTEST_SKIP() << "no models at " << RL_TEST_MODEL_DIR << ": run scripts/setup.sh";
  const auto det = describe_demo("ch_PP-OCRv4_det_infer.onnx");
  EXPECT_EQ(det.shapes, (std::vector<ShapeSet>{{{"x", {1, 3, 640, 640}}}}));
  EXPECT_TRUE(det.batch_is_dynamic);
  EXPECT_TRUE(det.uncounted_ops.empty());
  EXPECT_TRUE(det.notes.empty());
  EXPECT_EQ(det.node_counts.at("Conv"), 62);
  // The weights fill the file but for names and structure.
  EXPECT_GT(static_cast<double>(det.parameter_bytes), 0.97 * static_cast<double>(det.file_bytes));
  EXPECT_GT(det.flops_by_op.at("Conv"), 0.9 * det.flops);
  // Fully convolutional: four times the pixels, four times the work but for the pooled branches.
  const auto large = describe_demo("ch_PP-OCRv4_det_infer.onnx", {{{"x", {1, 3, 1280, 1280}}}});
  EXPECT_NEAR(large.flops / det.flops, 4.0, 0.01);
  const auto rec = describe_demo("ch_PP-OCRv4_rec_infer.onnx");
  EXPECT_EQ(rec.shapes, (std::vector<ShapeSet>{{{"x", {1, 3, 48, 320}}}}));
  EXPECT_TRUE(rec.notes.empty());
  const auto cls = describe_demo("ch_ppocr_mobile_v2.0_cls_infer.onnx");
  EXPECT_EQ(cls.shapes, (std::vector<ShapeSet>{{{"x", {1, 3, 48, 192}}}}));
  EXPECT_TRUE(cls.notes.empty());
}

}  // namespace
}  // namespace ridgeline::workload
