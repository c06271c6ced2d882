// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/terminal.hpp"
#include "schema/stream_run.hpp"

namespace ridgeline::app {

/// What a stream does, on standard error: lines when it begins, one line that is renewed while it runs in a terminal.
class StreamDisplay {
 public:
  StreamDisplay(Terminal terminal, bool talks) : terminal_(std::move(terminal)), talks_(talks) {}

  void stage(const std::string& what);
  void ready(const schema::StreamReady& ready);
  void status(const schema::StreamStatus& status);
  void note(const std::string& text);
  /// Before anything else is printed.
  void clear();

 private:
  [[nodiscard]] bool lives() const { return talks_ && terminal_.interactive; }

  Terminal terminal_;
  bool talks_;
  bool has_line_ = false;
  schema::StreamStatus before_;
  double fps_ = 0;
};

}  // namespace ridgeline::app
