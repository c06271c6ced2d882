// SPDX-License-Identifier: Apache-2.0
#include "execute/output_tail.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "base/text.hpp"
#include "execute/drain_pipe.hpp"

namespace ridgeline::execute {
namespace {

constexpr std::size_t kTailReadLimit = std::size_t{1} << 20U;

bool is_continuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

bool OutputTail::drain(int fd) {
  return drain_pipe(fd, kTailReadLimit, [this](std::string_view piece) { append(piece); });
}

void OutputTail::keep_in(const std::filesystem::path& log) {
  std::error_code ignored;
  std::filesystem::create_directories(log.parent_path(), ignored);
  log_ = std::ofstream(log, std::ios::binary | std::ios::trunc);
  logged_ = 0;
}

void OutputTail::append(std::string_view bytes) {
  if (log_.is_open() && logged_ < kMaxLogBytes) {
    log_.write(bytes.data(), static_cast<std::streamsize>(std::min(bytes.size(), kMaxLogBytes - logged_)));
    log_.flush();
    logged_ += bytes.size();
  }
  if (bytes.size() > kMaxBytes) bytes.remove_prefix(bytes.size() - kMaxBytes);
  bytes_.append(bytes);
  if (bytes_.size() > kMaxBytes) bytes_.erase(0, bytes_.size() - kMaxBytes);
}

std::string OutputTail::text() const {
  // The JSON writer puts U+FFFD for whatever is not UTF-8; reading that back gives clean text.
  const auto clean = base::parse_json(base::dump_json(base::Json(bytes_)), "worker output");
  if (!clean || !clean->is_string()) return {};
  auto text = clean->get<std::string>();
  if (text.size() > kMaxBytes) {
    std::size_t start = text.size() - kMaxBytes;
    while (start < text.size() && is_continuation(text[start])) ++start;
    text.erase(0, start);
  }
  for (char& letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if ((code < 0x20 && letter != '\n' && letter != '\t') || code == 0x7F) letter = ' ';
  }
  return text;
}

std::string OutputTail::last_line() const {
  const auto all = text();
  const auto trimmed = base::trim(all);
  const auto at = trimmed.rfind('\n');
  return std::string(at == std::string_view::npos ? trimmed : trimmed.substr(at + 1));
}

}  // namespace ridgeline::execute
