/* SPDX-License-Identifier: Apache-2.0 */
/* A video plug-in without FFmpeg: every connection gives three grey frames of 4x2, 40 ms apart, and ends; the second and
 * third attempt to open are refused; the fourth connection (fifth attempt) waits until it is interrupted. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/video_abi.h"

struct rl_video_reader {
  int opened_as;
  int frames;
  volatile int stopped;
};

static int attempts;

static int32_t refuse(rl_video_error* error, int32_t code, const char* text) {
  error->code = code;
  strcpy(error->message, text);
  return code;
}

static rl_video_reader* create(void) { return calloc(1, sizeof(rl_video_reader)); }

static int32_t open_reader(rl_video_reader* reader, const char* url, const rl_video_options* options, rl_video_info* info,
                           rl_video_error* error) {
  (void)options;
  if (strstr(url, "nobody") != NULL) return refuse(error, RL_VIDEO_IO, "connection refused");
  reader->opened_as = ++attempts;
  if (attempts == 2 || attempts == 3) return refuse(error, RL_VIDEO_IO, "connection refused");
  info->width = 4;
  info->height = 2;
  info->frames = -1;
  info->duration_ns = -1;
  strcpy(info->decoder, "h264");
  return RL_VIDEO_OK;
}

static int32_t read_frame(rl_video_reader* reader, rl_video_frame* frame, rl_video_error* error) {
  if (reader->opened_as >= 5) {
    while (!reader->stopped) usleep(1000);
    return refuse(error, RL_VIDEO_CANCELLED, "interrupted");
  }
  if (reader->frames == 3) return RL_VIDEO_END;
  frame->width = 4;
  frame->height = 2;
  frame->pts_ns = 40000000 * reader->frames++;
  return RL_VIDEO_OK;
}

static int32_t convert(rl_video_reader* reader, int32_t pixels, uint8_t* bytes, size_t size, rl_video_error* error) {
  (void)reader;
  (void)pixels;
  (void)error;
  memset(bytes, 128, size);
  return RL_VIDEO_OK;
}

static void totals(const rl_video_reader* reader, rl_video_totals* out) {
  const uint32_t size = out->struct_size;
  memset(out, 0, sizeof *out);
  out->struct_size = size;
  out->frames = reader->frames;
  out->damaged = reader->frames == 3 ? 1 : 0;
}

static void interrupt(rl_video_reader* reader) { reader->stopped = 1; }
static void close_reader(rl_video_reader* reader) { free(reader); }

static int32_t create_writer(const char* path, const rl_video_encoding* encoding, rl_video_writer** out,
                             rl_video_error* error) {
  (void)path;
  (void)encoding;
  (void)out;
  return refuse(error, RL_VIDEO_UNSUPPORTED, "no encoder");
}

static int32_t write_frame(rl_video_writer* writer, const uint8_t* bgr24, int64_t pts_ns, rl_video_error* error) {
  (void)writer;
  (void)bgr24;
  (void)pts_ns;
  return refuse(error, RL_VIDEO_UNSUPPORTED, "no encoder");
}

static int32_t finish(rl_video_writer* writer, rl_video_error* error) {
  (void)writer;
  return refuse(error, RL_VIDEO_UNSUPPORTED, "no encoder");
}

static void close_writer(rl_video_writer* writer) { (void)writer; }

static const rl_video_api api = {
#ifdef RL_FAKE_SHORT
    offsetof(rl_video_api, close_writer),
#else
    sizeof(rl_video_api),
#endif
    RL_VIDEO_ABI_VERSION, "0.0", "none",    create,        open_reader, read_frame, convert,
    totals,               interrupt, close_reader, create_writer, write_frame, finish,     close_writer};

__attribute__((visibility("default"))) const rl_video_api* ridgeline_video_api(uint32_t abi_version);
const rl_video_api* ridgeline_video_api(uint32_t abi_version) { return abi_version == RL_VIDEO_ABI_VERSION ? &api : NULL; }
