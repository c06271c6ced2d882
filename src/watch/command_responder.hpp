// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "watch/watch_loop.hpp"

namespace ridgeline::watch {

/// Runs a user's command by /bin/sh for degraded, recovered, failed and restored, with the event in its environment.
/// Its output goes to our standard error. It is ended after `limit`; a failure is an action_failed event, never ours.
class CommandResponder final : public Responder {
 public:
  CommandResponder(const schema::MessageRenderer& words, std::string command, base::Nanoseconds limit,
                   std::function<bool()> cancelled)
      : words_(words), command_(std::move(command)), limit_(limit), cancelled_(std::move(cancelled)) {}
  [[nodiscard]] base::Result<Response> respond(const WatchEvent& event, WatchState& state) override;

  /// RIDGELINE_EVENT (its name), RIDGELINE_EVENT_JSON, _TEXT, _TIME, _CAUSE, _EVIDENCE, _SLOW_DOWN, _BASELINE, _MODEL,
  /// _DEVICE and _CONFIG; "" for what an event does not have.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_of(const WatchEvent& event) const;

 private:
  const schema::MessageRenderer& words_;
  std::string command_;
  base::Nanoseconds limit_;
  std::function<bool()> cancelled_;
};

}  // namespace ridgeline::watch
