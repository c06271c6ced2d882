// SPDX-License-Identifier: Apache-2.0
#include "stream/crop_results.hpp"

#include <cstddef>

namespace ridgeline::stream {

std::string with_crops(std::string_view result, std::span<const std::string> crops) {
  std::string out;
  std::size_t next = 0;
  int depth = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const char c = result[i];
    if (is_text && c == '\\') {
      out += c;
      out += result[++i];
      continue;
    }
    if (c == '"') is_text = !is_text;
    if (!is_text && c == '{') ++depth;
    if (!is_text && c == '}' && depth-- == 2 && next < crops.size()) out += R"(,"crop":)" + crops[next++];
    out += c;
  }
  return out;
}

}  // namespace ridgeline::stream
