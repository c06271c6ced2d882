// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune/gpu_profiles.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/file.hpp"
#include "campaign/tune/recommendation.hpp"
#include "config/file_swap.hpp"
#include "config/one_line.hpp"
#include "config/profile_section.hpp"
#include "config/setting_finder.hpp"
#include "config/setting_text.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using schema::Configuration;

constexpr std::size_t kRunsForProfiles = 1000;

bool is_of_the_same(const schema::TuneRun& a, const schema::TuneRun& b) {
  return a.workload.kind == b.workload.kind && a.workload.content_sha256 == b.workload.content_sha256 &&
         a.workload.shapes == b.workload.shapes && a.request.objective == b.request.objective &&
         a.tensor_location == b.tensor_location;
}

/// "gpu_memory_gb<=2 latency_p99_ms<=20", in one order whatever that of the flags.
std::string limits_of(const schema::TuneRun& run) {
  std::set<std::string> texts;
  for (const auto& constraint : run.request.constraints) texts.insert(constraint.to_text());
  return texts.empty() ? "no constraint" : fmt::format("{}", fmt::join(texts, " "));
}

/// As asked for: what a default comes to differs between GPUs.
std::string tolerance_of(const schema::TuneRun& run) {
  const auto& request = run.request;
  if (!request.check_accuracy) return "accuracy tolerance off";
  return request.accuracy_tolerance ? fmt::format("accuracy tolerance {:g}", *request.accuracy_tolerance)
                                    : "the default accuracy tolerance";
}

/// What each of two answers had to keep to, where that differs.
std::optional<std::pair<std::string, std::string>> differing_terms(const schema::TuneRun& a, const schema::TuneRun& b) {
  for (const auto terms_of : {limits_of, tolerance_of})
    if (std::pair terms{terms_of(a), terms_of(b)}; terms.first != terms.second) return terms;
  return std::nullopt;
}

std::set<std::string> keys_of(const std::vector<GpuProfile>& profiles) {
  std::set<std::string> keys;
  for (const auto& profile : profiles)
    for (const auto& [key, value] : profile.settings.values()) keys.insert(key);
  return keys;
}

/// Sets what is not set yet to its default, where that can be spelled out: left_by_profiles and left_by_match tell the
/// rest.
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

Result<std::vector<config::FoundSetting>> settings_in(const config::YamlTree& tree, int mapping,
                                                      std::string_view file_name) {
  std::vector<config::FoundSetting> settings;
  const auto& children = tree.at(mapping).children;
  for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
    const int node = children[i + 1];
    const auto& param = *schema::find_param(tree.at(children[i]).value);
    RL_TRY_ASSIGN(const auto value, config::read_setting(param, tree, node, file_name));
    if (value) settings.push_back({param.key, tree.path(node), tree.at(node).line, *value});
  }
  return settings;
}

Result<std::vector<GpuProfile>> read_all(std::string_view yaml, std::string_view file_name) {
  RL_TRY_ASSIGN(const auto tree, config::parse_yaml(yaml, file_name));
  const auto section = config::find_profiles(tree);
  if (section.stranger >= 0) {
    const auto& node = tree.at(section.stranger);
    return fail(ErrorCode::invalid_argument,
                "{}:{}:{}: \"{}\" does not fit into a GPU profile: expected {}: to hold one mapping of parameters for "
                "each GPU name",
                file_name, node.line, node.column,
                node.kind == config::YamlKind::scalar ? node.value : tree.path(section.stranger), config::kProfiles);
  }
  std::vector<GpuProfile> profiles;
  for (const auto& [name, mapping] : section.profiles) {
    GpuProfile profile{name, {}, ""};
    RL_TRY_ASSIGN(const auto found, settings_in(tree, mapping, file_name));
    for (const auto& setting : found) profile.settings.set(setting.key, setting.value);
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

/// What is written for a profile: its settings, and the defaults of what it has to undo.
Configuration spelled_out(const GpuProfile& profile, const std::vector<GpuProfile>& profiles,
                          const std::vector<GpuProfile>& before) {
  auto settings = profile.settings;
  const auto old =
      std::find_if(before.begin(), before.end(), [&](const auto& one) { return one.name == profile.name; });
  if (old != before.end()) add_defaults(settings, keys_of({*old}));
  // An empty mapping would say nothing: the defaults of what others set do.
  for (const auto* others : {&profiles, &before})
    if (settings.size() == 0) add_defaults(settings, keys_of(*others));
  return settings;
}

/// Those of the keys that the file sets outside its profiles.
Result<std::vector<config::FoundSetting>> find_settings(const config::YamlTree& tree, std::string_view file_name,
                                                        const std::set<std::string>& keys,
                                                        const config::PatchOptions& options) {
  const config::SettingFinder finder(tree, file_name, options);
  std::vector<config::FoundSetting> settings;
  for (const auto& key : keys) {
    RL_TRY_ASSIGN(const auto place, finder.find(key));
    if (!place) continue;
    const int node = place->value >= 0 ? place->value : place->inherited;
    RL_TRY_ASSIGN(const auto value, config::read_setting(*schema::find_param(key), tree, node, file_name));
    if (value) settings.push_back({key, tree.path(node), tree.at(node).line, *value});
  }
  return settings;
}

Result<std::vector<config::FoundSetting>> left_of_profiles(std::string_view yaml, std::string_view file_name,
                                                           const std::vector<GpuProfile>& profiles,
                                                           const config::PatchOptions& options) {
  RL_TRY_ASSIGN(const auto before, read_all(yaml, file_name));
  RL_TRY_ASSIGN(const auto tree, config::parse_yaml(yaml, file_name));
  std::vector<config::FoundSetting> left;
  const auto section = config::find_profiles(tree);
  for (const auto& in_file : section.profiles) {
    const auto profile =
        std::find_if(profiles.begin(), profiles.end(), [&](const auto& one) { return one.name == in_file.first; });
    if (profile == profiles.end()) continue;
    const auto settings = spelled_out(*profile, profiles, before);
    RL_TRY_ASSIGN(auto found, settings_in(tree, in_file.second, file_name));
    for (auto& setting : found)
      if (!settings.contains(setting.key)) left.push_back(std::move(setting));
  }
  // What a profile sets comes and goes with --match, which says so then.
  auto matched = keys_of(profiles);
  matched.merge(keys_of(before));
  std::set<std::string> unset;
  for (const auto& profile : profiles)
    for (const auto& key : profile.unset)
      if (matched.count(key) == 0) unset.insert(key);
  RL_TRY_ASSIGN(auto found, find_settings(tree, file_name, unset, options));
  left.insert(left.end(), found.begin(), found.end());
  return left;
}

Result<config::PatchResult> patch_all(std::string_view yaml, std::string_view file_name,
                                      const std::vector<GpuProfile>& profiles, const std::string& provenance) {
  RL_TRY_ASSIGN(const auto before, read_all(yaml, file_name));
  config::PatchResult result{std::string(yaml), {}};
  for (const auto& profile : profiles) {
    if (profile.name.empty() || profile.name.find('.') != std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  "GPU name \"{}\" cannot be a profile's name: expected text without a dot", profile.name);
    const auto settings = spelled_out(profile, profiles, before);
    config::PatchOptions options;
    options.provenance =
        provenance.empty() || profile.run_id.empty() ? provenance : fmt::format("{} {}", provenance, profile.run_id);
    for (const auto& [key, value] : settings.values())
      options.mapping[key] = fmt::format("{}.{}.{}", config::kProfiles, profile.name, key);
    RL_TRY_ASSIGN(auto patch, config::patch_settings(result.text, file_name, settings, options));
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
  if (!run.on_gpu()) {
    profile.name = GpuProfile::kCpu;
  } else if (run.device.rfind(kGpu, 0) == 0) {
    for (const auto& gpu : run.environment.gpus)
      if (gpu.uuid == run.device.substr(kGpu.size())) profile.name = gpu.name;
  }
  profile.run_id = run.id;
  profile.settings = run.verdict->configuration;
  add_defaults(profile.settings, keys_of({{"", run.current, ""}}));
  profile.unset = settings_to_remove(run, as_seen_by(run, run.current));
  return profile;
}

Result<CollectedProfiles> collect_profiles(store::Store& store, const schema::TuneRun& run) {
  CollectedProfiles collected;
  auto& profiles = collected.profiles;
  std::set<std::string> seen_devices;
  std::set<std::string> told;
  const auto known = [&](const std::string& name) {
    return std::any_of(profiles.begin(), profiles.end(), [&](const auto& one) { return one.name == name; });
  };
  const auto add = [&](const schema::TuneRun& answer) {
    auto profile = profile_of(answer);
    if (profile.name.empty()) return;
    // An answer under other terms may break what this one has to keep to.
    if (const auto terms = differing_terms(answer, run)) {
      if (!known(profile.name) && told.insert(profile.name).second)
        collected.notes.push_back(fmt::format("{}: run {} is left out: tuned with {}, run {} with {}", profile.name,
                                              answer.id, terms->first, run.id, terms->second));
      return;
    }
    seen_devices.insert(answer.device);
    if (!known(profile.name)) profiles.push_back(std::move(profile));
  };
  add(run);
  RL_TRY_ASSIGN(const auto summaries, store.list_runs(kRunsForProfiles, schema::TuneRun::kLayout.kind));
  for (const auto& summary : summaries) {
    if (!summary.finished || seen_devices.count(summary.line.device) != 0 ||
        summary.line.objective != base::enum_name(run.request.objective))
      continue;
    RL_TRY_ASSIGN(const auto other, store.load<schema::TuneRun>(summary.id));
    if (!other.interrupted && is_of_the_same(run, other)) add(other);
  }
  std::sort(profiles.begin(), profiles.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return collected;
}

Result<std::vector<GpuProfile>> read_profiles(std::string_view yaml, std::string_view file_name) {
  return read_all(yaml, file_name).map_error(config::one_line);
}

Result<config::PatchResult> patch_profiles(std::string_view yaml, std::string_view file_name,
                                           const std::vector<GpuProfile>& profiles, const std::string& provenance) {
  return patch_all(yaml, file_name, profiles, provenance).map_error(config::one_line);
}

Result<std::vector<config::FoundSetting>> left_by_profiles(std::string_view yaml, std::string_view file_name,
                                                           const std::vector<GpuProfile>& profiles,
                                                           const config::PatchOptions& options) {
  return left_of_profiles(yaml, file_name, profiles, options).map_error(config::one_line);
}

Result<config::AppliedPatch> apply_profiles(const std::filesystem::path& file, const std::vector<GpuProfile>& profiles,
                                            const std::string& provenance, std::string_view utc) {
  RL_TRY(config::check_patchable(file));
  const auto target = config::link_target(file);
  RL_TRY_ASSIGN(const auto before, base::read_file(target));
  RL_TRY_ASSIGN(auto patch, patch_profiles(before, file.string(), profiles, provenance));
  if (patch.edits.empty()) return config::AppliedPatch{std::move(patch), {}};
  RL_TRY_ASSIGN(auto backup, config::swap_with_backup(target, before, patch.text, utc));
  return config::AppliedPatch{std::move(patch), std::move(backup)};
}

Result<Configuration> settings_for(const std::vector<GpuProfile>& profiles, const std::string& name,
                                   std::string_view file_name) {
  const auto found = std::find_if(profiles.begin(), profiles.end(), [&](const auto& one) { return one.name == name; });
  if (found == profiles.end())
    return fail(ErrorCode::not_found, "{} has no profile \"{}\"; it has {}", file_name, name,
                profiles.empty() ? "none" : names_of(profiles))
        .hint("tune here, then: ridgeline apply latest --config {} --for-gpu", file_name);
  auto settings = found->settings;
  add_defaults(settings, keys_of(profiles));
  return settings;
}

Result<std::vector<config::FoundSetting>> left_by_match(std::string_view yaml, std::string_view file_name,
                                                        const std::vector<GpuProfile>& profiles,
                                                        const Configuration& wanted,
                                                        const config::PatchOptions& options) {
  auto keys = keys_of(profiles);
  std::erase_if(keys, [&](const auto& key) { return wanted.contains(key); });
  RL_TRY_ASSIGN(const auto tree, config::parse_yaml(yaml, file_name).map_error(config::one_line));
  return find_settings(tree, file_name, keys, options).map_error(config::one_line);
}

}  // namespace ridgeline::campaign
