// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "execute/line_channel.hpp"
#include "execute/shared_memory.hpp"
#include "execute/stream_protocol.hpp"
#include "execute/stream_sources.hpp"
#include "host/reserved_processor.hpp"
#include "schema/stream_spec.hpp"
#include "schema/stream_status.hpp"
#include "stream/annotating_sink.hpp"
#include "stream/frame_labels.hpp"
#include "stream/image_pool.hpp"
#include "stream/load_feed.hpp"
#include "stream/pipeline.hpp"
#include "workload/workload_registry.hpp"

namespace ridgeline::execute {

/// One pipeline, from its request to its last line.
class StreamServer {
 public:
  StreamServer(const workload::WorkloadRegistry& registry, LineChannel& channel, StreamCounts& counts,
               schema::StreamSpec spec);
  ~StreamServer();
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  /// Runs it to its end. The final status, or the error that ended it.
  [[nodiscard]] base::Result<schema::StreamStatus> run();
  /// From any thread: nothing more comes in. False: nothing has come in yet, and what run() waits for, like a pipe
  /// without a writer, need not end.
  bool stop();

 private:
  /// Where videos are decoded on the GPU that the model runs on; nullptr: the CPU decodes them, with a note where that
  /// is not what was asked for.
  [[nodiscard]] std::shared_ptr<stream::DeviceImages> device_images();
  [[nodiscard]] base::Result<void> open_sources();
  [[nodiscard]] base::Result<schema::StreamStatus> run_pipeline();
  [[nodiscard]] base::Result<void> make_sink();
  [[nodiscard]] base::Result<void> make_model();
  /// The same with the largest batch that the device has memory for, at most the one that was asked for; with auto also
  /// at most what the model takes.
  [[nodiscard]] base::Result<void> make_fitting_model();
  /// After that error: gives the model up and lowers the batch, with a note. False where the batch is not the reason.
  [[nodiscard]] bool lower_batch(const base::Error& error);
  [[nodiscard]] base::Result<void> load_model();
  /// Runs a blank picture, so that a model that cannot be run is known before somebody sends the first frame.
  [[nodiscard]] base::Result<void> try_model();
  [[nodiscard]] base::Result<void> await_first_frames();
  [[nodiscard]] base::Result<void> start_pipeline();
  /// Ends their files; what went wrong with them.
  std::vector<schema::Message> finish_videos();
  [[nodiscard]] stream::PipelineOptions pipeline_options() const;
  void tell_ready(double ready_s);
  void feed_sources();
  [[nodiscard]] base::Result<void> feed_load(schema::StreamStatus& audit);
  [[nodiscard]] base::Result<std::vector<stream::Clip>> decode_clips();
  void tell_status();
  void note(const schema::Message& message) { channel_.send(stream_line::kNote, base::Json(message)); }
  [[nodiscard]] bool has_pace() const;
  [[nodiscard]] double elapsed_s() const;
  [[nodiscard]] schema::StreamStatus status_now() const;
  const workload::WorkloadRegistry& registry_;
  LineChannel& channel_;
  StreamCounts& counts_;
  schema::StreamSpec spec_;
  std::optional<host::ReservedProcessor> own_processor_;  ///< of the thread that offers a load
  stream::ImagePool pool_;
  stream::FrameLabels labels_;
  std::vector<OpenedSource> sources_;
  std::int64_t fixed_batch_ = 0;  ///< what the model takes, where that is less than batch_size
  std::unique_ptr<workload::StreamModel> model_;
  std::unique_ptr<stream::ResultSink> sink_;
  stream::AnnotatingSink* annotating_ = nullptr;  ///< the sink, where there are videos
  std::mutex stopping_;                           ///< guards pipeline_ and sources_ against stop()
  std::unique_ptr<stream::Pipeline> pipeline_;
  bool stopped_ = false;
  base::Nanoseconds ready_at_{};
  std::atomic<bool> over_{false};
  std::thread status_;
  std::mutex losing_;
  std::vector<schema::Message> lost_sources_;
};

}  // namespace ridgeline::execute
