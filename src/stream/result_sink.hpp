// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/error.hpp"
#include "stream/image.hpp"
#include "stream/result_order.hpp"

namespace ridgeline::stream {

/// One frame as it leaves the pipeline: in order for each source, results and gaps.
struct FrameOutput {
  const FrameResult& frame;
  const std::string& result;  ///< JSON; "" for a gap
  /// The picture; null where the sink does not want it, or where too many would have had to be kept.
  std::shared_ptr<const Image> image;
  const std::string& error;  ///< why its batch failed; ""
};

/// Where results go; one thread.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  /// Whether results keep their pictures until they are written, as many as PipelineOptions::most_images.
  [[nodiscard]] virtual bool wants_images() const { return true; }
  /// An error ends the run.
  [[nodiscard]] virtual base::Result<void> write(const FrameOutput& output) = 0;
  /// After the last one.
  [[nodiscard]] virtual base::Result<void> finish() { return {}; }
};

}  // namespace ridgeline::stream
