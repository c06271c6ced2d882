// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

/// Tells, on standard error, what is waited for before there is a table: in a terminal a line that is taken away again;
/// elsewhere one line for each phase that takes long.
class WaitingLine {
 public:
  /// `talks`: false tells nothing where it is no terminal.
  WaitingLine(Terminal err, bool talks) : err_(err), talks_(talks) {}
  ~WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  /// Cheap enough to be called many times a second. `doing`: "": not known.
  void show(const std::string& doing, double waited_s);

 private:
  Terminal err_;
  bool talks_;
  std::string told_;
  double shown_s_ = 0;  ///< waited when it was shown last
  bool stands_ = false;
};

}  // namespace ridgeline::app
