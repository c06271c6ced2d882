// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "report/report_model.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {

/// A table that grows by a row as each trial ends, on standard output; in a terminal a line below it, on standard
/// error, tells of the running one.
class TrialRows {
 public:
  /// `rows`: false prints no table.
  TrialRows(Terminal out, Terminal err, bool rows) : out_(out), err_(err), rows_(rows) {}

  [[nodiscard]] bool prints() const noexcept { return rows_; }
  [[nodiscard]] bool colour() const noexcept { return out_.colour; }
  /// Columns that a row may take: all it needs, unless somebody looks at a terminal.
  [[nodiscard]] int width() const noexcept { return out_.interactive ? out_.width : std::numeric_limits<int>::max(); }
  void header(const std::string& line) const;
  void row(const std::string& line, report::Tone tone) const;
  /// Replaces the line below the table; "" takes it away.
  void status(const std::string& text) const;

 private:
  Terminal out_;
  Terminal err_;
  bool rows_;
};

}  // namespace ridgeline::app
