/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface between Ridgeline and ridgeline_video.so, which is linked with FFmpeg's libraries. C types only, no
 * exception crosses it. The program opens the plug-in with dlopen, looks up RL_VIDEO_ENTRY and calls it with its own
 * version; NULL means that the plug-in cannot serve that version.
 *
 * Growth: fields are appended, never moved; every struct begins with its size as its writer knows it, and a reader
 * takes what lies beyond that size as absent. A change that breaks this raises RL_VIDEO_ABI_VERSION. Threads: one
 * thread at a time uses a reader or a writer, but for `interrupt`. Strings are UTF-8 and live until the call returns.
 * Times in nanoseconds. Functions that return int32_t return an rl_video_code and fill `error` unless it is
 * RL_VIDEO_OK or RL_VIDEO_END. */
#ifndef RIDGELINE_STREAM_VIDEO_ABI_H
#define RIDGELINE_STREAM_VIDEO_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RL_VIDEO_ABI_VERSION 1u
#define RL_VIDEO_ENTRY "ridgeline_video_api"

enum rl_video_code {
  RL_VIDEO_OK = 0,
  RL_VIDEO_END = 1,         /* no more frames; rl_video_totals.cut says whether the video ended as it should */
  RL_VIDEO_INVALID = 2,     /* the request itself: an unknown format or protocol, a side out of range */
  RL_VIDEO_NOT_FOUND = 3,   /* no such file, device or address */
  RL_VIDEO_NO_STREAM = 4,   /* readable, but there is no video in it */
  RL_VIDEO_CORRUPT = 5,     /* not a video that FFmpeg knows, or nothing in it can be decoded */
  RL_VIDEO_IO = 6,          /* the operating system or the other side refused */
  RL_VIDEO_TIMEOUT = 7,     /* nothing came for as long as rl_video_options allows */
  RL_VIDEO_CANCELLED = 8,   /* interrupt */
  RL_VIDEO_UNSUPPORTED = 9, /* this FFmpeg has no decoder or encoder for it */
  RL_VIDEO_OUT_OF_MEMORY = 10,
  RL_VIDEO_FAILED = 11 /* everything else */
};

typedef struct rl_video_error {
  uint32_t struct_size; /* set by the caller */
  int32_t code;         /* rl_video_code */
  char message[512];    /* one line without the source's name, ends with NUL */
} rl_video_error;

enum rl_video_pixels { /* the numbers of stream::PixelFormat; rows without padding */
                       RL_VIDEO_BGR24 = 0,
                       RL_VIDEO_RGB24 = 1,
                       RL_VIDEO_GRAY8 = 2,
                       RL_VIDEO_NV12 = 3
};

#define RL_VIDEO_MAX_SIDE 32768
/* Of one picture, so that a file of a few bytes cannot ask for gigabytes: 16384 x 16384. */
#define RL_VIDEO_MAX_PIXELS (INT64_C(1) << 28)

typedef struct rl_video_options {
  uint32_t struct_size;
  int32_t fd;              /* what to read instead of `url`, which then only names it; stays the caller's. -1: none */
  int32_t threads;         /* of the decoder; 0: as many as there are processors */
  int32_t live;            /* 1: least delay rather than most frames a second */
  int64_t timeout_ns;      /* longest wait for one frame; 0: no limit */
  int64_t open_timeout_ns; /* longest wait for opening, the first frame included; 0: no limit */
  const char* format;      /* FFmpeg's name of the container or device ("v4l2"); NULL: recognized */
  const char* rtsp_transport; /* "tcp", "udp"; NULL: FFmpeg's choice */
  int32_t width, height;      /* asked of a camera; 0: its own choice */
  double fps;
  int32_t apply_orientation; /* 1: frames come as they are to be seen, turned and mirrored; 0: as they are stored */
  void* gpu_context; /* CUcontext of the GPU that decodes where it can; it stays the caller's. NULL: the CPU does */
} rl_video_options;

enum rl_video_fields { RL_VIDEO_WHOLE_FRAMES = 0, RL_VIDEO_TOP_FIELD_FIRST = 1, RL_VIDEO_BOTTOM_FIELD_FIRST = 2 };

typedef struct rl_video_info {
  uint32_t struct_size;
  int32_t width, height;    /* of the first frame, as it is given */
  double fps;               /* 0: not known */
  int64_t frames;           /* -1: not known */
  int64_t duration_ns;      /* -1: not known */
  char decoder[32];         /* "h264" */
  int32_t orientation;      /* that was applied to the first frame, as EXIF numbers it: 2 to 8; 0, 1: none */
  double other_angle;       /* clockwise, in degrees; a rotation by no quarter turns, which is not applied; 0: none */
  int32_t fields;           /* rl_video_fields of the first frame; interlaced ones are given as they are */
  int32_t on_gpu;           /* 1: a GPU decodes */
  char why_not_on_gpu[256]; /* one line, where a GPU was asked for and the CPU decodes */
} rl_video_info;

typedef struct rl_video_frame {
  uint32_t struct_size;
  int32_t width, height;
  int64_t pts_ns; /* since the first frame; never goes back */
  /* Of a frame that a GPU has decoded: its NV12 planes in the GPU's memory, ready on the context's default stream, and
   * the bytes from row to row. 0: the frame is in the host's memory. */
  uint64_t gpu_planes[2];
  int64_t gpu_strides[2];
} rl_video_frame;

typedef struct rl_video_totals {
  uint32_t struct_size;
  int32_t cut;        /* 1: reading stopped before what the container announced */
  int64_t frames;     /* given so far */
  int64_t damaged;    /* skipped so far */
  char reason[512];   /* why reading stopped, where `cut` is 1 */
  int64_t interlaced; /* of the frames given */
} rl_video_totals;

typedef struct rl_video_encoding {
  uint32_t struct_size;
  int32_t width, height; /* even */
  double fps;            /* nominal; the times that are written are those of the frames */
  int32_t threads;       /* 0: as many as there are processors */
} rl_video_encoding;

typedef struct rl_video_reader rl_video_reader;
typedef struct rl_video_writer rl_video_writer;

typedef struct rl_video_api {
  uint32_t struct_size;
  uint32_t abi_version;
  const char* ffmpeg_version; /* "5.1.9-0+deb12u1" */
  const char* license;        /* of the libraries as they are built here: "GPL version 2 or later" */
  /* A reader to open, so that opening can be interrupted as well. NULL: no memory. */
  rl_video_reader* (*create)(void);
  /* Once a reader. Blocks until the first frames have been seen. */
  int32_t (*open)(rl_video_reader* reader, const char* url, const rl_video_options* options, rl_video_info* info,
                  rl_video_error* error);
  /* Decodes the next frame that is not damaged; it stays until the next call. */
  int32_t (*read)(rl_video_reader* reader, rl_video_frame* frame, rl_video_error* error);
  /* Writes the frame that was read last: the bytes of its size in that format. NV12 needs even sides and crops others
   * by one. */
  int32_t (*convert)(rl_video_reader* reader, int32_t pixels, uint8_t* bytes, size_t size, rl_video_error* error);
  void (*totals)(const rl_video_reader* reader, rl_video_totals* out);
  /* From any thread: open and read that are under way end with RL_VIDEO_CANCELLED within about 100 ms, later ones at
   * once. */
  void (*interrupt)(rl_video_reader* reader);
  void (*close)(rl_video_reader* reader);
  /* Creates the file; its name's ending chooses the container (.mp4, .avi, .mkv ...). H.264 where this FFmpeg has an
   * encoder for it, MPEG-4 elsewhere. */
  int32_t (*create_writer)(const char* path, const rl_video_encoding* encoding, rl_video_writer** out,
                           rl_video_error* error);
  /* A picture in BGR24 of the size that was named; pts_ns must grow. */
  int32_t (*write)(rl_video_writer* writer, const uint8_t* bgr24, int64_t pts_ns, rl_video_error* error);
  /* Writes what is still kept and the container's index. A file that was not finished may be unreadable. */
  int32_t (*finish)(rl_video_writer* writer, rl_video_error* error);
  void (*close_writer)(rl_video_writer* writer);
} rl_video_api;

typedef const rl_video_api* (*rl_video_entry)(uint32_t abi_version);

#ifdef __cplusplus
}
#endif

#endif /* RIDGELINE_STREAM_VIDEO_ABI_H */
