// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"

#include <time.h>

#include <array>
#include <thread>

namespace ridgeline::base {

Nanoseconds SystemClock::now() const noexcept { return std::chrono::steady_clock::now().time_since_epoch(); }

void SystemClock::sleep_for(Nanoseconds duration) const { std::this_thread::sleep_for(duration); }

std::string SystemClock::utc_now() const {
  return format_utc(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

const Clock& system_clock() noexcept {
  static const SystemClock clock;
  return clock;
}

std::string format_utc(std::int64_t epoch_seconds) {
  const time_t when = epoch_seconds;
  struct tm parts {};
  gmtime_r(&when, &parts);
  std::array<char, 32> text{};
  const auto length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), length);
}

std::string local_time(const std::string& utc) {
  struct tm parts {};
  const char* end = strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return utc;
  const time_t when = timegm(&parts);
  struct tm local {};
  localtime_r(&when, &local);
  std::array<char, 32> text{};
  const auto length = strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local);
  return std::string(text.data(), length);
}

}  // namespace ridgeline::base
