// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device.hpp"
#include "feed.hpp"
#include "model.hpp"
#include "optimizer.hpp"
#include "plugin_abi.h"

namespace ridgeline::torch_plugin {

/// What the model's output is compared with.
enum class Loss { cross_entropy, mse, l1, bce };

/// One training trial: model, optimizer and data under fixed settings, step by step. The same phases in the same order
/// as python/ridgeline_train/trial.py, so that the numbers of both ways can be compared.
class Trial {
 public:
  /// Refuses what the request cannot be. `source` may be nullptr and outlives the trial.
  Trial(const rl_train_request& request, const rl_train_source* source);

  /// Runs `count` steps and gives the window's length in ms. Waits for the device at both ends only.
  double run(std::int64_t count, rl_train_step* steps);
  void reset_peaks();
  [[nodiscard]] rl_train_stats stats() const;
  /// Failed allocations of the process on the trial's device, or -1.
  [[nodiscard]] std::int64_t num_ooms() const { return device_.memory().num_ooms; }

 private:
  void build(const std::string& name, const Options& options, const rl_train_source* source);
  [[nodiscard]] DataForm random_form(const ModelInfo* info, const Options& options) const;
  [[nodiscard]] std::int64_t outputs(const ModelInfo* info, const Options& options, const DataForm& form) const;
  void ask_torchscript(const Options& options, DataForm& form, std::int64_t& classes);
  void step();
  [[nodiscard]] at::Tensor model_input(const at::Tensor& raw) const;
  [[nodiscard]] at::Tensor loss_of(const at::Tensor& output, const at::Tensor& label) const;

  rl_train_request request_;
  TrainingDevice device_;
  Loss loss_ = Loss::cross_entropy;
  std::unique_ptr<Model> model_;
  std::optional<Optimizer> optimizer_;
  std::optional<GradScaler> scaler_;
  std::optional<Feed> feed_;
  Marks marks_;
  at::Tensor last_loss_;
  MemoryNumbers before_;
};

}  // namespace ridgeline::torch_plugin
