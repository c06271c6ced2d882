// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "stream/bgr_picture.hpp"
#include "stream/image.hpp"
#include "stream/video_writer.hpp"

namespace ridgeline::stream {

/// A video file of one source's frames with their results drawn in. A thread of its own draws and encodes, less
/// important than others, so that inferences keep the processors.
class AnnotatedVideo {
 public:
  struct Options {
    std::string path;
    int width = 0;  ///< of the first frame; others are brought to its size
    int height = 0;
    double fps = 0;        ///< 0: not known
    int threads = 0;       ///< of the encoder; 0: as many as there are processors
    bool may_wait = true;  ///< add() waits while frames queue up; else they are left out, as a camera cannot wait
    std::function<void(const base::Error&)> on_error{};  ///< once, on that thread: nothing more is written
  };
  struct Picture {
    std::shared_ptr<const Image> image;  ///< null: it could not be kept
    std::string result;                  ///< JSON
    std::string gap;                     ///< why there is none; ""
    std::int64_t pts_ns = 0;
  };
  struct Totals {
    std::uint64_t written = 0;
    std::uint64_t left_out = 0;
    std::optional<base::Error> error{};
  };

  /// Errors: of VideoWriter::create.
  [[nodiscard]] static base::Result<std::unique_ptr<AnnotatedVideo>> create(Options options);
  AnnotatedVideo(const AnnotatedVideo&) = delete;
  AnnotatedVideo& operator=(const AnnotatedVideo&) = delete;
  ~AnnotatedVideo();

  void add(Picture picture);
  /// Writes what waits and ends the file; one without frames is removed.
  const Totals& finish();
  [[nodiscard]] const std::string& path() const noexcept { return options_.path; }

 private:
  explicit AnnotatedVideo(Options options);
  [[nodiscard]] base::Result<std::unique_ptr<VideoWriter>> open() const;
  void work();
  void write(const Picture& picture);
  void end_file();
  void fail(const base::Error& error);

  const Options options_;
  BgrPicture picture_;
  std::unique_ptr<VideoWriter> writer_;  ///< the thread's
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable room_;
  std::deque<Picture> waiting_;
  Totals totals_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace ridgeline::stream
