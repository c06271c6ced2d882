// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/degradation_cause.hpp"
#include "analysis/summary.hpp"
#include "base/json.hpp"
#include "schema/message.hpp"
#include "schema/message_renderer.hpp"
#include "stats/interval.hpp"

namespace ridgeline::watch {

enum class WatchEventKind {
  started,
  degraded,   ///< slower than the baseline by the threshold, with the confidence asked for
  recovered,  ///< as fast as before again
  failed,     ///< probes do not run to the end, twice in a row
  restored,
  changed,          ///< settings, model, shapes or libraries are not those of the baseline; slower or not
  retuned,          ///< `tune` ran; the message says what came of it
  retune_put_off,   ///< it was asked for, but it is too early for another, or the cause lies outside of the settings
  profiled,         ///< the service was recorded; the message names the run
  profile_put_off,  ///< it was asked for, but the last one was too recent
  action_failed,    ///< the user's command, the retune, or the profile
  reloaded,
  stopped,
  status,  ///< of --once and --count, at the end
};

/// One line of the event stream (schema ridgeline.watch.event, version 3: docs/watch.md). Fields that say nothing about
/// an event are left out of its JSON.
struct WatchEvent {
  WatchEventKind kind = WatchEventKind::started;
  std::string time_utc;
  schema::Message message;
  std::string baseline;  ///< "RUN/TRIAL", or "learned"
  std::string model;
  std::string device;
  std::string config;               ///< file, "" without one
  bool simulated = false;           ///< the figures follow a formula (is_simulated)
  std::int64_t probes = 0;          ///< taken so far, restarts included
  std::optional<double> slow_down;  ///< times as slow as the baseline
  std::optional<stats::Interval> slow_down_interval;
  std::optional<double> confidence;  ///< of that interval
  std::optional<double> baseline_ms;
  std::optional<double> now_ms;  ///< of the last probe
  std::vector<analysis::DegradationCause> causes;
  base::Json details;  ///< of retuned: run, decision, gain, settings, backup
};

[[nodiscard]] base::Json json_of(const schema::MessageRenderer& words, const WatchEvent& event);

}  // namespace ridgeline::watch

template <>
struct ridgeline::base::EnumNames<ridgeline::watch::WatchEventKind> {
  using enum watch::WatchEventKind;
  static constexpr std::array names{std::pair{started, "started"},
                                    std::pair{degraded, "degraded"},
                                    std::pair{recovered, "recovered"},
                                    std::pair{failed, "failed"},
                                    std::pair{restored, "restored"},
                                    std::pair{changed, "changed"},
                                    std::pair{retuned, "retuned"},
                                    std::pair{retune_put_off, "retune_put_off"},
                                    std::pair{profiled, "profiled"},
                                    std::pair{profile_put_off, "profile_put_off"},
                                    std::pair{action_failed, "action_failed"},
                                    std::pair{reloaded, "reloaded"},
                                    std::pair{stopped, "stopped"},
                                    std::pair{status, "status"}};
};
