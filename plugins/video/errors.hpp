// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "video_abi.h"

namespace ridgeline::video_plugin {

/// What ends a call, with its place in rl_video_code; nothing leaves the C interface (plugin.cpp).
class Refusal : public std::runtime_error {
 public:
  Refusal(rl_video_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] rl_video_code code() const noexcept { return code_; }

 private:
  rl_video_code code_;
};

[[nodiscard]] rl_video_code code_of(int averror) noexcept;

/// "no such file or directory": FFmpeg's words for its error, then, where those are vague, what this thread logged.
[[nodiscard]] std::string words_of(int averror);

/// What this thread has logged; `otherwise` where that is nothing.
[[nodiscard]] std::string logged_or(std::string otherwise);

/// `value`, unless it is one of FFmpeg's errors: then "context: words".
int checked(int value, const std::string& context);

/// Takes FFmpeg's log off the terminal; what a thread logs as an error is kept for words_of. Once a process.
void capture_log() noexcept;
/// Forgets what this thread has logged.
void clear_log() noexcept;

}  // namespace ridgeline::video_plugin
