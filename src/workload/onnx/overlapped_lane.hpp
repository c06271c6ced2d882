// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workload/onnx/batch_decoder.hpp"
#include "workload/onnx/overlapped_session.hpp"

namespace ridgeline::workload {

/// What one batch in flight needs of the host: memory for its outputs, and a decoder. Several lanes share a session, so
/// that it goes on while they decode. One thread at a time.
class OverlappedLane {
 public:
  /// The session must outlive it.
  explicit OverlappedLane(OverlappedSession& session)
      : session_(session), host_(session.gpu()), decoder_(session.environment(), session.parts().outputs) {}

  [[nodiscard]] BatchDecoder& decoder() noexcept { return decoder_; }

  /// As OrtStreamWorker::probe.
  [[nodiscard]] base::Result<OrtStreamWorker::Probe> probe(const stream::Image& image);
  /// As BatchRunner::run; `left` is called when the session can take another batch.
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results,
                                                     const std::function<void()>& left = {});

 private:
  OverlappedSession& session_;
  HostOutputs host_;
  BatchDecoder decoder_;
  GroupedFrames grouped_;
  std::vector<stream::PlannedFrame> planned_;
  std::vector<OrtValueHandle> probed_;
};

}  // namespace ridgeline::workload
