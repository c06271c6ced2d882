// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/findings/rules.hpp"

namespace ridgeline::trace {
namespace {

bool is_elementwise(std::string_view operation) {
  static constexpr std::array kElementwise{
      "Add", "Sub",         "Mul",       "Div", "Relu",      "Clip", "Sigmoid", "Tanh",      "Erf",  "Sqrt",
      "Pow", "HardSigmoid", "HardSwish", "Exp", "LeakyRelu", "Neg",  "Gelu",    "QuickGelu", "Where"};
  return std::find(kElementwise.begin(), kElementwise.end(), operation) != kElementwise.end();
}

struct NodeTally {
  std::int64_t time_ns = 0;
  std::int64_t count = 0;
  std::map<std::string, std::int64_t> nodes;
  void add(const std::string& name, std::int64_t ns) {
    time_ns += ns;
    ++count;
    nodes[name] += ns;
  }
};

class NodeWalk {
 public:
  explicit NodeWalk(const Case& of) : of_(of), nodes_(of.analysed.trace.nodes) {}

  void tell() {
    walk();
    tell_of(chains_, "elementwise-chain", "elementwise nodes follow each other",
            "their time, less that of each chain's longest node, which one pass over the data takes about",
            "Let a provider that compiles the graph fuse them (OpenVINO, TensorRT); tune says which is fastest.",
            "ridgeline tune model.onnx --provider auto");
    tell_of(unfused_, "unfused-normalization", "nodes could be part of the convolution before them",
            "their time: as part of a convolution's weights or its epilogue they cost next to nothing",
            "Turn graph optimization on, or fold them when the model is exported.",
            "SessionOptions.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL");
    tell_of(
        layouts_, "layout", "nodes only move data: layouts, copies, casts", "their time",
        "Another level of graph optimization or another provider may do without them; casts vanish where both sides "
        "take the type.",
        "ridgeline tune model.onnx --provider auto");
    tell_of(attention_, "unfused-attention", "softmaxes stand between two products: an attention that is not fused",
            "the softmax and what is elementwise beside it", "Let ONNX Runtime's transformer optimizer fuse it.",
            "python -m onnxruntime.transformers.optimizer --input model.onnx --output fused.onnx --model_type bert");
  }

 private:
  [[nodiscard]] std::string_view operation(std::size_t i) const {
    return of_.analysed.trace.strings.text(nodes_.operation[i]);
  }
  [[nodiscard]] bool is_product(std::size_t i) const {
    return operation(i).find("MatMul") != std::string_view::npos || operation(i) == "Gemm";
  }

  /// Of the same thread and step.
  [[nodiscard]] bool follows(std::size_t i) const {
    return i > 0 && nodes_.lane[i] == nodes_.lane[i - 1] &&
           of_.analysed.steps.at(nodes_.start_ns[i]) == of_.analysed.steps.at(nodes_.start_ns[i - 1]);
  }

  void walk() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto name = std::string(of_.analysed.trace.strings.text(nodes_.name[i]));
      const auto what = operation(i);
      if (what == "ReorderInput" || what == "ReorderOutput" || what == "Transpose" || what == "Cast" ||
          what == "Identity")
        layouts_.add(name, nodes_.duration_ns[i]);
      const bool behind_convolution = follows(i) && operation(i - 1) == "Conv";
      if (behind_convolution && (what == "BatchNormalization" || what == "Relu" || what == "Clip"))
        unfused_.add(name, nodes_.duration_ns[i]);
      if (what == "Softmax" && follows(i)) attention_at(i, name);
      if (is_elementwise(what) && !(follows(i) && is_elementwise(operation(i - 1)))) chain_from(i);
    }
  }

  void chain_from(std::size_t first) {
    auto longest = first;
    auto end = first;
    while (end < nodes_.size() && is_elementwise(operation(end)) && (end == first || follows(end))) {
      if (nodes_.duration_ns[end] > nodes_.duration_ns[longest]) longest = end;
      ++end;
    }
    if (end - first < 2) return;
    for (auto i = first; i < end; ++i)
      if (i != longest)
        chains_.add(std::string(of_.analysed.trace.strings.text(nodes_.name[i])), nodes_.duration_ns[i]);
  }

  void attention_at(std::size_t softmax, const std::string& name) {
    const auto reaches = [&](int step) {
      for (auto i = static_cast<std::ptrdiff_t>(softmax) + step;
           i >= 0 && i < static_cast<std::ptrdiff_t>(nodes_.size()); i += step) {
        const auto at = static_cast<std::size_t>(i);
        if (is_product(at)) return true;
        if (!is_elementwise(operation(at)) && operation(at) != "Cast" && operation(at) != "Transpose") return false;
      }
      return false;
    };
    if (reaches(-1) && reaches(1)) attention_.add(name, nodes_.duration_ns[softmax]);
  }

  void tell_of(const NodeTally& tally, std::string_view rule, std::string_view what, std::string_view computed,
               std::string_view advice, std::string_view code) const {
    if (tally.count == 0) return;
    schema::ProfileFinding finding;
    finding.rule = rule;
    finding.saving_ns = tally.time_ns;
    // People think of one run.
    const auto of_a_run = [&](std::int64_t ns) {
      return base::format_duration(static_cast<double>(ns) / static_cast<double>(of_.tables.runs));
    };
    finding.title = fmt::format("{} {}: {}{}", tally.nodes.size(), what, of_a_run(tally.time_ns),
                                of_.tables.runs > 1 ? " a run" : "");
    std::vector<std::pair<std::string, std::int64_t>> sorted(tally.nodes.begin(), tally.nodes.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min<std::size_t>(3, sorted.size()); ++i)
      finding.evidence.push_back(fmt::format("{} in {}", of_a_run(sorted[i].second), sorted[i].first));
    finding.computed = computed;
    finding.advice = advice;
    finding.code = code;
    of_.add(std::move(finding));
  }

  const Case& of_;
  const Nodes& nodes_;
  NodeTally chains_;
  NodeTally unfused_;
  NodeTally layouts_;
  NodeTally attention_;
};

}  // namespace

void node_rules(const Case& of) {
  if (of.analysed.trace.nodes.size() > 0 && of.analysed.trace.kernels.size() == 0) NodeWalk(of).tell();
}

}  // namespace ridgeline::trace
