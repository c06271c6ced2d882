// SPDX-License-Identifier: Apache-2.0
#include "watch/utc_seconds.hpp"

#include <cstdio>
#include <ctime>

namespace ridgeline::watch {

std::int64_t utc_seconds(const std::string& utc) noexcept {
  std::tm time{};
  if (std::sscanf(utc.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ", &time.tm_year, &time.tm_mon, &time.tm_mday, &time.tm_hour,
                  &time.tm_min, &time.tm_sec) != 6)
    return 0;
  time.tm_year -= 1900;
  time.tm_mon -= 1;
  return static_cast<std::int64_t>(::timegm(&time));
}

}  // namespace ridgeline::watch
