// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "base/error.hpp"

namespace ridgeline::base {

/// Exit codes of every command but the hidden ones are part of the interface: scripts and CI branch on them.
enum ExitCode : int {
  kOk = 0,       ///< endless ones (`monitor`, `watch`) end with it when they are stopped
  kFinding = 1,  ///< done, with bad news
  kBadInput = 2,
  kFailures = 3,
  kNoAnswer = 4,  ///< what was measured does not answer the question
  kInternal = 70,
  kCancelled = 130,
};

struct ExitCodeRow {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};

/// Printed by `ridgeline --help`, and in docs/reference.md (a test compares them).
inline constexpr std::array<ExitCodeRow, 7> kExitCodes{{
    {kOk, "done", "an answer, or what was asked for"},
    {kFinding, "bad news",
     "a slow-down, a pipeline that fell behind its load, warnings of doctor, nothing to recommend"},
    {kBadInput, "bad input", "a mistake in usage or input; the error says which"},
    {kFailures, "failures", "found by doctor"},
    {kNoAnswer, "no answer", "undecided, too noisy a machine, or a load generator that was late"},
    {kInternal, "internal error", "a bug in Ridgeline"},
    {kCancelled, "interrupted", "what was found is kept"},
}};

/// The code of a command that failed with this.
[[nodiscard]] constexpr ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::internal: return kInternal;
    case ErrorCode::cancelled: return kCancelled;
    default: return kBadInput;
  }
}

}  // namespace ridgeline::base
