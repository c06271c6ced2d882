// SPDX-License-Identifier: Apache-2.0
#include "campaign/run_id.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/hash.hpp"

namespace ridgeline::campaign {

std::string make_run_id(const base::Clock& clock, const std::string& utc, const std::string& command_line) {
  std::string digits;
  for (const char c : utc)
    if (c >= '0' && c <= '9') digits += c;
  const auto tail =
      base::sha256_hex(fmt::format("{}/{}/{}", command_line, clock.now().count(), ::getpid())).substr(0, 4);
  return fmt::format("{}-{}-{}", digits.substr(0, 8), digits.substr(8, 6), tail);
}

}  // namespace ridgeline::campaign
