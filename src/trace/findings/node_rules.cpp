// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/findings/rules.hpp"
#include "trace/messages.hpp"
#include "trace/node_launches.hpp"

namespace ridgeline::trace {
namespace {

bool is_elementwise(std::string_view operation) {
  static constexpr std::array kElementwise{
      "Add", "Sub",         "Mul",       "Div", "Relu",      "Clip", "Sigmoid", "Tanh",      "Erf",  "Sqrt",
      "Pow", "HardSigmoid", "HardSwish", "Exp", "LeakyRelu", "Neg",  "Gelu",    "QuickGelu", "Where"};
  return std::find(kElementwise.begin(), kElementwise.end(), operation) != kElementwise.end();
}

class NodeWalk {
 public:
  explicit NodeWalk(const Case& of)
      : of_(of),
        nodes_(of.analysed.trace.nodes),
        chains_(of.analysed.trace.strings),
        unfused_(of.analysed.trace.strings),
        layouts_(of.analysed.trace.strings),
        attention_(of.analysed.trace.strings) {}

  void walk() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (of_.analysed.is_unusual(i)) continue;
      const auto what = operation(i);
      if (what == "ReorderInput" || what == "ReorderOutput" || what == "Transpose" || what == "Cast" ||
          what == "Identity")
        add(layouts_, i);
      const bool behind_convolution = follows(i) && operation(i - 1) == "Conv";
      if (behind_convolution && (what == "BatchNormalization" || what == "Relu" || what == "Clip")) add(unfused_, i);
      if (what == "Softmax" && follows(i)) attention_at(i);
      if (is_elementwise(what) && !(follows(i) && is_elementwise(operation(i - 1)))) chain_from(i);
    }
  }

  void tell() const {
    of_.add(chains_, {&messages::advice_fuse_chains_of_nodes, "ridgeline tune model.onnx --provider auto"},
            messages::elementwise_chain({.chains = of_a_run(chains_.count()),
                                         .of = messages::ElementwiseChainOf::nodes,
                                         .time = of_a_run_ns(chains_.time_ns()),
                                         .fused = of_a_run_ns(chains_.time_ns() - chains_.saving_ns()),
                                         .a_run = of_.tables.runs > 1}),
            messages::computed_chains(messages::ComputedChainsOf::nodes),
            chains_.bytes() == 0 ? schema::Message()
                                 : messages::intermediate_bytes({.bytes = bytes_of_a_run(chains_),
                                                                 .from = messages::IntermediateBytesFrom::shapes}));
    of_.add(unfused_,
            {&messages::advice_fold_normalization,
             "SessionOptions.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL"},
            messages::unfused_normalization({.nodes = of_a_run(unfused_.count()),
                                             .time = of_a_run_ns(unfused_.time_ns()),
                                             .a_run = of_.tables.runs > 1}),
            messages::computed_normalization(), moved_bytes(unfused_));
    of_.add(layouts_, {&messages::advice_layout_of_nodes, "ridgeline tune model.onnx --provider auto"},
            messages::layout({.of = messages::LayoutOf::nodes,
                              .time = of_a_run_ns(layouts_.time_ns()),
                              .count = of_a_run(layouts_.count()),
                              .a_run = of_.tables.runs > 1}),
            messages::computed_time(), moved_bytes(layouts_));
    of_.add(attention_,
            {&messages::advice_fuse_attention_onnx,
             "python -m onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx --model_type bert"},
            messages::unfused_attention({.count = of_a_run(attention_.count()),
                                         .of = messages::UnfusedAttentionOf::nodes,
                                         .time = of_a_run_ns(attention_.time_ns()),
                                         .a_run = of_.tables.runs > 1}),
            messages::computed_attention_nodes(), moved_bytes(attention_));
  }

 private:
  [[nodiscard]] std::string_view operation(std::size_t i) const {
    return of_.analysed.trace.strings.text(nodes_.operation[i]);
  }
  /// Of two results: an attention multiplies no parameters.
  [[nodiscard]] bool is_product_of_attention(std::size_t i) const {
    return operation(i).find("MatMul") != std::string_view::npos && nodes_.parameter_bytes[i] == 0;
  }
  /// What the node stands in; "" in a model without such parts.
  [[nodiscard]] std::string module_of(std::size_t i) const {
    const auto& attribution = of_.analysed.attribution;
    return path_of(attribution, attribution.rows[attribution.row_of_node[i]].parent);
  }
  void add(Tally& tally, std::size_t i) const {
    tally.add(module_of(i), nodes_.duration_ns[i], nodes_.duration_ns[i]);
    tally.add_row(nodes_.name[i], nodes_.duration_ns[i]);
    tally.add_bytes(static_cast<double>(nodes_.bytes(i)));
  }

  [[nodiscard]] bool same_run(std::size_t a, std::size_t b) const {
    return nodes_.lane[a] == nodes_.lane[b] && of_.analysed.step_of_node[a] == of_.analysed.step_of_node[b];
  }
  [[nodiscard]] bool follows(std::size_t i) const { return i > 0 && same_run(i, i - 1); }

  void chain_from(std::size_t first) {
    std::int64_t sum = 0;
    std::int64_t longest = 0;
    auto end = first;
    while (end < nodes_.size() && is_elementwise(operation(end)) && (end == first || follows(end))) {
      sum += nodes_.duration_ns[end];
      longest = std::max(longest, nodes_.duration_ns[end]);
      ++end;
    }
    if (end - first < 2) return;
    chains_.add(module_of(first), sum - longest, sum);
    for (auto i = first; i < end; ++i) {
      chains_.add_row(nodes_.name[i], nodes_.duration_ns[i]);
      // What all but the last make is written, and read by the next.
      if (i + 1 < end) chains_.add_bytes(2 * static_cast<double>(nodes_.output_bytes[i]));
    }
  }

  void attention_at(std::size_t softmax) {
    std::vector<std::size_t> between{softmax};
    const auto reaches_product = [&](int step) {
      for (auto i = static_cast<std::ptrdiff_t>(softmax) + step;
           i >= 0 && i < static_cast<std::ptrdiff_t>(nodes_.size()); i += step) {
        const auto at = static_cast<std::size_t>(i);
        if (!same_run(at, softmax)) return false;
        if (is_product_of_attention(at)) return true;
        if (is_elementwise(operation(at)))
          between.push_back(at);
        else if (operation(at) != "Cast" && operation(at) != "Transpose")
          return false;
      }
      return false;
    };
    if (!reaches_product(-1) || !reaches_product(1)) return;
    std::int64_t sum = 0;
    for (const auto i : between) {
      sum += nodes_.duration_ns[i];
      attention_.add_row(nodes_.name[i], nodes_.duration_ns[i]);
      attention_.add_bytes(static_cast<double>(nodes_.bytes(i)));
    }
    attention_.add(module_of(softmax), sum, sum);
  }

  /// People think of one run.
  [[nodiscard]] std::int64_t of_a_run(std::int64_t count) const {
    return std::max<std::int64_t>(1, count / of_.tables.runs);
  }
  [[nodiscard]] double of_a_run_ns(std::int64_t ns) const { return static_cast<double>(ns / of_.tables.runs); }
  [[nodiscard]] double bytes_of_a_run(const Tally& tally) const {
    return tally.bytes() / static_cast<double>(of_.tables.runs);
  }
  [[nodiscard]] schema::Message moved_bytes(const Tally& tally) const {
    if (tally.bytes() == 0) return {};
    return messages::bytes_moved({.bytes = bytes_of_a_run(tally), .from = messages::BytesMovedFrom::shapes});
  }

  const Case& of_;
  const Nodes& nodes_;
  Tally chains_;
  Tally unfused_;
  Tally layouts_;
  Tally attention_;
};

}  // namespace

void node_rules(const Case& of) {
  const auto& trace = of.analysed.trace;
  // Launches do not say what work costs.
  if (trace.nodes.size() == 0 || trace.kernels.size() > 0 || !LaunchNodes(trace).empty()) return;
  NodeWalk walk(of);
  walk.walk();
  walk.tell();
}

}  // namespace ridgeline::trace
