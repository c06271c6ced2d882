// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "report/report_model.hpp"
#include "schema/message_renderer.hpp"
#include "schema/profile.hpp"

namespace ridgeline::report {

enum class ModuleOrder { time, calls, bytes, name };

/// Which rows of the module tree are shown.
struct ModuleView {
  int depth = 0;        ///< levels below the root; 0: those with enough time
  double least = 0.01;  ///< share of the whole that a row has at least, where depth is 0
  std::size_t most = 40;
  ModuleOrder order = ModuleOrder::time;
};

/// The module tree of a profile: modules that are alike and stand beside each other are one row.
[[nodiscard]] Table module_table(const schema::MessageRenderer& words, const schema::ProfileRun& run,
                                 const ModuleView& view);

}  // namespace ridgeline::report
