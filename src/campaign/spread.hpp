// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "campaign/interference_check.hpp"

namespace ridgeline::campaign {

/// Spreads the trials of one run over the slots of its executor, once a check has shown that they may measure side by
/// side. For trials that take as long as a whole command or training; see TrialRunner for inference.
class Spread {
 public:
  /// `check`: how the slots are compared; it is asked when that first matters.
  Spread(std::size_t slots, std::function<InterferenceProbe()> check) : available_(slots), check_(std::move(check)) {}

  /// How many trials are worth giving to one round, at least 1.
  [[nodiscard]] std::size_t width() const { return found_ ? found_->slots.size() : available_; }

  /// The slots for `open` trials that wait now and `ahead` that are likely to follow. A check takes about two trials
  /// more than there are slots, so few trials are not worth one. Errors: those of the check.
  [[nodiscard]] base::Result<std::vector<std::size_t>> slots(std::size_t open, std::size_t ahead);

  /// What the check found; "": it has not been made.
  [[nodiscard]] std::string note() const { return found_ ? found_->note : ""; }

 private:
  std::size_t available_;
  std::function<InterferenceProbe()> check_;
  std::optional<Interference> found_;
};

}  // namespace ridgeline::campaign
