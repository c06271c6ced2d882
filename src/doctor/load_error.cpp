// SPDX-License-Identifier: Apache-2.0
#include "doctor/load_error.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "doctor/messages.hpp"

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
  if (has("undefined symbol: ")) {
    const auto symbol = word_after(message, "undefined symbol: ");
    return {symbol, messages::symbol_missing({.symbol = symbol, .file = file}), messages::fix_mixed_releases()};
  }
  if (has("version `") && has("not found")) {
    const auto version = word_after(message, "version `");
    const auto library = file_name(file);
    const bool libc = version.rfind("GLIBC", 0) == 0;
    return {version,
            messages::version_missing(
                {.version = version, .library = library, .needed_by = word_after(message, "required by ")}),
            libc ? messages::fix_newer_system() : messages::fix_older_library(library)};
  }
  if (has("cannot open shared object file: Permission denied"))
    return {file, messages::file_closed(file), messages::fix_file_closed(file)};
  if (has("cannot open shared object file") || has("Error loading shared library")) {
    const auto missing =
        has("Error loading shared library") ? word_after(message, "Error loading shared library ") : file;
    return {missing, messages::file_missing(missing), messages::fix_file_missing()};
  }
  if (has("file too short") || has("invalid ELF header") || has("ELF file's phentsize") || has("cut short"))
    return {file, messages::file_damaged(file), messages::fix_file_damaged()};
  if (has("wrong ELF class") || has("e_machine"))
    return {file, messages::file_foreign(file), messages::fix_file_foreign()};
  if (has("opening it ended the process with "))  // LibraryOpener's own words
    return {file,
            messages::file_crashes({.file = file, .end = word_after(message, "opening it ended the process with ")}),
            messages::fix_file_crashes()};
  if (has("static TLS block")) return {file, messages::file_static_tls(file), messages::fix_static_tls(file)};
  if (has("executable stack"))
    return {file, messages::file_executable_stack(file), messages::fix_executable_stack(file)};
  return {file, messages::file_does_not_load(file), messages::fix_does_not_load()};
}

bool is_just_absent(std::string_view message, std::string_view name) {
  return message.rfind(fmt::format("{}: cannot open shared object file: No such file", name), 0) == 0;
}

}  // namespace ridgeline::doctor
