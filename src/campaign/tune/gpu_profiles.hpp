// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "config/config_patch.hpp"
#include "schema/tune_run.hpp"
#include "store/store.hpp"

namespace ridgeline::campaign {

/// The best settings found for one GPU model, as kept in the user's file under "profiles:"; "cpu" is for machines
/// without a GPU. An application reads its own section, never these: `ridgeline apply --match` copies one there.
struct GpuProfile {
  static constexpr const char* kCpu = "cpu";

  std::string name;  ///< as the driver names the GPU: "NVIDIA H200"
  schema::Configuration settings;
  std::string run_id;  ///< where it comes from; "" when read from a file
  /// What the run found set and leaves unset, where no default can be spelled out instead.
  std::vector<std::string> unset{};
};

/// The settings that a run answers with, defaults spelled out where its `current` differs from them, so that applying
/// them replaces whatever was there. Empty name: the run has no answer.
[[nodiscard]] GpuProfile profile_of(const schema::TuneRun& run);

struct CollectedProfiles {
  std::vector<GpuProfile> profiles;  ///< by name
  std::vector<std::string> notes;    ///< for people: newer runs that do not count, and why
};

/// The newest answer for each GPU model (and for the CPU) to the question that `run` asked: its model, inputs,
/// objective, io, constraints and accuracy tolerance. `run` itself is the answer for its own GPU.
[[nodiscard]] base::Result<CollectedProfiles> collect_profiles(store::Store& store, const schema::TuneRun& run);

/// Errors (invalid_argument): as config::patch_settings has them, and a "profiles:" that holds something else.
[[nodiscard]] base::Result<std::vector<GpuProfile>> read_profiles(std::string_view yaml, std::string_view file_name);

/// Pure, as config::patch_settings: writes each profile into its mapping below "profiles:", both made when absent.
/// Settings that an older profile of that name has beyond the new ones go back to their defaults, but for
/// left_by_profiles.
[[nodiscard]] base::Result<config::PatchResult> patch_profiles(std::string_view yaml, std::string_view file_name,
                                                               const std::vector<GpuProfile>& profiles,
                                                               const std::string& provenance);

/// What patch_profiles leaves in the file although no profile given wants it, since its default has no spelling: to be
/// taken out by hand. In older profiles of the same names, and, of GpuProfile::unset, in the application's own section.
[[nodiscard]] base::Result<std::vector<config::FoundSetting>> left_by_profiles(std::string_view yaml,
                                                                               std::string_view file_name,
                                                                               const std::vector<GpuProfile>& profiles,
                                                                               const config::PatchOptions& options);

/// As config::apply_patch, with all its care.
[[nodiscard]] base::Result<config::AppliedPatch> apply_profiles(const std::filesystem::path& file,
                                                                const std::vector<GpuProfile>& profiles,
                                                                const std::string& provenance, std::string_view utc);

/// What to write into the main section for the GPU of that name: its profile, and the defaults of what only other
/// profiles set, but for left_by_match. Error (not_found): no such profile; lists those there are.
[[nodiscard]] base::Result<schema::Configuration> settings_for(const std::vector<GpuProfile>& profiles,
                                                               const std::string& name, std::string_view file_name);

/// What only other profiles set, stands in the application's own section, and `wanted` (by settings_for) cannot undo,
/// since its default has no spelling: to be taken out by hand.
[[nodiscard]] base::Result<std::vector<config::FoundSetting>> left_by_match(std::string_view yaml,
                                                                            std::string_view file_name,
                                                                            const std::vector<GpuProfile>& profiles,
                                                                            const schema::Configuration& wanted,
                                                                            const config::PatchOptions& options);

}  // namespace ridgeline::campaign
