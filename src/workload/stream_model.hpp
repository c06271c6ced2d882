// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gpu/device_times.hpp"
#include "schema/message.hpp"
#include "schema/stream_spec.hpp"
#include "stream/batch_runner.hpp"

namespace ridgeline::workload {

/// What a stream's model is asked for; `spec.settings` with `streams` above 0.
struct StreamModelRequest {
  const schema::StreamSpec& spec;
  int frame_width = 0;  ///< of the first source
  int frame_height = 0;
  const stream::Image* sample =
      nullptr;                          ///< its first frame, by whose outputs their meaning is found; null: a grey one
  std::int64_t* fixed_batch = nullptr;  ///< set if the batch is more than the model takes: to what it takes
};

/// What it turned out to be, for people and records.
struct StreamModelFacts {
  std::string runtime;  ///< "onnxruntime 1.29.0, cpu"
  std::string input;    ///< "x: float 1x3x704x1280"
  std::string decoder;  ///< that was chosen
  bool pads = false;    ///< batches run in warmed sizes only
  std::vector<schema::Message> notes;
  std::int64_t lanes = 0;  ///< batches that may be under way at once, as workers of a BatchRunner; 0: one a session
  std::int64_t session_batches = 1;  ///< of them, those that may be in one session
};

/// A model with what comes before and behind it, a session for each worker.
class StreamModel : public stream::BatchRunner {
 public:
  [[nodiscard]] virtual const StreamModelFacts& facts() const noexcept = 0;
  /// Memory for frames that the model's device reads by itself; nullptr: it wants none.
  [[nodiscard]] virtual std::shared_ptr<stream::ImageMemory> image_memory() const { return nullptr; }
  /// Whether frames may be in the memory of its device.
  [[nodiscard]] virtual bool takes_device_images() const noexcept { return false; }
  /// What its device has done for it since start_device_times(); nullopt: not known.
  [[nodiscard]] virtual std::optional<gpu::DeviceTimes> device_times() const { return std::nullopt; }
  virtual void start_device_times() {}
};

/// Results are `null`, at once: what a pipeline itself takes.
[[nodiscard]] std::unique_ptr<StreamModel> make_null_stream_model();

}  // namespace ridgeline::workload
