// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ridgeline::execute {

/// The child's end of the stream protocol: whole lines, from any threads.
class LineChannel {
 public:
  /// The descriptor stays the caller's.
  explicit LineChannel(int fd) : fd_(fd) {}

  /// Blocks while the parent does not read. False once it is gone.
  bool send(char kind, std::string_view text);
  bool send(char kind, const base::Json& json) { return send(kind, std::string_view(base::dump_json(json))); }
  /// The next line without its end; nullopt at end of file. One thread.
  [[nodiscard]] std::optional<std::string> receive();

 private:
  int fd_;
  std::mutex sending_;
  std::string line_;
  std::string received_;
  bool gone_ = false;
};

}  // namespace ridgeline::execute
