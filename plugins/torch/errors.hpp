// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "plugin_abi.h"

namespace ridgeline::torch_plugin {

/// A refusal of the plugin's own, with its place in rl_train_code. LibTorch throws whatever happens, so this side of
/// the C interface does as well; nothing leaves it (plugin.cpp).
class Refusal : public std::runtime_error {
 public:
  Refusal(rl_train_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] rl_train_code code() const noexcept { return code_; }

 private:
  rl_train_code code_;
};

[[noreturn]] inline void refuse(const std::string& message) { throw Refusal(RL_TRAIN_INVALID, message); }
[[noreturn]] inline void refuse(rl_train_code code, const std::string& message) { throw Refusal(code, message); }

}  // namespace ridgeline::torch_plugin
