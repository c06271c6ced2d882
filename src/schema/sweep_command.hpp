// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::schema {

/// Placeholders that every command may use besides its parameters: the trial's folder and its round (1, 2 ...).
inline constexpr std::string_view kTrialFolder = "trial_dir";
inline constexpr std::string_view kRepeat = "repeat";

/// Reads "batch=64,128", "lr=0.1,0.01" or "mode=[\"a,b\", \"c\"]" (a JSON list, for values with commas). Errors: no
/// name, a name that is no identifier or is one of ours, no value, a value twice.
[[nodiscard]] base::Result<SweepParam> parse_sweep_param(std::string_view text);

/// Placeholders in a text. {name} is one when `name` is an identifier and no "$" stands before it; {{name}} stands for
/// {name} itself; every other brace is an ordinary character, so that JSON and shell variables need no care.
[[nodiscard]] std::vector<std::string> placeholders(std::string_view text);

/// The text with placeholders replaced by values; one without a value stays as it is.
[[nodiscard]] std::string substitute(std::string_view text, const SweepPoint& values);

/// Every placeholder of command, environment and metric file is a parameter or one of ours, and every parameter is
/// used. Errors name the nearest parameter.
[[nodiscard]] base::Result<void> check_placeholders(const SweepJob& job);

/// The point with trial folder and round added: what substitute() gets for one trial.
[[nodiscard]] SweepPoint substitutions(const SweepTrialSpec& spec, const std::string& folder);

}  // namespace ridgeline::schema
