// SPDX-License-Identifier: Apache-2.0
#include "watch/profile_responder.hpp"

#include <chrono>
#include <utility>

#include "base/text.hpp"
#include "watch/messages.hpp"
#include "watch/utc_seconds.hpp"

namespace ridgeline::watch {

base::Result<Response> ProfileResponder::respond(const WatchEvent& event, WatchState& state) {
  Response response;
  if (event.kind != WatchEventKind::degraded) return response;
  const auto now = utc_seconds(clock_.utc_now());
  WatchEvent done;
  if (now < state.no_profile_before) {
    done.kind = WatchEventKind::profile_put_off;
    done.message = messages::profile_put_off(base::format_utc(state.no_profile_before));
    response.events.push_back(std::move(done));
    return response;
  }
  const auto made = record_();
  if (!made && made.error().code == base::ErrorCode::cancelled) return tl::unexpected<base::Error>(made.error());
  state.no_profile_before =
      utc_seconds(clock_.utc_now()) + std::chrono::duration_cast<std::chrono::seconds>(pause_).count();
  const auto next = base::format_utc(state.no_profile_before);
  if (made) {
    done.kind = WatchEventKind::profiled;
    done.message = messages::profiled(
        {.process = std::to_string(made->pid), .command = made->command, .run = made->run, .next = next});
    done.details = {{"run", made->run}, {"process", made->pid}, {"command", made->command}};
  } else {
    done.kind = WatchEventKind::action_failed;
    done.message = messages::profile_failed({.error = base::error_line(made.error()), .next = next});
  }
  response.events.push_back(std::move(done));
  return response;
}

}  // namespace ridgeline::watch
