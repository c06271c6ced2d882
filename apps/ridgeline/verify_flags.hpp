// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>

#include "base/error.hpp"

namespace ridgeline::app {

/// `profile --verify N`.
struct VerifyFlags {
  std::optional<int> finding;  ///< counted from 1
  double max_time_s = 1800;
};

inline constexpr std::string_view kVerifyGroup = "Verification";

void add_verify_flags(CLI::App& command, VerifyFlags& flags);

/// `is_stored`: a stored run is verified, whose settings are its own. Errors: invalid_argument.
[[nodiscard]] base::Result<void> check_verify_flags(const CLI::App& command, const VerifyFlags& flags, bool is_stored);

}  // namespace ridgeline::app
