/* SPDX-License-Identifier: Apache-2.0 */
/* A video plug-in without FFmpeg: every connection gives three grey frames of 4x2, 40 ms apart, and ends; the second and
 * third attempt to open are refused, but for an address with "clip"; the fourth connection (fifth attempt) waits until it
 * is interrupted. With a GPU frames lie in its memory, 16 bytes from row to row: luma 1 to 8, chroma 11 to 14; an address
 * with "hevc" is not decoded there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/video_abi.h"

struct rl_video_reader {
  int opened_as;
  int frames;
  int on_gpu;
  volatile int stopped;
};

static int attempts;
static const uint8_t picture[48] = {1, 2, 3, 4, [16] = 5, 6, 7, 8, [32] = 11, 12, 13, 14};

static int32_t refuse(rl_video_error* error, int32_t code, const char* text) {
  error->code = code;
  strcpy(error->message, text);
  return code;
}

static rl_video_reader* create(void) { return calloc(1, sizeof(rl_video_reader)); }

static int32_t open_reader(rl_video_reader* reader, const char* url, const rl_video_options* options, rl_video_info* info,
                           rl_video_error* error) {
  if (strstr(url, "nobody") != NULL) return refuse(error, RL_VIDEO_IO, "connection refused");
  const int is_clip = strstr(url, "clip") != NULL;
  reader->opened_as = is_clip ? 1 : ++attempts;
  if (!is_clip && (attempts == 2 || attempts == 3)) return refuse(error, RL_VIDEO_IO, "connection refused");
  info->width = 4;
  info->height = 2;
  info->frames = -1;
  info->duration_ns = -1;
  strcpy(info->decoder, "h264");
  reader->on_gpu = options->gpu_context != NULL && strstr(url, "hevc") == NULL;
  info->on_gpu = reader->on_gpu;
  if (options->gpu_context != NULL && !reader->on_gpu) strcpy(info->why_not_on_gpu, "its pixels are p010");
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
  if (reader->on_gpu) {
    frame->gpu_planes[0] = (uint64_t)(size_t)picture;
    frame->gpu_planes[1] = (uint64_t)(size_t)(picture + 32);
    frame->gpu_strides[0] = frame->gpu_strides[1] = 16;
  }
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
