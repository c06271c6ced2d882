// SPDX-License-Identifier: Apache-2.0
#include "doctor/load_error.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridgeline::doctor {
namespace {

constexpr auto kNone = std::string_view::npos;

std::string before(std::string_view text, std::string_view mark) {
  return std::string(base::trim(text.substr(0, text.find(mark))));
}

/// The word after `mark`, without quotes and punctuation.
std::string word_after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == kNone) return {};
  const auto rest = base::trim(text.substr(at + mark.size()));
  auto word = std::string(rest.substr(0, rest.find_first_of(" ,;)")));
  while (!word.empty() && (word.back() == '\'' || word.back() == ':')) word.pop_back();
  while (!word.empty() && (word.front() == '`' || word.front() == '\'')) word.erase(word.begin());
  return word;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

LoadProblem explain_load_error(std::string_view message) {
  const auto file = before(message, ": ");
  const auto has = [message](std::string_view part) { return message.find(part) != kNone; };
  if (has("undefined symbol: "))
    return {
        "symbol " + word_after(message, "undefined symbol: "), fmt::format("is missing for {}", file),
        "two libraries of different releases are mixed: install the one that lacks it from the same release, and look "
        "for an older copy on LD_LIBRARY_PATH"};
  if (has("version `") && has("not found")) {
    const auto version = word_after(message, "version `");
    const bool libc = version.rfind("GLIBC", 0) == 0;
    return {version,
            fmt::format("is missing in {}, needed by {}", file_name(file), word_after(message, "required by ")),
            libc ? "the library was built for a newer system: take a build for this one, or a newer container image"
                 : fmt::format("{} is older than what needs it: update it, or take the older one off LD_LIBRARY_PATH",
                               file_name(file))};
  }
  if (has("cannot open shared object file: Permission denied"))
    return {file, "may not be read", fmt::format("give this user read permission: chmod a+r {}", file)};
  if (has("cannot open shared object file") || has("Error loading shared library"))
    return {has("Error loading shared library") ? word_after(message, "Error loading shared library ") : file,
            "is not found", "install it, or put its folder on LD_LIBRARY_PATH"};
  if (has("file too short") || has("invalid ELF header") || has("ELF file's phentsize") || has("cut short"))
    return {file, "is damaged", "install its package again: an unpacking or a copy was cut short"};
  if (has("wrong ELF class") || has("e_machine"))
    return {file, "is for another processor", "install the build for this machine's architecture"};
  if (has("opening it ended the process with "))  // LibraryOpener's own words
    return {file, "ends the process that opens it: " + word_after(message, "opening it ended the process with "),
            "its initialisation crashes, usually for another release of a library beside it: install both from one "
            "release"};
  if (has("static TLS block"))
    return {file, "finds no room for its thread-local memory", fmt::format("load it first: LD_PRELOAD={}", file)};
  if (has("executable stack"))
    return {file, "asks for an executable stack, which this system refuses",
            fmt::format("clear the flag: patchelf --clear-execstack {}", file)};
  return {file, "does not load", "see the loader's words: LD_DEBUG=libs shows every place it tried"};
}

bool is_just_absent(std::string_view message, std::string_view name) {
  return message.rfind(fmt::format("{}: cannot open shared object file: No such file", name), 0) == 0;
}

}  // namespace ridgeline::doctor
