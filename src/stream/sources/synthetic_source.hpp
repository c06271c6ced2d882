// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "stream/frame_source.hpp"
#include "stream/raw_format.hpp"

namespace ridgeline::stream {

/// A pattern of stripes that moves by three pixels a frame; the same every time, and as fast as memory is copied.
class SyntheticSource final : public FrameSource {
 public:
  struct Pattern {
    RawFormat picture;
    std::int64_t frames = -1;  ///< -1: no end
  };
  /// "640x480", "640x480@25", "640x480@25x1000" or "640x480x1000": what follows "synthetic:". 30 frames a second
  /// unless it says otherwise. Errors: invalid_argument.
  [[nodiscard]] static base::Result<Pattern> parse(std::string_view text, PixelFormat format);

  SyntheticSource(std::string name, const Pattern& pattern);

  [[nodiscard]] const SourceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] base::Result<std::optional<std::int64_t>> next(Image& image) override;
  void interrupt() noexcept override { stopped_.store(true, std::memory_order_relaxed); }

 private:
  SourceInfo info_;
  Pattern pattern_;
  std::vector<std::uint8_t> row_;  ///< a row and one period of the pattern more
  std::int64_t frames_ = 0;
  std::atomic<bool> stopped_{false};
};

}  // namespace ridgeline::stream
