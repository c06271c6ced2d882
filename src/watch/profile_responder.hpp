// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "watch/watch_loop.hpp"

namespace ridgeline::watch {

/// The profile of a process, as it is stored.
struct ServiceProfile {
  std::string run;  ///< its id
  std::int64_t pid = 0;
  std::string command;  ///< of the process
};

/// Records the service as a degradation begins, at most once per `pause`, restarts included. respond() returns once the
/// profile is stored, so there is never a second recording. A failure is an action_failed event, and the pause begins
/// all the same.
class ProfileResponder final : public Responder {
 public:
  using Record = std::function<base::Result<ServiceProfile>()>;
  ProfileResponder(base::Nanoseconds pause, Record record, const base::Clock& clock)
      : pause_(pause), record_(std::move(record)), clock_(clock) {}
  [[nodiscard]] base::Result<Response> respond(const WatchEvent& event, WatchState& state) override;

 private:
  const base::Nanoseconds pause_;
  const Record record_;
  const base::Clock& clock_;
};

}  // namespace ridgeline::watch
