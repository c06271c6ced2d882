// SPDX-License-Identifier: Apache-2.0
// What python/ridgeline_profile calls of this library to have lines of Python recorded.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "exported.hpp"
#include "launch_lines.hpp"

using ridgeline::inject::kPythonLayoutFields;
using ridgeline::inject::LaunchLines;
using ridgeline::inject::PythonFiles;
using ridgeline::inject::PythonLayout;

namespace {

/// A line for each, behind a letter: "t" torch, "o" left out, "l" Python's own library, "s" what names do without.
PythonFiles python_files(std::string_view text) {
  PythonFiles out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string one(text.substr(std::min<std::size_t>(1, end), end - std::min<std::size_t>(1, end)));
    switch (one.empty() ? '\0' : text.front()) {
      case 't': out.torch = one; break;
      case 'o': out.left_out.push_back(one); break;
      case 'l': out.libraries.push_back(one); break;
      case 's': out.shortened.push_back(one); break;
      default: break;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

/// Lines of Python are recorded from now on; nullptr: no longer. `layout`: a PythonLayout.
RL_EXPORT void ridgeline_trace_lines(const std::int64_t* layout, std::uint32_t fields, const char* files) {
  if (layout == nullptr || fields != kPythonLayoutFields) return LaunchLines::of_process().stop();
  PythonLayout read{};
  std::memcpy(&read, layout, sizeof read);
  LaunchLines::of_process().start(read, python_files(files != nullptr ? files : ""));
}

/// The line of Python that this thread runs, as a text of at most `size` bytes with its zero. 1: there is one.
RL_EXPORT std::int32_t ridgeline_trace_line(char* text, std::uint32_t size) {
  const auto* line = LaunchLines::of_process().line();
  if (line == nullptr || line->size() >= size) return 0;
  std::memcpy(text, line->c_str(), line->size() + 1);
  return 1;
}
