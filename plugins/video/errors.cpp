// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <array>
#include <cctype>
#include <cstdarg>
#include <cstdio>

#include "ffmpeg.hpp"

namespace ridgeline::video_plugin {
namespace {

thread_local std::array<char, 256> logged{};

void keep(void* /*object*/, int level, const char* format, va_list arguments) {
  if (level > AV_LOG_ERROR) return;
  std::array<char, 256> line{};
  if (std::vsnprintf(line.data(), line.size(), format, arguments) <= 0) return;
  // A line often comes in pieces of which the last is its end alone.
  if (line[0] != '\n' && line[0] != '\0') logged = line;
}

/// One line, lower case at its beginning and without a full stop.
std::string tidy(std::string text) {
  for (auto& letter : text)
    if (std::iscntrl(static_cast<unsigned char>(letter)) != 0) letter = ' ';
  while (!text.empty() && (text.back() == ' ' || text.back() == '.' || text.back() == '!')) text.pop_back();
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

rl_video_code code_of(int averror) noexcept {
  switch (averror) {
    case AVERROR(ENOENT):
    case AVERROR(ENODEV):
    case AVERROR(ENXIO):
    case AVERROR_HTTP_NOT_FOUND:
    case AVERROR_STREAM_NOT_FOUND: return RL_VIDEO_NOT_FOUND;
    case AVERROR_INVALIDDATA:
    case AVERROR_EOF: return RL_VIDEO_CORRUPT;
    case AVERROR_PROTOCOL_NOT_FOUND:
    case AVERROR_OPTION_NOT_FOUND:
    case AVERROR(EINVAL): return RL_VIDEO_INVALID;
    case AVERROR_DECODER_NOT_FOUND:
    case AVERROR_ENCODER_NOT_FOUND:
    case AVERROR_DEMUXER_NOT_FOUND:
    case AVERROR_MUXER_NOT_FOUND:
    case AVERROR_PATCHWELCOME: return RL_VIDEO_UNSUPPORTED;
    case AVERROR(ENOMEM): return RL_VIDEO_OUT_OF_MEMORY;
    case AVERROR(ETIMEDOUT): return RL_VIDEO_TIMEOUT;
    case AVERROR_EXIT: return RL_VIDEO_CANCELLED;
    default: return RL_VIDEO_IO;
  }
}

std::string words_of(int averror) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(averror, text.data(), text.size());
  auto words = tidy(text.data());
  // Of the others FFmpeg logs the same once more, with the address and its password.
  const auto code = code_of(averror);
  const bool vague = code == RL_VIDEO_CORRUPT || code == RL_VIDEO_INVALID;
  if (vague && logged[0] != '\0') words += " (" + tidy(logged.data()) + ")";
  return words;
}

std::string logged_or(std::string otherwise) { return logged[0] != '\0' ? tidy(logged.data()) : otherwise; }

int checked(int value, const std::string& context) {
  if (value < 0) throw Refusal(code_of(value), context + ": " + words_of(value));
  return value;
}

void capture_log() noexcept { av_log_set_callback(keep); }
void clear_log() noexcept { logged[0] = '\0'; }

}  // namespace ridgeline::video_plugin
