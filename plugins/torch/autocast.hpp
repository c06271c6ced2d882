// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "plugin_abi.h"

namespace ridgeline::torch_plugin {

/// torch.autocast for the life of this object, in this thread. Casts of weights are kept until its end, as there.
class Autocast {
 public:
  Autocast(c10::DeviceType device, int amp) : device_(device), on_(amp != RL_AMP_OFF) {
    if (!on_) return;
    switch_to(true, amp == RL_AMP_BF16 ? at::kBFloat16 : at::kHalf);
    at::autocast::increment_nesting();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    switch_to(false, at::kBFloat16);
  }

 private:
  void switch_to(bool enabled, at::ScalarType type) const {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(device_, enabled);
    if (enabled) at::autocast::set_autocast_dtype(device_, type);
#else
    if (device_ == c10::DeviceType::CUDA) {
      at::autocast::set_enabled(enabled);
      if (enabled) at::autocast::set_autocast_gpu_dtype(type);
    } else {
      at::autocast::set_cpu_enabled(enabled);
      if (enabled) at::autocast::set_autocast_cpu_dtype(type);
    }
#endif
  }
  c10::DeviceType device_;
  bool on_;
};

}  // namespace ridgeline::torch_plugin
