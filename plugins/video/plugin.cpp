// SPDX-License-Identifier: Apache-2.0
// The C interface (video_abi.h) of ridgeline_video.so. No exception leaves this file.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "errors.hpp"
#include "ffmpeg.hpp"
#include "reader.hpp"
#include "writer.hpp"

using ridgeline::video_plugin::Reader;
using ridgeline::video_plugin::Refusal;
using ridgeline::video_plugin::Writer;

struct rl_video_reader {
  Reader reader;
};

struct rl_video_writer {
  rl_video_writer(const char* path, const rl_video_encoding& encoding) : writer(path, encoding) {}
  Writer writer;
};

namespace {

std::int32_t report(rl_video_error* error, rl_video_code code, const char* text) noexcept {
  if (error != nullptr && error->struct_size >= sizeof *error) {
    error->code = code;
    const auto length = std::min(std::strcspn(text, "\n"), sizeof error->message - 1);
    std::memcpy(error->message, text, length);
    error->message[length] = '\0';
  }
  return code;
}

/// Calls `work`, which returns a code, and makes of every exception an error.
template <typename Work>
std::int32_t guarded(rl_video_error* error, const Work& work) noexcept {
  try {
    return work();
  } catch (const Refusal& refusal) {
    return report(error, refusal.code(), refusal.what());
  } catch (const std::bad_alloc&) {
    return report(error, RL_VIDEO_OUT_OF_MEMORY, "the host's memory ran out");
  } catch (const std::exception& failure) {
    return report(error, RL_VIDEO_FAILED, failure.what());
  } catch (...) {
    return report(error, RL_VIDEO_FAILED, "an unknown exception");
  }
}

/// A copy of the caller's struct in which what lies beyond its size is zero.
template <typename T>
T taken(const T& given) noexcept {
  T copy{};
  std::memcpy(&copy, &given, std::min<std::size_t>(given.struct_size, sizeof copy));
  return copy;
}

/// Writes as much of `made` as the caller's struct has room for, which keeps its size.
template <typename T>
void give(const T& made, T& out) noexcept {
  const auto size = out.struct_size;
  std::memcpy(&out, &made, std::min<std::size_t>(size, sizeof made));
  out.struct_size = size;
}

rl_video_reader* create() noexcept {
  try {
    return new rl_video_reader;
  } catch (...) {
    return nullptr;
  }
}

std::int32_t open(rl_video_reader* reader, const char* url, const rl_video_options* options, rl_video_info* info,
                  rl_video_error* error) noexcept {
  return guarded(error, [&] {
    rl_video_info made{};
    reader->reader.open(url, taken(*options), made);
    give(made, *info);
    return RL_VIDEO_OK;
  });
}

std::int32_t read(rl_video_reader* reader, rl_video_frame* frame, rl_video_error* error) noexcept {
  return guarded(error, [&] {
    rl_video_frame made{};
    if (!reader->reader.read(made)) return RL_VIDEO_END;
    give(made, *frame);
    return RL_VIDEO_OK;
  });
}

std::int32_t convert(rl_video_reader* reader, std::int32_t pixels, std::uint8_t* bytes, std::size_t size,
                     rl_video_error* error) noexcept {
  return guarded(error, [&] {
    reader->reader.convert(pixels, bytes, size);
    return RL_VIDEO_OK;
  });
}

void totals(const rl_video_reader* reader, rl_video_totals* out) noexcept {
  rl_video_totals made{};
  reader->reader.totals(made);
  give(made, *out);
}

std::int32_t create_writer(const char* path, const rl_video_encoding* encoding, rl_video_writer** out,
                           rl_video_error* error) noexcept {
  return guarded(error, [&] {
    *out = new rl_video_writer(path, taken(*encoding));
    return RL_VIDEO_OK;
  });
}

std::int32_t write(rl_video_writer* writer, const std::uint8_t* bgr24, std::int64_t pts_ns,
                   rl_video_error* error) noexcept {
  return guarded(error, [&] {
    writer->writer.write(bgr24, pts_ns);
    return RL_VIDEO_OK;
  });
}

std::int32_t finish(rl_video_writer* writer, rl_video_error* error) noexcept {
  return guarded(error, [&] {
    writer->writer.finish();
    return RL_VIDEO_OK;
  });
}

const rl_video_api& table() {
  static const rl_video_api api = [] {
    ridgeline::video_plugin::capture_log();
    avdevice_register_all();
    avformat_network_init();
    rl_video_api made{};
    made.struct_size = sizeof made;
    made.abi_version = RL_VIDEO_ABI_VERSION;
    made.ffmpeg_version = av_version_info();
    made.license = avcodec_license();
    made.create = create;
    made.open = open;
    made.read = read;
    made.convert = convert;
    made.totals = totals;
    made.interrupt = [](rl_video_reader* reader) { reader->reader.interrupt(); };
    made.close = [](rl_video_reader* reader) { delete reader; };
    made.create_writer = create_writer;
    made.write = write;
    made.finish = finish;
    made.close_writer = [](rl_video_writer* writer) { delete writer; };
    return made;
  }();
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const rl_video_api* ridgeline_video_api(std::uint32_t abi_version) {
  return abi_version == RL_VIDEO_ABI_VERSION ? &table() : nullptr;
}
