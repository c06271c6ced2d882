// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "schema/sweep.hpp"

namespace ridgeline::campaign {

/// Values to write into a YAML file, each under a path ("training.batch_size"), made where the file has it not; "" is
/// found by the parameter's own name at any depth, and never added.
struct SweepSetting {
  std::string name;
  std::string path;
  std::string value;
};

/// The values of a point; `paths` says where parameters stand whose name in the file is another one.
[[nodiscard]] std::vector<SweepSetting> settings_of(const schema::SweepPoint& point,
                                                    const std::vector<schema::SweepParam>& parameters,
                                                    const std::map<std::string, std::string>& paths);

/// Errors (invalid_argument): a name that is no parameter of `whose`, with the nearest one.
[[nodiscard]] base::Result<void> check_paths(const std::map<std::string, std::string>& paths,
                                             const std::vector<schema::SweepParam>& parameters, std::string_view whose);

/// A parameter's value as a file holds it.
struct SweepCurrent {
  std::string value;
  int line = 0;  ///< 1-based
};

/// Pure: what the file holds of each parameter, by name: at its path, else at the only place of its name. One that is
/// in no place or in several, or that holds a list or section, is not among them. Errors: malformed YAML.
[[nodiscard]] base::Result<std::map<std::string, SweepCurrent>> read_sweep_values(
    std::string_view yaml, std::string_view file_name, const std::vector<schema::SweepParam>& parameters,
    const std::map<std::string, std::string>& paths);

/// "0.001" and "1e-3" are the same value, "a" and "b" are not.
[[nodiscard]] bool same_sweep_value(const std::string& a, const std::string& b);

/// Pure: the names that no path is given for and that are nowhere in the file, so that they are not written. Errors:
/// malformed YAML.
[[nodiscard]] base::Result<std::vector<std::string>> names_without_place(std::string_view yaml,
                                                                         std::string_view file_name,
                                                                         const std::vector<SweepSetting>& settings);

/// Pure: puts the values where the file has them, and leaves out those without a place. Bytes beside them stay as they
/// are; a number stays a number, text is quoted where YAML would read it otherwise. Errors (invalid_argument):
/// malformed YAML, several places of one name (with their lines), no place for any of them.
[[nodiscard]] base::Result<config::PatchResult> patch_sweep_settings(std::string_view yaml, std::string_view file_name,
                                                                     const std::vector<SweepSetting>& settings);

}  // namespace ridgeline::campaign
