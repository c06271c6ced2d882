// SPDX-License-Identifier: Apache-2.0
#include "schema/run_request.hpp"

namespace ridgeline::schema {

std::string shell_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const auto& word : arguments) {
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                            "0123456789_-./:=,+%@") == std::string::npos;
    std::string quoted = word;
    if (!plain) {
      quoted = "'";
      for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      quoted += "'";
    }
    line += (line.empty() ? "" : " ") + quoted;
  }
  return line;
}

}  // namespace ridgeline::schema
