// SPDX-License-Identifier: Apache-2.0
#include "schema/operator_flops.hpp"

#include <map>
#include <set>
#include <string>

#include "schema/operator_formulas.hpp"

namespace ridgeline::schema {
namespace {

using Formula = std::optional<double> (*)(const OperatorCall&);

std::optional<double> qlinear_conv(const OperatorCall& call) { return conv_flops(call, 3, 8); }
std::optional<double> plain_conv(const OperatorCall& call) { return conv_flops(call, 1, 2); }
std::optional<double> integer_conv(const OperatorCall& call) {
  return conv_flops(call, 1, 99);
}  // its input 2 is no bias
std::optional<double> plain_matmul(const OperatorCall& call) { return matmul_flops(call, 1); }
std::optional<double> qlinear_matmul(const OperatorCall& call) { return matmul_flops(call, 3); }

/// n operands, element by element: n - 1 operations an output element.
std::optional<double> variadic(const OperatorCall& call) {
  const auto outputs = elements_of(call.outputs, 0);
  if (!outputs) return std::nullopt;
  return *outputs * static_cast<double>(call.inputs.empty() ? 0 : call.inputs.size() - 1);
}

const std::map<std::string, Formula, std::less<>>& formulas() {
  static const std::map<std::string, Formula, std::less<>> rows = {
      {"Conv", plain_conv},
      {"com.microsoft.FusedConv", plain_conv},
      {"com.microsoft.NhwcFusedConv", plain_conv},
      {"ConvInteger", integer_conv},
      {"QLinearConv", qlinear_conv},
      {"ConvTranspose", conv_transpose_flops},
      {"MatMul", plain_matmul},
      {"MatMulInteger", plain_matmul},
      {"QLinearMatMul", qlinear_matmul},
      {"com.microsoft.FusedMatMul", plain_matmul},
      {"com.microsoft.MatMulNBits", plain_matmul},
      {"com.microsoft.MatMulIntegerToFloat", plain_matmul},
      {"com.microsoft.DynamicQuantizeMatMul", plain_matmul},
      {"Gemm", gemm_flops},
      {"com.microsoft.FusedGemm", gemm_flops},
      {"Einsum", einsum_flops},
      {"AveragePool", pool_flops},
      {"MaxPool", pool_flops},
      {"LpPool", pool_flops},
      {"LSTM", recurrent_flops},
      {"GRU", recurrent_flops},
      {"RNN", recurrent_flops},
      {"Resize", resize_flops},
      {"Upsample", resize_flops},
      {"LRN", lrn_flops},
      {"Sum", variadic},
      {"Mean", variadic},
      {"Max", variadic},
      {"Min", variadic},
      {"com.microsoft.Attention", attention_flops},
      {"com.microsoft.MultiHeadAttention", attention_flops},
      {"com.microsoft.GroupQueryAttention", attention_flops},
  };
  return rows;
}

/// Operations an output element.
const std::map<std::string, double, std::less<>>& per_output() {
  static const std::map<std::string, double, std::less<>> rows = {
      // one arithmetic operation, comparison or elementary function
      {"Add", 1},
      {"Sub", 1},
      {"Mul", 1},
      {"Div", 1},
      {"Mod", 1},
      {"Pow", 1},
      {"Neg", 1},
      {"Abs", 1},
      {"Sign", 1},
      {"Reciprocal", 1},
      {"Sqrt", 1},
      {"Exp", 1},
      {"Log", 1},
      {"Erf", 1},
      {"Floor", 1},
      {"Ceil", 1},
      {"Round", 1},
      {"Sin", 1},
      {"Cos", 1},
      {"Tan", 1},
      {"Asin", 1},
      {"Acos", 1},
      {"Atan", 1},
      {"Sinh", 1},
      {"Cosh", 1},
      {"Tanh", 1},
      {"Asinh", 1},
      {"Acosh", 1},
      {"Atanh", 1},
      {"Relu", 1},
      {"ThresholdedRelu", 1},
      {"And", 1},
      {"Or", 1},
      {"Xor", 1},
      {"Not", 1},
      {"BitShift", 1},
      {"BitwiseAnd", 1},
      {"BitwiseOr", 1},
      {"BitwiseXor", 1},
      {"BitwiseNot", 1},
      {"Equal", 1},
      {"Less", 1},
      {"LessOrEqual", 1},
      {"Greater", 1},
      {"GreaterOrEqual", 1},
      {"Where", 1},
      {"IsNaN", 1},
      {"IsInf", 1},
      {"CumSum", 1},
      {"Clip", 2},       // two comparisons
      {"LeakyRelu", 2},  // comparison, multiplication
      {"PRelu", 2},
      {"Shrink", 2},
      {"Elu", 4},          // comparison, exp, subtraction, multiplication
      {"Celu", 5},         // and a division
      {"Selu", 5},         // and a multiplication
      {"Sigmoid", 4},      // 1 / (1 + exp(-x))
      {"HardSigmoid", 4},  // max(0, min(1, a x + b))
      {"HardSwish", 5},    // x HardSigmoid(x)
      {"Swish", 5},        // x sigmoid(x)
      {"Softplus", 3},     // log(1 + exp(x))
      {"Softsign", 3},     // x / (1 + |x|)
      {"Mish", 5},         // x tanh(softplus(x))
      {"Gelu", 5},         // 0.5 x (1 + erf(x / sqrt 2))
      {"com.microsoft.Gelu", 5},
      {"com.microsoft.FastGelu", 9},  // 0.5 x (1 + tanh(x (a + b x x))) as polynomial and tanh, + bias
      {"com.microsoft.BiasGelu", 6},
      {"com.microsoft.QuickGelu", 6},   // x sigmoid(a x)
      {"QuantizeLinear", 4},            // division, rounding, zero point, saturation
      {"DequantizeLinear", 2},          // zero point, scale
      {"com.microsoft.QLinearAdd", 9},  // two dequantised operands, the sum, requantised
      {"com.microsoft.QLinearMul", 9},
      {"com.microsoft.QLinearSigmoid", 10},
      {"BatchNormalization", 2},  // inference: one scale and one shift, folded
  };
  return rows;
}

/// Operations an element of the first input.
const std::map<std::string, double, std::less<>>& per_input() {
  static const std::map<std::string, double, std::less<>> rows = {
      {"GlobalAveragePool", 1},
      {"GlobalMaxPool", 1},
      {"GlobalLpPool", 2},
      {"ReduceSum", 1},
      {"ReduceMean", 1},
      {"ReduceMax", 1},
      {"ReduceMin", 1},
      {"ReduceProd", 1},
      {"ArgMax", 1},
      {"ArgMin", 1},
      {"TopK", 1},
      {"Hardmax", 1},
      {"ReduceL1", 2},  // absolute value, sum
      {"ReduceL2", 2},  // square, sum
      {"ReduceSumSquare", 2},
      {"ReduceLogSum", 1},
      {"ReduceLogSumExp", 4},  // maximum, subtraction, exp, sum
      {"Softmax", 5},          // maximum, subtraction, exp, sum, division
      {"LogSoftmax", 5},
      {"com.microsoft.BiasSoftmax", 6},
      // sum, centre, square, sum, multiply by 1/deviation, scale, shift
      {"InstanceNormalization", 7},
      {"LayerNormalization", 7},
      {"GroupNormalization", 7},
      {"com.microsoft.GroupNorm", 7},
      {"com.microsoft.SkipLayerNormalization", 8},  // and the skip connection
      {"com.microsoft.SkipGroupNorm", 8},
      {"MeanVarianceNormalization", 5},  // without scale and shift
      // square, sum, multiply by 1/root, scale
      {"RMSNormalization", 4},
      {"SimplifiedLayerNormalization", 4},
      {"com.microsoft.SimplifiedLayerNormalization", 4},
      {"com.microsoft.SkipSimplifiedLayerNormalization", 5},
      {"LpNormalization", 3},        // square, sum, division
      {"DynamicQuantizeLinear", 6},  // minimum, maximum, then as QuantizeLinear
      {"RotaryEmbedding", 3},        // two multiplications and an addition
      {"com.microsoft.RotaryEmbedding", 3},
  };
  return rows;
}

/// Operators that reinterpret their input without moving it.
const std::set<std::string, std::less<>>& views() {
  static const std::set<std::string, std::less<>> names = {
      "Reshape", "Squeeze", "Unsqueeze", "Flatten",  "Identity",
      "Shape",   "Size",    "Dropout",   "Optional", "OptionalGetElement"};
  return names;
}

/// Moving, selecting, making or converting elements; control flow is counted inside.
const std::set<std::string, std::less<>>& free_operators() {
  static const std::set<std::string, std::less<>> names = {"Constant",
                                                           "ConstantOfShape",
                                                           "Cast",
                                                           "CastLike",
                                                           "Concat",
                                                           "Split",
                                                           "Slice",
                                                           "Gather",
                                                           "GatherElements",
                                                           "GatherND",
                                                           "Scatter",
                                                           "ScatterElements",
                                                           "ScatterND",
                                                           "Transpose",
                                                           "Expand",
                                                           "Tile",
                                                           "Pad",
                                                           "CenterCropPad",
                                                           "DepthToSpace",
                                                           "SpaceToDepth",
                                                           "ReverseSequence",
                                                           "EyeLike",
                                                           "Range",
                                                           "OneHot",
                                                           "NonZero",
                                                           "Compress",
                                                           "Trilu",
                                                           "If",
                                                           "Loop",
                                                           "Scan",
                                                           "SequenceConstruct",
                                                           "SequenceEmpty",
                                                           "SequenceInsert",
                                                           "SequenceErase",
                                                           "SequenceAt",
                                                           "SequenceLength",
                                                           "SplitToSequence",
                                                           "ConcatFromSequence",
                                                           "OptionalHasElement",
                                                           "ReorderInput",
                                                           "ReorderOutput",
                                                           "MemcpyFromHost",
                                                           "MemcpyToHost"};
  return names;
}

FlopCount counted(std::optional<double> flops) {
  if (!flops) return {FlopKnowledge::unknown_shape, 0};
  return {FlopKnowledge::counted, *flops};
}

}  // namespace

bool is_view(std::string_view operator_name) { return views().count(operator_name) != 0; }

FlopCount count_flops(const OperatorCall& call) {
  if (is_view(call.name) || free_operators().count(call.name) != 0) return {FlopKnowledge::counted, 0};
  if (const auto row = formulas().find(call.name); row != formulas().end()) return counted(row->second(call));
  const auto scaled = [](std::optional<double> elements, double each) {
    return counted(elements ? std::optional<double>(*elements * each) : std::nullopt);
  };
  if (const auto row = per_output().find(call.name); row != per_output().end())
    return scaled(elements_of(call.outputs, 0), row->second);
  if (const auto row = per_input().find(call.name); row != per_input().end())
    return scaled(elements_of(call.inputs, 0), row->second);
  return {};
}

}  // namespace ridgeline::schema
