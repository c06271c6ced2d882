// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "errors.hpp"
#include "layers.hpp"
#include "model.hpp"

namespace ridgeline::torch_plugin {

/// An option that the model has, with the model's default.
inline std::int64_t option(const ModelInfo& info, const Options& options, const char* name, std::int64_t low,
                           std::int64_t high) {
  const auto found = std::find_if(info.options.begin(), info.options.end(),
                                  [&](const auto& candidate) { return candidate.first == name; });
  return options.whole(name, std::stoll(found->second), low, high);
}

class BuiltIn : public Model {
 public:
  explicit BuiltIn(c10::Device device) : made_(device) {}
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const final { return made_.trained(); }

 protected:
  Parameters made_;  // NOLINT: what a model consists of
};

/// Channels, height and width; a last axis of at most four after longer ones holds the channels.
struct Image {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool channels_last = false;

  Image(const ModelInfo& info, const std::vector<std::int64_t>& sample) {
    if (sample.size() != 3)
      refuse("model " + info.name + ": samples of " + shape_text(sample) +
             " are no images; expected channels, height and width, for example 3x224x224");
    constexpr std::int64_t kMostChannels = 4;
    channels_last = sample[2] <= kMostChannels && sample[0] > kMostChannels;
    channels = sample[channels_last ? 2 : 0];
    height = sample[channels_last ? 0 : 1];
    width = sample[channels_last ? 1 : 2];
  }
  [[nodiscard]] at::Tensor arrange(const at::Tensor& input) const {
    return channels_last ? input.permute({0, 3, 1, 2}).contiguous() : input;
  }
};

// One file a family; `info` is of built_in_models() and names a model of it.
[[nodiscard]] std::unique_ptr<Model> make_image_model(const ModelInfo& info, const Options& options,
                                                      const ModelRequest& request);
[[nodiscard]] std::unique_ptr<Model> make_graph_model(const ModelInfo& info, const Options& options,
                                                      const ModelRequest& request);
[[nodiscard]] std::unique_ptr<Model> make_sequence_model(const ModelInfo& info, const Options& options,
                                                         const ModelRequest& request);

}  // namespace ridgeline::torch_plugin
