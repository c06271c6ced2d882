// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/tune_view.hpp"

namespace ridgeline::report {

/// A value of config.yaml that a recommendation changes, as inline text.
struct ChangedSetting {
  std::string key;
  std::string now;
  std::string wanted;  ///< with a note if that is what the runtime does anyway
};

/// What TuneVerdict::changes says, in its order.
[[nodiscard]] std::vector<ChangedSetting> changed_settings(const TuneView& view);

/// A configuration's value of a setting, or its default; "default" where neither is known.
[[nodiscard]] std::string setting_text(const schema::TuneRun& run, const schema::Configuration& configuration,
                                       const std::string& key);

}  // namespace ridgeline::report
