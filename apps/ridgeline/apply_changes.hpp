// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "ridgeline/terminal.hpp"
#include "run/kind.hpp"
#include "schema/tune_run.hpp"

namespace ridgeline::app {

enum class ApplyMode {
  ask,  ///< asks on a terminal; elsewhere nothing is written
  apply,
  dry_run,  ///< shows the diff only
};

struct ApplyRequest {
  std::string file;
  config::PatchOptions patch;
  ApplyMode mode = ApplyMode::ask;
  bool provenance = false;
  std::string gain{};       ///< "1.65× as fast, 1.62–1.69", for the question; "" if it is not known
  std::string later{};      ///< what `ridgeline apply` has to be given beside run and file
  bool quiet = false;       ///< print nothing but errors and a question
  std::FILE* out = stdout;  ///< where the diff goes
};

/// Shows what the run's recommendation changes in the file as a diff and, as the mode says, writes it. Nothing is
/// written when the run's answer is to keep what there is.
[[nodiscard]] base::Result<void> apply_recommendation(const schema::TuneRun& run, ApplyRequest request,
                                                      const Terminal& terminal);

/// The same of a change that is known, to the text of the request's file. `later` as for apply_change.
[[nodiscard]] base::Result<void> apply_known(const run::Change& change, const ApplyRequest& request,
                                             const std::string& text, const std::string& later,
                                             const Terminal& terminal);

/// Names settings of the file whose default should hold and has no spelling: they are to be removed by hand. `who`
/// leaves them at the default.
void tell_removals(const ApplyRequest& request, const std::vector<config::FoundSetting>& settings,
                   std::string_view who);

/// The text of the file that is to be changed, read before anything is measured. `next` is what to do where there is
/// none. Unless it is a dry run, the file must be one that can be written.
[[nodiscard]] base::Result<std::string> read_apply_file(const std::string& file, bool dry_run, const std::string& next);

using WriteChange = std::function<base::Result<config::AppliedPatch>()>;

/// Shows a patch of the file's text as a diff and, as the mode says, calls `write`. `later` is the command that does so
/// when the user says no.
[[nodiscard]] base::Result<void> apply_change(const ApplyRequest& request, const std::string& text,
                                              const config::PatchResult& patch, const WriteChange& write,
                                              const std::string& later, const Terminal& terminal);

}  // namespace ridgeline::app
