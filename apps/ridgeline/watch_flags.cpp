// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/watch_flags.hpp"

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "config/space_file.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::app {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::string_view kProfile = "profile:";
constexpr double kProfileS = 5;
constexpr double kLeastProfileS = 0.1;
constexpr double kMostProfileS = 600;

/// Without a percent sign 10 would be a thousand percent, and the watch one that never speaks.
Result<double> threshold_of(const std::string& text) {
  const auto value = base::parse_ratio(text, "--threshold");
  if (!value || *value < 0.01 || *value > 10)
    return fail(ErrorCode::invalid_argument, "--threshold {}: expected a share from 1% to 1000%", text)
        .hint("for example 10%");
  if (*value >= 1 && text.find('%') == std::string::npos)
    return fail(ErrorCode::invalid_argument, "--threshold {}: means {:.0f} % without a percent sign", text,
                100 * *value)
        .hint("write {}% or {:.0f}%", text, 100 * *value);
  return *value;
}

bool is_profile(const std::string& action) { return action == "profile" || action.rfind(kProfile, 0) == 0; }

/// "profile", or "profile:5s".
Result<double> profile_seconds(const std::string& action) {
  if (action == "profile") return kProfileS;
  const auto seconds = base::parse_duration(action.substr(kProfile.size()), "--on-degrade");
  if (!seconds || base::to_seconds(*seconds) < kLeastProfileS || base::to_seconds(*seconds) > kMostProfileS)
    return fail(ErrorCode::invalid_argument, "--on-degrade {}: expected a time from 100ms to 10m", action)
        .hint("for example profile:5s");
  return base::to_seconds(*seconds);
}

/// "alert,retune,exec:COMMAND" is three. A command may have commas of its own, so it ends the list.
std::vector<std::string> actions_of(const std::vector<std::string>& texts) {
  std::vector<std::string> actions;
  for (auto text : texts) {
    for (auto comma = text.find(','); comma != std::string::npos; comma = text.find(',')) {
      const auto first = text.substr(0, comma);
      if (first != "alert" && first != "retune" && !is_profile(first)) break;
      actions.push_back(first);
      text.erase(0, comma + 1);
    }
    actions.push_back(std::move(text));
  }
  return actions;
}

Result<void> read_actions(const WatchFlags& flags, WatchPlan& plan) {
  constexpr std::string_view kExec = "exec:";
  for (const auto& text : actions_of(flags.on_degrade)) {
    if (text == "alert") continue;  // events are reported in any case
    if (text == "retune") {
      plan.retune = true;
    } else if (is_profile(text)) {
      RL_TRY_ASSIGN(plan.profile_s, profile_seconds(text));
    } else if (text.rfind(kExec, 0) == 0) {
      if (base::trim(text.substr(kExec.size())).empty())
        return fail(ErrorCode::invalid_argument,
                    "--on-degrade {}: no command; expected alert, retune, profile:TIME or exec:COMMAND", text)
            .hint("for example 'exec:/usr/local/bin/page-me'");
      plan.commands.push_back(text.substr(kExec.size()));
    } else {
      return fail(ErrorCode::invalid_argument,
                  "--on-degrade {}: unknown action; expected alert, retune, profile:TIME or exec:COMMAND", text)
          .hint("{}", schema::suggest(text, {"alert", "retune", "profile:5s", "exec:"}));
    }
  }
  if (plan.retune && flags.config.empty())
    return fail(ErrorCode::invalid_argument, "--on-degrade retune: no file to write to").hint("add --config FILE");
  return {};
}

Result<void> read_source(const WatchFlags& flags, WatchPlan& plan) {
  if (!flags.latency_file.empty() && !flags.latency_socket.empty())
    return fail(ErrorCode::invalid_argument, "--latency-file and --latency-socket exclude each other").hint("give one");
  plan.source = !flags.latency_file.empty()     ? "file " + flags.latency_file
                : !flags.latency_socket.empty() ? "socket " + flags.latency_socket
                                                : "probe";
  if (!flags.baseline.empty() && flags.baseline != "latest" && flags.baseline != "learn")
    return fail(ErrorCode::invalid_argument, "--baseline {}: expected latest or learn", flags.baseline)
        .hint("name a run with --run {}", flags.baseline);
  if (flags.baseline == "latest" && !flags.run.empty())
    return fail(ErrorCode::invalid_argument, "--run {} and --baseline latest exclude each other", flags.run)
        .hint("give one");
  plan.learn = flags.baseline == "learn";
  plan.run = flags.run.empty() ? "latest" : flags.run;
  return {};
}

/// One state a file of settings (or model, without one) and source.
std::filesystem::path default_state(const WatchFlags& flags, const WatchPlan& plan) {
  const auto& about = flags.config.empty() ? flags.model : flags.config;
  std::error_code ignored;
  const auto key = std::filesystem::absolute(about, ignored).lexically_normal().string() + "\n" + plan.source;
  auto name = std::filesystem::path(about).stem().string();
  if (name.empty() || name.rfind("synthetic:", 0) == 0) name = "watch";
  return base::state_folder() / "watch" / fmt::format("{}-{}.json", name, base::sha256_hex(key).substr(0, 12));
}

Result<void> read_config(const WatchFlags& flags, WatchPlan& plan) {
  plan.patch.section_named = !flags.section.empty();
  if (plan.patch.section_named) plan.patch.section = flags.section;
  if (!flags.space.empty()) {
    const auto text = base::read_file(flags.space);
    if (!text)
      return fail(text.error().code,
                  "--space: {}; expected a YAML file whose mapping section lists the path of each key",
                  text.error().message)
          .hint("name it, or leave --space out");
    RL_TRY_ASSIGN(auto file, config::parse_space_file(*text, flags.space));
    plan.patch.mapping = std::move(file.mapping);
  }
  if (flags.config.empty()) return {};
  if (plan.retune) RL_TRY(config::check_patchable(flags.config));
  std::vector<config::UnreadSetting> unread;  // an error when it is known whom they concern
  RL_TRY(watch::read_watched_settings(flags.config, plan.patch, unread));
  if (!plan.retune) return {};
  // Whether a retune has a place for what it finds.
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.config));
  RL_TRY(config::patch_settings(text, flags.config, {{"intra_op_num_threads", 1}}, plan.patch));
  return {};
}

}  // namespace

Result<WatchPlan> read_watch_flags(const WatchFlags& flags) {
  WatchPlan plan;
  plan.every = base::from_seconds(flags.every_s);
  plan.probe_time_s = flags.probe_time_s;
  RL_TRY(read_source(flags, plan));
  if (plan.source == "probe" && 2 * flags.probe_time_s > flags.every_s)
    return fail(ErrorCode::invalid_argument,
                "--every {:g}s with --time {:g}s: expected at least twice the time of a probe", flags.every_s,
                flags.probe_time_s);
  RL_TRY_ASSIGN(plan.threshold, threshold_of(flags.threshold));
  plan.confidence = flags.confidence;
  plan.retune_time = base::from_seconds(flags.retune_time_s);
  plan.cooldown = base::from_seconds(flags.cooldown_s);
  plan.command_time = base::from_seconds(flags.command_time_s);
  RL_TRY(read_actions(flags, plan));
  if (flags.once && flags.count)
    return fail(ErrorCode::invalid_argument, "--once means --count 1").hint("leave one out");
  plan.count = flags.once ? 1 : flags.count;
  RL_TRY(read_config(flags, plan));
  plan.state = flags.state.empty() ? default_state(flags, plan) : std::filesystem::path(flags.state);
  return plan;
}

}  // namespace ridgeline::app
