// SPDX-License-Identifier: Apache-2.0
#include "stream/sources/picture_list.hpp"

#include <glob.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "stream/messages.hpp"

namespace ridgeline::stream {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::array<std::string_view, 13> kPictureEndings{".bmp", ".dpx", ".exr", ".jpeg", ".jpg",  ".pbm", ".pgm",
                                                           ".png", ".pnm", ".ppm", ".tif",  ".tiff", ".webp"};
constexpr const char* kExpected = "expected files named .png, .jpg, .bmp, .webp, .tif or .ppm";
constexpr std::size_t kMostDigits = 18;  // of a number that fits 64 bits

bool is_digit(char letter) noexcept { return letter >= '0' && letter <= '9'; }

bool is_picture(const fs::path& path) {
  auto ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return std::find(kPictureEndings.begin(), kPictureEndings.end(), ending) != kPictureEndings.end();
}

std::string_view digits_of(std::string_view text) noexcept {
  return text.substr(0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin()));
}

/// Frees what glob found.
struct Found {
  glob_t paths{};
  Found() = default;
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() { ::globfree(&paths); }
};

/// "img%04d.png" as what is before and behind the number.
struct Numbered {
  std::string before;
  std::string behind;
  std::size_t digits = 1;  ///< at least, filled with zeros
};

/// nullopt: there is no place, or there are several.
std::optional<Numbered> parse_numbered(std::string_view name, int& places) {
  Numbered out;
  places = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    auto& text = places == 0 ? out.before : out.behind;
    if (name[at] != '%') {
      text += name[at];
      continue;
    }
    const auto rest = name.substr(at + 1);
    if (rest.starts_with('%')) {
      text += '%';
      ++at;
      continue;
    }
    const auto width = digits_of(rest);
    const bool is_place = width.size() < rest.size() && rest[width.size()] == 'd' && width.size() <= 3 &&
                          (width.empty() || width.front() == '0');
    if (!is_place) return std::nullopt;
    if (!width.empty()) out.digits = std::max<std::size_t>(1, std::stoul(std::string(width)));
    at += width.size() + 1;
    ++places;
  }
  return places == 1 ? std::optional(out) : std::nullopt;
}

/// The number of a name that fits; nullopt: it does not.
std::optional<std::int64_t> number_in(std::string_view name, const Numbered& pattern) {
  if (name.size() <= pattern.before.size() + pattern.behind.size() || !name.starts_with(pattern.before) ||
      !name.ends_with(pattern.behind))
    return std::nullopt;
  const auto text = name.substr(pattern.before.size(), name.size() - pattern.before.size() - pattern.behind.size());
  const bool is_filled = text.size() == pattern.digits || (text.size() > pattern.digits && text.front() != '0');
  if (digits_of(text).size() != text.size() || !is_filled || text.size() > kMostDigits) return std::nullopt;
  return std::stoll(std::string(text));
}

Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (std::error_code ignored; !entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  if (failed == std::errc::no_such_file_or_directory || failed == std::errc::not_a_directory)
    return fail(ErrorCode::not_found, "{}: no such folder", folder.string());
  if (failed) return fail(ErrorCode::io, "{} cannot be read: {}", folder.string(), failed.message());
  return names;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) noexcept {
  const auto whole_a = a;
  const auto whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (!is_digit(a.front()) || !is_digit(b.front())) {
      if (a.front() != b.front()) return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    auto one = digits_of(a);
    auto other = digits_of(b);
    a.remove_prefix(one.size());
    b.remove_prefix(other.size());
    one.remove_prefix(std::min(one.find_first_not_of('0'), one.size()));
    other.remove_prefix(std::min(other.find_first_not_of('0'), other.size()));
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // "01" and "1"
}

Result<PictureList> pictures_in(const fs::path& folder) {
  PictureList out{folder, {}};
  RL_TRY_ASSIGN(out.names, names_in(folder));
  std::erase_if(out.names, [](const std::string& name) { return !is_picture(name); });
  if (out.names.empty())
    return fail(ErrorCode::invalid_argument, "{}: no pictures in this folder", folder.string()).hint("{}", kExpected);
  std::sort(out.names.begin(), out.names.end(), natural_less);
  return out;
}

bool is_glob(std::string_view text) noexcept {
  if (text.find_first_of("*?") != std::string_view::npos) return true;
  const auto encloses = [&](char open, char close) {
    const auto at = text.find(open);
    return at != std::string_view::npos && text.find(close, at) != std::string_view::npos;
  };
  return encloses('[', ']') || encloses('{', '}');
}

Result<PictureList> pictures_like(const std::string& pattern) {
  Found found;
  const int failed = ::glob(pattern.c_str(), GLOB_BRACE | GLOB_NOSORT, nullptr, &found.paths);
  if (failed != 0 && failed != GLOB_NOMATCH)
    return fail(ErrorCode::io, "{}: the folders that it names cannot be read", pattern);
  // Names are told from the last folder that is the same for all.
  const auto fixed = std::string_view(pattern).substr(0, pattern.find_first_of("*?[{"));
  const auto slash = fixed.rfind('/');
  const std::string folder(slash == std::string_view::npos ? "" : fixed.substr(0, slash + 1));
  PictureList out{folder, {}};
  std::size_t others = 0;
  for (std::size_t i = 0; i < found.paths.gl_pathc; ++i) {
    const std::string path = found.paths.gl_pathv[i];
    if (std::error_code ignored; fs::is_directory(path, ignored)) continue;
    if (!is_picture(path)) {
      ++others;
      continue;
    }
    out.names.push_back(path.substr(folder.size()));
  }
  if (out.names.empty() && others == 0)
    return fail(ErrorCode::not_found, "{}: no file fits this pattern", pattern)
        .hint("see what is there: ls {}", folder.empty() ? "." : folder);
  if (out.names.empty())
    return fail(ErrorCode::invalid_argument, "{}: {} {} it, none named like a picture", pattern,
                base::counted(others, "file"), others == 1 ? "fits" : "fit")
        .hint("{}; give each video a --source of its own", kExpected);
  if (others > 0)
    out.notes.push_back(messages::files_left_out({.pattern = pattern, .files = static_cast<std::int64_t>(others)}));
  std::sort(out.names.begin(), out.names.end(), natural_less);
  out.names.erase(std::unique(out.names.begin(), out.names.end()), out.names.end());
  return out;
}

bool is_numbered(std::string_view text) noexcept {
  int places = 0;
  parse_numbered(base::file_name(text), places);
  return places > 0;
}

Result<PictureList> numbered_pictures(const std::string& pattern) {
  int places = 0;
  const auto numbered = parse_numbered(base::file_name(pattern), places);
  if (!numbered)
    return fail(ErrorCode::invalid_argument, "{}: expected one place for a number", pattern)
        .hint("such as img%04d.png; a percent sign itself is %%");
  const auto folder = fs::path(pattern).parent_path();
  RL_TRY_ASSIGN(const auto names, names_in(folder.empty() ? "." : folder));
  std::vector<std::pair<std::int64_t, std::string>> fitting;
  for (const auto& name : names)
    if (const auto number = number_in(name, *numbered)) fitting.emplace_back(*number, name);
  if (fitting.empty())
    return fail(ErrorCode::not_found, "{}: no file with a number in this place", pattern)
        .hint("expected {}{:0{}}{}, for example", numbered->before, 1, numbered->digits, numbered->behind);
  std::sort(fitting.begin(), fitting.end());
  PictureList out{folder, {}};
  for (auto& [number, name] : fitting) out.names.push_back(std::move(name));
  const auto first = fitting.front().first;
  const auto last = fitting.back().first;
  const auto missing = static_cast<std::size_t>(last - first) + 1 - fitting.size();
  if (missing > 0)
    out.notes.push_back(messages::numbers_missing({.pattern = pattern,
                                                   .pictures = static_cast<std::int64_t>(fitting.size()),
                                                   .first = first,
                                                   .last = last,
                                                   .missing = static_cast<std::int64_t>(missing)}));
  return out;
}

}  // namespace ridgeline::stream
