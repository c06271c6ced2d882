// SPDX-License-Identifier: Apache-2.0
#include "watch/command_responder.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/subprocess.hpp"
#include "schema/messages.hpp"
#include "watch/messages.hpp"

namespace ridgeline::watch {

using base::Result;

std::vector<std::pair<std::string, std::string>> CommandResponder::environment_of(const WatchEvent& event) const {
  const bool has_cause = !event.causes.empty();
  return {{"RIDGELINE_EVENT", std::string(base::enum_name(event.kind))},
          {"RIDGELINE_EVENT_JSON", base::dump_json(json_of(words_, event))},
          {"RIDGELINE_EVENT_TEXT", words_.text(event.message)},
          {"RIDGELINE_EVENT_TIME", event.time_utc},
          {"RIDGELINE_EVENT_CAUSE", has_cause ? std::string(base::enum_name(event.causes.front().kind)) : ""},
          {"RIDGELINE_EVENT_EVIDENCE", has_cause ? words_.text(event.causes.front().evidence) : ""},
          {"RIDGELINE_EVENT_SLOW_DOWN", event.slow_down ? fmt::format("{:.4f}", *event.slow_down) : ""},
          {"RIDGELINE_EVENT_BASELINE", event.baseline},
          {"RIDGELINE_EVENT_MODEL", event.model},
          {"RIDGELINE_EVENT_DEVICE", event.device},
          {"RIDGELINE_EVENT_CONFIG", event.config}};
}

Result<Response> CommandResponder::respond(const WatchEvent& event, WatchState& /*state*/) {
  Response response;
  const auto failed = [&](const schema::Message& why) {
    response.events.push_back(
        {WatchEventKind::action_failed, "", messages::command_failed({.command = command_, .why = why})});
    return response;
  };
  base::SubprocessOptions options;
  options.argv = {"/bin/sh", "-c", command_};
  options.environment = environment_of(event);
  options.capture_output = false;
  options.file_descriptors = {{STDERR_FILENO, STDOUT_FILENO}, {STDERR_FILENO, STDERR_FILENO}};
  auto child = base::Subprocess::spawn(options);
  if (!child) return failed(schema::messages::foreign(base::error_line(child.error())));
  constexpr base::Nanoseconds kSlice = std::chrono::milliseconds(200);
  for (auto left = limit_; left.count() > 0 && !cancelled_(); left -= kSlice) {
    const auto status = child->wait_for(std::min(left, kSlice));
    if (!status) continue;
    if (status->signal) return failed(messages::command_signal(*status->signal));
    if (status->exit_code.value_or(0) != 0) return failed(messages::command_code(*status->exit_code));
    return response;
  }
  return failed(cancelled_() ? messages::command_stopped()
                             : messages::command_too_long(static_cast<double>(limit_.count())));
}

}  // namespace ridgeline::watch
