// SPDX-License-Identifier: Apache-2.0
#include "campaign/gpu_profiles.hpp"

#include <algorithm>
#include <set>

#include "base/file.hpp"
#include "campaign/config_patch/file_swap.hpp"
#include "campaign/config_patch/one_line.hpp"
#include "campaign/config_patch/profile_section.hpp"
#include "campaign/config_patch/setting_text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using schema::Configuration;

constexpr std::size_t kRunsLookedAt = 1000;

bool asks_the_same(const schema::TuneRun& a, const schema::TuneRun& b) {
  return a.workload.kind == b.workload.kind && a.workload.content_sha256 == b.workload.content_sha256 &&
         a.workload.shapes == b.workload.shapes && a.objective == b.objective && a.io == b.io;
}

std::set<std::string> keys_of(const std::vector<GpuProfile>& profiles) {
  std::set<std::string> keys;
  for (const auto& profile : profiles)
    for (const auto& [key, value] : profile.settings.values()) keys.insert(key);
  return keys;
}

/// Sets what is not set yet to its default, where that can be spelled out.
void add_defaults(Configuration& settings, const std::set<std::string>& keys) {
  for (const auto& key : keys)
    if (const auto value = schema::effective_value({}, key); value && !settings.contains(key))
      settings.set(key, *value);
}

std::string names_of(const std::vector<GpuProfile>& profiles) {
  std::string names;
  for (const auto& profile : profiles) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", profile.name);
  return names;
}

Result<std::vector<GpuProfile>> read_all(std::string_view yaml, std::string_view file_name) {
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  const auto section = find_profiles(tree);
  if (section.stranger >= 0) {
    const auto& node = tree.at(section.stranger);
    return fail(ErrorCode::invalid_argument,
                "{}:{}:{}: \"{}\" does not fit into a GPU profile: expected {}: to hold one mapping of parameters for "
                "each GPU name",
                file_name, node.line, node.column,
                node.kind == YamlKind::scalar ? node.value : tree.path(section.stranger), kProfiles);
  }
  std::vector<GpuProfile> profiles;
  for (const auto& [name, mapping] : section.profiles) {
    GpuProfile profile{name, {}, ""};
    const auto& children = tree.at(mapping).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const auto& param = *schema::find_param(tree.at(children[i]).value);
      RL_TRY_ASSIGN(const auto value, read_setting(param, tree, children[i + 1], file_name));
      if (value) profile.settings.set(param.key, *value);
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

Result<PatchResult> patch_all(std::string_view yaml, std::string_view file_name,
                              const std::vector<GpuProfile>& profiles, const std::string& provenance) {
  RL_TRY_ASSIGN(const auto before, read_all(yaml, file_name));
  PatchResult result{std::string(yaml), {}};
  for (const auto& profile : profiles) {
    if (profile.name.empty() || profile.name.find('.') != std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  "GPU name \"{}\" cannot be a profile's name: expected text without a dot", profile.name);
    auto settings = profile.settings;
    const auto old =
        std::find_if(before.begin(), before.end(), [&](const auto& one) { return one.name == profile.name; });
    if (old != before.end()) add_defaults(settings, keys_of({*old}));
    // An empty mapping would say nothing: the defaults of what others set do.
    for (const auto* others : {&profiles, &before})
      if (settings.size() == 0) add_defaults(settings, keys_of(*others));
    PatchOptions options;
    options.provenance =
        provenance.empty() || profile.run_id.empty() ? provenance : fmt::format("{} {}", provenance, profile.run_id);
    for (const auto& [key, value] : settings.values())
      options.mapping[key] = fmt::format("{}.{}.{}", kProfiles, profile.name, key);
    RL_TRY_ASSIGN(auto patch, patch_settings(result.text, file_name, settings, options));
    result.text = std::move(patch.text);
    result.edits.insert(result.edits.end(), patch.edits.begin(), patch.edits.end());
  }
  return result;
}

}  // namespace

GpuProfile profile_of(const schema::TuneRun& run) {
  constexpr std::string_view kGpu = "gpu:";
  GpuProfile profile;
  if (!run.verdict || run.verdict->decision == schema::Decision::none) return profile;
  if (run.provider == "cpu") {
    profile.name = GpuProfile::kCpu;
  } else if (run.device.rfind(kGpu, 0) == 0) {
    for (const auto& gpu : run.environment.gpus)
      if (gpu.uuid == run.device.substr(kGpu.size())) profile.name = gpu.name;
  }
  profile.run_id = run.id;
  profile.settings = run.verdict->configuration;
  add_defaults(profile.settings, keys_of({{"", run.current, ""}}));
  return profile;
}

Result<std::vector<GpuProfile>> collect_profiles(store::Store& store, const schema::TuneRun& run) {
  std::vector<GpuProfile> profiles;
  std::set<std::string> seen_devices;
  const auto add = [&](const schema::TuneRun& answer) {
    auto profile = profile_of(answer);
    const bool known =
        std::any_of(profiles.begin(), profiles.end(), [&](const auto& one) { return one.name == profile.name; });
    if (profile.name.empty()) return;
    seen_devices.insert(answer.device);
    if (!known) profiles.push_back(std::move(profile));
  };
  add(run);
  RL_TRY_ASSIGN(const auto summaries, store.list_runs(kRunsLookedAt));
  for (const auto& summary : summaries) {
    if (!summary.finished || seen_devices.count(summary.device) != 0 ||
        summary.objective != base::enum_name(run.objective))
      continue;
    RL_TRY_ASSIGN(const auto other, store.load_run(summary.id));
    if (!other.interrupted && asks_the_same(run, other)) add(other);
  }
  std::sort(profiles.begin(), profiles.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return profiles;
}

Result<std::vector<GpuProfile>> read_profiles(std::string_view yaml, std::string_view file_name) {
  return read_all(yaml, file_name).map_error(one_line);
}

Result<PatchResult> patch_profiles(std::string_view yaml, std::string_view file_name,
                                   const std::vector<GpuProfile>& profiles, const std::string& provenance) {
  return patch_all(yaml, file_name, profiles, provenance).map_error(one_line);
}

Result<AppliedPatch> apply_profiles(const std::filesystem::path& file, const std::vector<GpuProfile>& profiles,
                                    const std::string& provenance, std::string_view utc) {
  RL_TRY(check_patchable(file));
  const auto target = link_target(file);
  RL_TRY_ASSIGN(const auto before, base::read_file(target));
  RL_TRY_ASSIGN(auto patch, patch_profiles(before, file.string(), profiles, provenance));
  if (patch.edits.empty()) return AppliedPatch{std::move(patch), {}};
  RL_TRY_ASSIGN(auto backup, swap_with_backup(target, before, patch.text, utc));
  return AppliedPatch{std::move(patch), std::move(backup)};
}

Result<Configuration> settings_for(const std::vector<GpuProfile>& profiles, const std::string& name,
                                   std::string_view file_name) {
  const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const auto& one) { return one.name == name; });
  if (found == profiles.end())
    return fail(ErrorCode::not_found,
                "{} has no profile \"{}\"; it has {}; tune here, then: ridgeline apply latest --config {} --for-gpu",
                file_name, name, profiles.empty() ? "none" : names_of(profiles), file_name);
  auto settings = found->settings;
  add_defaults(settings, keys_of(profiles));
  return settings;
}

}  // namespace ridgeline::campaign
