// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"

namespace ridgeline::torch_plugin {

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;
  /// `input`: batch and the sample's axes, floating; 64-bit integers where the model takes tokens.
  [[nodiscard]] virtual at::Tensor forward(const at::Tensor& input) = 0;
  [[nodiscard]] virtual const std::vector<at::Tensor>& parameters() const = 0;
  /// True: integers are passed on as they are, as the indices of an embedding.
  [[nodiscard]] virtual bool takes_tokens() const { return false; }
};

/// What a model is built for.
struct ModelRequest {
  std::vector<std::int64_t> sample;  ///< axes of one sample
  bool integers = false;             ///< the samples are integers
  std::int64_t outputs = 10;         ///< classes, or numbers to predict
  c10::Device device{c10::DeviceType::CPU};
};

struct ModelInfo {
  std::string name;
  std::string about;
  std::string input;  ///< default shape of a random sample
  std::string classes;
  std::vector<std::pair<std::string, std::string>> options;  ///< its own, with defaults
};

[[nodiscard]] const std::vector<ModelInfo>& built_in_models();
/// nullptr for a name that is none of theirs.
[[nodiscard]] const ModelInfo* find_model(const std::string& name);

/// Refuses names, options and shapes that are none. `info` is of built_in_models().
[[nodiscard]] std::unique_ptr<Model> make_model(const ModelInfo& info, const Options& options,
                                                const ModelRequest& request);

/// A TorchScript file, in training mode. Refuses what cannot be read or has nothing to train.
[[nodiscard]] std::unique_ptr<Model> load_torchscript(const std::string& path, c10::Device device);

}  // namespace ridgeline::torch_plugin
