// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "stream/annotated_video.hpp"
#include "stream/result_sink.hpp"

namespace ridgeline::stream {

/// Passes results on, and then adds their pictures to the video of their source. Videos that fail do not end the run.
class AnnotatingSink final : public ResultSink {
 public:
  /// A video for each source.
  AnnotatingSink(std::unique_ptr<ResultSink> results, std::vector<std::unique_ptr<AnnotatedVideo>> videos)
      : results_(std::move(results)), videos_(std::move(videos)) {}

  [[nodiscard]] base::Result<void> write(const FrameOutput& output) override {
    RL_TRY(results_->write(output));
    const auto& [frame, dropped, batch, launched_ns, done_ns, left_ns] = output.frame;
    if (dropped == DropReason::damaged) return {};  // there is nothing to show
    // A frame that was skipped on purpose is shown as it is.
    const bool has_gap = dropped && *dropped != DropReason::skipped;
    videos_[frame.source]->add(
        {output.image, output.result, has_gap ? std::string(to_string(*dropped)) : std::string(), frame.pts_ns});
    return {};
  }
  [[nodiscard]] base::Result<void> finish() override { return results_->finish(); }

  [[nodiscard]] const std::vector<std::unique_ptr<AnnotatedVideo>>& videos() const noexcept { return videos_; }

 private:
  std::unique_ptr<ResultSink> results_;
  std::vector<std::unique_ptr<AnnotatedVideo>> videos_;
};

}  // namespace ridgeline::stream
