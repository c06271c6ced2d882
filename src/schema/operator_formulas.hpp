// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "schema/operator_flops.hpp"

namespace ridgeline::schema {

/// Formulas for operators whose cost is more than so much an element. Each gives nullopt when a shape that it needs
/// is unknown or does not fit the operator.

/// 2 x outputs x (input channels / group) x kernel elements, + outputs for a bias. Weights are input `weight`,
/// [M, C/group, kernel...]; the bias is input `bias`.
[[nodiscard]] std::optional<double> conv_flops(const OperatorCall& call, std::size_t weight, std::size_t bias);
/// 2 x inputs x (output channels / group) x kernel elements, + outputs for a bias; weights [C, M/group, kernel...].
[[nodiscard]] std::optional<double> conv_transpose_flops(const OperatorCall& call);
/// 2 x outputs x K, with K the last dimension of the first operand; `right` is the index of the second.
[[nodiscard]] std::optional<double> matmul_flops(const OperatorCall& call, std::size_t right);
/// 2 x M x N x K, + M x N when C is added.
[[nodiscard]] std::optional<double> gemm_flops(const OperatorCall& call);
/// Product of all label sizes times the number of operands (n-1 multiplications and an addition); none when one
/// operand is only rearranged.
[[nodiscard]] std::optional<double> einsum_flops(const OperatorCall& call);
/// outputs x kernel elements: an addition or comparison each.
[[nodiscard]] std::optional<double> pool_flops(const OperatorCall& call);
/// Sequence x batch x directions x (2 x gates x H x (I + H) + elementwise work), gates: LSTM 4, GRU 3, RNN 1.
/// Elementwise for each hidden unit, biases added: LSTM 8 + 3 sigmoids of 4 + 2 tanh + 4 = 26; GRU 6 + 2 x 4 + 1 + 5 =
/// 20; RNN 2 + 1 = 3.
[[nodiscard]] std::optional<double> recurrent_flops(const OperatorCall& call);
/// Outputs x work: nearest 0; linear 3 for each of the 2^n - 1 interpolations over the n resized axes; cubic 2 x 4^n.
[[nodiscard]] std::optional<double> resize_flops(const OperatorCall& call);
/// Inputs x (size of the window x 2 + 3): squares, sum, power, scale, division.
[[nodiscard]] std::optional<double> lrn_flops(const OperatorCall& call);
/// com.microsoft Attention (query, key and value projected from input 0 by input 1), MultiHeadAttention and
/// GroupQueryAttention (already projected): the products alone, as attention is counted in the literature, so that the
/// number of heads does not matter: 4 x batch x S x T x hidden for scores and values, + 2 x batch x S x I x 3H for the
/// projection. T counts what is remembered of earlier calls where the shape of the second output tells.
[[nodiscard]] std::optional<double> attention_flops(const OperatorCall& call);

/// Elements of an input or output; nullopt when unknown.
[[nodiscard]] std::optional<double> elements_of(const std::vector<Operand>& operands, std::size_t index);

}  // namespace ridgeline::schema
