// SPDX-License-Identifier: Apache-2.0
// The list of built-in models, and the simplest of them.
#include "built_in.hpp"

namespace ridgeline::torch_plugin {
namespace {

class Mlp final : public BuiltIn {
 public:
  Mlp(const ModelInfo& info, const Options& options, const ModelRequest& request) : BuiltIn(request.device) {
    const auto depth = option(info, options, "depth", 1, 1000);
    const auto hidden = option(info, options, "hidden", 1, 1 << 20);
    auto width = elements(request.sample);
    for (std::int64_t i = 0; i < depth; ++i) {
      layers_.emplace_back(made_, width, hidden);
      width = hidden;
    }
    layers_.emplace_back(made_, width, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    auto x = input.flatten(1);
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) x = at::relu(layers_[i](x));
    return layers_.back()(x);
  }

 private:
  std::vector<Linear> layers_;
};

}  // namespace

const std::vector<ModelInfo>& built_in_models() {
  static const std::vector<ModelInfo> models{
      {"mlp", "fully connected layers with ReLU", "3x32x32", "10", {{"depth", "2"}, {"hidden", "512"}}},
      {"resnet18", "residual network, 18 layers", "3x224x224", "1000", {}},
      {"resnet50", "residual network, 50 layers", "3x224x224", "1000", {}},
      {"wideresnet", "wide residual network for small images", "3x32x32", "10", {{"depth", "28"}, {"width", "10"}}},
      {"vit-tiny",
       "vision transformer, tiny",
       "3x224x224",
       "1000",
       {{"patch", "16"}, {"width", "192"}, {"depth", "12"}, {"heads", "3"}}},
      {"vit-small",
       "vision transformer, small",
       "3x224x224",
       "1000",
       {{"patch", "16"}, {"width", "384"}, {"depth", "12"}, {"heads", "6"}}},
      {"transformer",
       "transformer encoder over vectors or tokens",
       "128x64",
       "10",
       {{"depth", "4"}, {"hidden", "256"}, {"heads", "4"}, {"vocabulary", "32000"}}},
      {"gnn",
       "message-passing network on a grid or a row of nodes",
       "4x16x16",
       "10",
       {{"depth", "3"}, {"hidden", "16"}, {"neighbours", "4"}}},
  };
  return models;
}

const ModelInfo* find_model(const std::string& name) {
  for (const auto& model : built_in_models())
    if (model.name == name) return &model;
  return nullptr;
}

std::unique_ptr<Model> make_model(const ModelInfo& info, const Options& options, const ModelRequest& request) {
  if (info.name == "mlp") return std::make_unique<Mlp>(info, options, request);
  if (info.name == "transformer") return make_sequence_model(info, options, request);
  if (info.name == "gnn") return make_graph_model(info, options, request);
  return make_image_model(info, options, request);
}

}  // namespace ridgeline::torch_plugin
