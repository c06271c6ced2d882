// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "stream/preprocess_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// The smallest and largest of some values; low > high where there are none.
struct ValueRange {
  float low = 1;
  float high = 0;
  [[nodiscard]] bool empty() const noexcept { return low > high; }
  void add(float value) noexcept {
    if (empty()) {
      low = high = value;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
};

/// Boxes of that score are taken for found ones when values are checked.
inline constexpr float kScoredBox = 0.25F;
/// The highest score that there is: half precision rounds up.
inline constexpr float kHighestScore = 1.01F;

/// An output with the same number of values for each box: one row (N x channels) or one column (channels x N) each.
struct BoxTable {
  std::span<const float> values;
  std::size_t count = 0;
  std::size_t channels = 0;
  bool in_columns = false;

  [[nodiscard]] std::size_t box_step() const noexcept { return in_columns ? 1 : channels; }
  [[nodiscard]] std::size_t channel_step() const noexcept { return in_columns ? count : 1; }
  [[nodiscard]] float at(std::size_t box, std::size_t channel) const noexcept {
    return values[box * box_step() + channel * channel_step()];
  }
  [[nodiscard]] ValueRange range(std::size_t first_channel, std::size_t channels_of_it) const noexcept;
};

/// What a decoder's values are checked for; each gives what is wrong with them, or nullopt.

/// Scores outside 0 to 1; where the decoder was not named, also a channel that half of all boxes score in: background
/// scores low in a class, and an angle or a coordinate does not.
[[nodiscard]] std::optional<schema::Message> score_mismatch(const BoxTable& table, std::size_t first_channel,
                                                            std::size_t channels, bool named);

/// Scores outside 0 to 1.
[[nodiscard]] std::optional<schema::Message> score_mismatch(ValueRange scores);

/// Gathers boxes in pixels of the input, of which `is_scored` ones count for more than those of the background.
class BoxCheck {
 public:
  explicit BoxCheck(const FrameGeometry& geometry) : geometry_(geometry) {}
  void add(const FoundBox& box, bool is_scored);
  /// Corners that are not in order, boxes far outside the input, all boxes below two pixels.
  [[nodiscard]] std::optional<schema::Message> mismatch() const;
  /// Whether any box has a size.
  [[nodiscard]] bool has_boxes() const noexcept { return sized_ > 0; }

 private:
  FrameGeometry geometry_;
  std::size_t scored_ = 0;
  std::size_t sized_ = 0;
  std::size_t large_ = 0;
  std::size_t large_scored_ = 0;
  std::optional<FoundBox> reversed_;
  std::optional<FoundBox> outside_;
};

/// Whether a box is far from the input: wholly outside three times its size around it, or larger than that.
[[nodiscard]] bool is_far_outside(const FoundBox& box, const FrameGeometry& geometry) noexcept;

}  // namespace ridgeline::stream
