// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/graph_shapes.hpp"

#include <gtest/gtest.h>

#include "fakes/onnx_builder.hpp"

namespace ridgeline::workload {
namespace {

using fakes::OnnxBuilder;
using Dims = std::vector<std::int64_t>;

struct Seen {
  std::map<std::string, std::optional<Dims>> shapes;  // by output name
  std::map<std::string, double> repeats;              // by operator
  ShapeReport report;
};

Seen look(const OnnxBuilder& builder, const schema::ShapeSet& shapes = {}) {
  Seen seen;
  seen.report = infer_shapes(builder.model, shapes, [&](const TypedNode& node) {
    seen.repeats[node.node.op_type()] += node.repeats;
    for (int i = 0; i < node.node.output_size(); ++i)
      seen.shapes[node.node.output(i)] = concrete_dims(node.outputs[static_cast<std::size_t>(i)]);
  });
  return seen;
}

TEST(GraphShapes, follows_shape_arithmetic_into_a_reshape) {
  OnnxBuilder model;
  model.input("x", {"N", 6, "H", 4}).integers("zero", {0}).integers("two", {2}).integers("half", {2});
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"}).node("Gather", {"s", "two"}, {"h"});
  model.node("Div", {"h", "half"}, {"h2"}).node("Mul", {"n", "half"}, {"n2"}).integers("rest", {-1});
  model.node("Concat", {"n2", "h2", "rest"}, {"to"}).integer("axis", 0).node("Reshape", {"x", "to"}, {"y"}).output("y");
  const auto seen = look(model, {{"x", {3, 6, 10, 4}}});
  EXPECT_EQ(seen.shapes.at("y"), (Dims{6, 5, 24}));
  EXPECT_EQ(seen.report.shapeless_nodes, 0);
  EXPECT_TRUE(seen.report.contradictions.empty());
}

TEST(GraphShapes, takes_the_branch_that_constants_decide_and_half_of_each_otherwise) {
  OnnxBuilder yes, no;
  yes.node("Relu", {"x"}, {"a"}).output("a", {2, 3});
  no.node("Neg", {"x"}, {"b"}).output("b", {2, 3});
  OnnxBuilder known;
  known.input("x", {2, 3}).integers("one", {1}).integers("also", {1}).node("Equal", {"one", "also"}, {"c"});
  known.node("If", {"c"}, {"y"}).graph("then_branch", yes).graph("else_branch", no).output("y");
  const auto decided = look(known);
  EXPECT_EQ(decided.repeats.count("Neg"), 0U);
  EXPECT_EQ(decided.repeats.at("Relu"), 1.0);
  OnnxBuilder open;
  open.input("x", {2, 3}).input("c", {1}, onnx::TensorProto::BOOL);
  open.node("If", {"c"}, {"y"})
      .graph("then_branch", yes)
      .graph("else_branch", no)
      .node("Abs", {"y"}, {"z"})
      .output("z");
  const auto undecided = look(open);
  EXPECT_TRUE(undecided.report.unknown_branch);
  EXPECT_EQ(undecided.repeats.at("Relu") + undecided.repeats.at("Neg"), 1.0);
  EXPECT_EQ(undecided.shapes.at("z"), (Dims{2, 3}));
}

TEST(GraphShapes, runs_a_loop_body_as_often_as_its_constant_trip_count) {
  OnnxBuilder body;
  body.input("i", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL).input("v", {2, 3});
  body.node("Identity", {"go"}, {"go2"}).node("Relu", {"v"}, {"v2"}).output("go2").output("v2");
  OnnxBuilder model;
  model.input("x", {2, 3}).integers("trips", {7});
  model.node("Loop", {"trips", "", "x"}, {"y"}).graph("body", body).node("Neg", {"y"}, {"z"}).output("z");
  const auto seen = look(model);
  EXPECT_EQ(seen.repeats.at("Relu"), 7.0);
  EXPECT_EQ(seen.shapes.at("z"), (Dims{2, 3}));
  EXPECT_FALSE(seen.report.unknown_trip_count);
}

TEST(GraphShapes, enters_local_functions_and_survives_one_that_calls_itself) {
  OnnxBuilder model;
  model.opset("local", 1).input("x", {5}).node("Twice", {"x"}, {"y"}, "local").output("y");
  auto* function = model.model.add_functions();
  function->set_domain("local");
  function->set_name("Twice");
  function->add_input("a");
  function->add_output("c");
  OnnxBuilder::fill(*function->add_node(), "Relu", {"a"}, {"b"}, "");
  OnnxBuilder::fill(*function->add_node(), "Neg", {"b"}, {"c"}, "");
  const auto seen = look(model);
  EXPECT_EQ(seen.shapes.at("c"), (Dims{5}));
  OnnxBuilder::fill(*function->add_node(), "Twice", {"c"}, {"d"}, "local");
  EXPECT_GE(look(model).repeats.at("Relu"), 1.0);
}

TEST(GraphShapes, reports_contradictions_and_unknown_operators_and_goes_on) {
  OnnxBuilder model;
  model.opset("acme", 1).input("a", {2, 3}).input("b", {4, 5});
  model.node("MatMul", {"a", "b"}, {"bad"})
      .node("Mystery", {"a"}, {"m"}, "acme")
      .node("Relu", {"a"}, {"fine"})
      .output("fine");
  const auto seen = look(model);
  ASSERT_EQ(seen.report.contradictions.size(), 1U);
  EXPECT_NE(seen.report.contradictions[0].find("MatMul"), std::string::npos);
  EXPECT_EQ(seen.report.unknown_operators, (std::map<std::string, std::int64_t>{{"acme.Mystery", 1}}));
  EXPECT_EQ(seen.shapes.at("fine"), (Dims{2, 3}));
  EXPECT_EQ(seen.report.shapeless_nodes, 2);
}

TEST(GraphShapes, knows_reductions_and_activations_newer_than_libonnx) {
  OnnxBuilder model(20);
  model.input("x", {2, 3, 4}).integers("axes", {1}).node("ReduceMean", {"x", "axes"}, {"r"}).integer("keepdims", 0);
  model.node("Gelu", {"r"}, {"y"}).output("y");
  const auto seen = look(model);
  EXPECT_EQ(seen.shapes.at("r"), (Dims{2, 4}));
  EXPECT_EQ(seen.shapes.at("y"), (Dims{2, 4}));
}

TEST(GraphShapes, knows_the_products_that_onnxruntime_fuses) {
  OnnxBuilder model;
  model.opset("com.microsoft", 1).input("a", {2, 1, 4, 8}).input("b", {3, 5, 8}).input("c", {7, 4});
  model.node("FusedMatMul", {"a", "b"}, {"y"}, "com.microsoft").integer("transB", 1);
  model.node("FusedMatMul", {"c", "c"}, {"g"}, "com.microsoft").integer("transA", 1);
  model.node("FusedGemm", {"c", "c"}, {"s"}, "com.microsoft").integer("transB", 1).text("activation", "Relu");
  model.node("FusedMatMul", {"a", "c"}, {"bad"}, "com.microsoft");
  model.input("q", {4, 2, 3, 8});  // rows, batch, heads, columns
  model.node("FusedMatMul", {"q", "q"}, {"h"}, "com.microsoft").integer("transBatchA", 1);
  model.integer("transBatchB", 1).integer("transB", 1).output("y");
  const auto seen = look(model);
  EXPECT_EQ(seen.shapes.at("y"), (Dims{2, 3, 4, 5}));
  EXPECT_EQ(seen.shapes.at("g"), (Dims{4, 4}));
  EXPECT_EQ(seen.shapes.at("s"), (Dims{7, 7}));
  EXPECT_FALSE(seen.shapes.at("bad"));
  EXPECT_EQ(seen.shapes.at("h"), (Dims{2, 3, 4, 4}));
}

TEST(GraphShapes, does_not_divide_by_a_stride_of_zero) {
  OnnxBuilder model;
  model.input("x", {1, 3, 8, 8})
      .weight("w", {4, 3, 3, 3})
      .node("Conv", {"x", "w"}, {"y"})
      .ints("strides", {0, 1})
      .output("y");
  const auto seen = look(model);
  ASSERT_EQ(seen.report.contradictions.size(), 1U);
  EXPECT_NE(seen.report.contradictions[0].find("strides"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::workload
