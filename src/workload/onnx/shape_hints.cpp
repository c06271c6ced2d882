// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/shape_hints.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "workload/onnx/model_census.hpp"
#include "workload/onnx/model_walk.hpp"

namespace ridgeline::workload {
namespace {

constexpr std::int64_t kLargestImage = 1 << 14;

/// "[640, 480]", "640,480", "640".
std::optional<ImageHint> image_from_metadata(const onnx::ModelProto& model) {
  for (const auto& entry : model.metadata_props()) {
    if (entry.key() != "imgsz") continue;
    std::string text = entry.value();
    std::replace_if(
        text.begin(), text.end(), [](char c) { return std::string_view("[]()").find(c) != std::string_view::npos; },
        ' ');
    std::vector<std::int64_t> sizes;
    for (const auto& part : base::split(text, ',')) {
      const auto number = base::parse_integer(base::trim(part), "imgsz");
      if (!number || *number < 1 || *number > kLargestImage) return std::nullopt;
      sizes.push_back(*number);
    }
    if (sizes.empty() || sizes.size() > 2) return std::nullopt;
    return ImageHint{sizes.front(), sizes.back(), messages::DimImageSource::metadata};
  }
  return std::nullopt;
}

/// PP-OCR's published inference sizes (PaddleOCR, configs det/rec/cls: image_shape).
std::optional<ImageHint> image_from_name(const std::filesystem::path& path) {
  auto stem = path.stem().string();
  for (auto& c : stem) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto has = [&](const char* part) { return stem.find(part) != std::string::npos; };
  if (!has("ppocr") && !has("pp-ocr") && !has("pp_ocr")) return std::nullopt;
  if (has("cls")) return ImageHint{48, 192, messages::DimImageSource::directions};
  if (has("rec")) return ImageHint{48, 320, messages::DimImageSource::recognisers};
  if (has("det")) return ImageHint{640, 640, messages::DimImageSource::detectors};
  return std::nullopt;
}

/// Shapes of weights by name: initializers and Constant tensors of the main graph.
std::map<std::string, std::vector<std::int64_t>> weight_shapes(const onnx::GraphProto& graph) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& tensor : graph.initializer()) shapes[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
  for (const auto& node : graph.node())
    if (node.op_type() == "Constant" && node.output_size() == 1)
      for (const auto& attribute : node.attribute())
        if (attribute.has_t()) shapes[node.output(0)] = {attribute.t().dims().begin(), attribute.t().dims().end()};
  return shapes;
}

std::int64_t integer_attribute(const onnx::NodeProto& node, const char* name, std::int64_t otherwise) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return attribute.i();
  return otherwise;
}

/// The size that a node's weight forces on an axis of its first input.
struct ForcedAxis {
  std::size_t axis;
  std::int64_t size;
};

std::optional<ForcedAxis> forced_axis(const onnx::NodeProto& node, std::size_t rank,
                                      const std::vector<std::int64_t>& weight) {
  const auto& type = node.op_type();
  if (!normal_domain(node.domain()).empty() || rank < 2) return std::nullopt;
  const auto last = rank - 1;
  if (type == "Conv" && weight.size() >= 3 && rank == weight.size()) {
    const auto group = integer_attribute(node, "group", 1);
    if (group < 1 || weight[1] < 1 || group > (std::int64_t{1} << 40) / weight[1]) return std::nullopt;
    return ForcedAxis{1, weight[1] * group};
  }
  if (type == "ConvTranspose" && weight.size() >= 3 && rank == weight.size()) return ForcedAxis{1, weight[0]};
  if (type == "MatMul" && weight.size() >= 2) return ForcedAxis{last, weight[weight.size() - 2]};
  if (type == "Gemm" && weight.size() == 2 && rank == 2 && integer_attribute(node, "transA", 0) == 0)
    return ForcedAxis{1, integer_attribute(node, "transB", 0) != 0 ? weight[1] : weight[0]};
  if ((type == "LSTM" || type == "GRU" || type == "RNN") && weight.size() == 3 && rank == 3)
    return ForcedAxis{2, weight[2]};
  return std::nullopt;
}

void collect_known(const onnx::GraphProto& graph, const std::vector<schema::TensorDescription>& inputs,
                   ShapeHints& hints) {
  const auto weights = weight_shapes(graph);
  for (const auto& node : graph.node()) {
    if (node.input_size() < 2) continue;
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& one) { return one.name == node.input(0); });
    const auto weight = weights.find(node.input(1));
    if (input == inputs.end() || weight == weights.end()) continue;
    const auto forced = forced_axis(node, input->dims.size(), weight->second);
    if (forced && forced->size > 0 && input->dims[forced->axis] < 0)
      hints.known.try_emplace({input->name, forced->axis},
                              DimHint{forced->size, messages::dim_of_weights(node.op_type())});
  }
}

std::set<std::int64_t> hidden_sizes(const onnx::ModelProto& model) {
  std::set<std::int64_t> sizes;
  ModelVisitor visitor;
  visitor.node = [&](const onnx::NodeProto& node) {
    const auto& type = node.op_type();
    if (type != "LSTM" && type != "GRU" && type != "RNN") return;
    if (const auto size = integer_attribute(node, "hidden_size", 0); size > 0) sizes.insert(size);
  };
  walk_model(model, visitor);
  return sizes;
}

}  // namespace

ShapeHints collect_shape_hints(const onnx::ModelProto& model, const std::filesystem::path& path,
                               const std::vector<schema::TensorDescription>& inputs,
                               const std::vector<schema::TensorDescription>& outputs) {
  ShapeHints hints;
  hints.image = image_from_metadata(model);
  if (!hints.image) hints.image = image_from_name(path);
  hints.unranked = unranked_inputs(model);
  hints.classifies = !outputs.empty() && std::all_of(outputs.begin(), outputs.end(),
                                                     [](const auto& output) { return output.dims.size() == 2; });
  if (inputs.size() > 1) hints.hidden_sizes = hidden_sizes(model);
  collect_known(model.graph(), inputs, hints);
  return hints;
}

}  // namespace ridgeline::workload
