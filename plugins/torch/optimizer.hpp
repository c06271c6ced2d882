// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "options.hpp"

namespace ridgeline::torch_plugin {

/// Multiplies the loss, so that small fp16 gradients do not vanish, and leaves out steps whose gradients overflowed;
/// the rules and numbers of torch.amp.GradScaler. All of its state lives on the device: nothing waits for it.
class GradScaler {
 public:
  explicit GradScaler(c10::Device device);
  [[nodiscard]] at::Tensor scale(const at::Tensor& loss) const { return loss * scale_.to(loss.scalar_type()); }
  /// Divides the gradients and looks for overflows.
  void unscale(const std::vector<at::Tensor>& gradients);
  /// 1 when the last gradients overflowed.
  [[nodiscard]] const at::Tensor& found_overflow() const noexcept { return found_overflow_; }
  void update();
  /// Waits for the device.
  [[nodiscard]] std::int64_t skipped_steps() const;
  void forget_skipped() { skipped_.zero_(); }

 private:
  at::Tensor scale_;
  at::Tensor growth_;
  at::Tensor found_overflow_;
  at::Tensor skipped_;
};

/// SGD with momentum, Adam and AdamW over all parameters at once: PyTorch's fused kernels on a GPU (torch 2.4 and
/// later), which leave out an overflowed step by themselves, else the multi-tensor operators that PyTorch's optimizers
/// use.
class Optimizer {
 public:
  /// Options: optimizer, learning_rate, momentum, weight_decay, fused. Refuses what they cannot be.
  Optimizer(const std::vector<at::Tensor>& parameters, const Options& options, bool cuda);
  [[nodiscard]] static std::vector<std::string> option_names();

  /// The gradients that the last backward left.
  [[nodiscard]] std::vector<at::Tensor> gradients() const;
  /// `overflow` as GradScaler has it, or nullptr. Without fused kernels it is waited for.
  void step(const at::Tensor* overflow);
  /// Drops the gradients, as zero_grad(set_to_none=True).
  void zero_gradients();

 private:
  enum class Kind { sgd, adam, adamw };
  void collect();
  void fused(const at::Tensor* overflow);
  void sgd();
  void adam();

  Kind kind_ = Kind::sgd;
  bool fused_ = false;
  double rate_ = 0;
  double momentum_ = 0;
  double decay_ = 0;
  std::int64_t steps_ = 0;
  std::vector<at::Tensor> all_;
  std::vector<at::Tensor> parameters_;  ///< those with a gradient: found out at the first step
  std::vector<at::Tensor> first_;       ///< momentum, or the mean of gradients
  std::vector<at::Tensor> second_;      ///< the mean of their squares
  std::vector<at::Tensor> counts_;      ///< steps done, on the device, for the fused kernels
};

}  // namespace ridgeline::torch_plugin
