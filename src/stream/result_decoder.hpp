// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "stream/messages.hpp"
#include "stream/preprocess_options.hpp"

namespace ridgeline::stream {

/// One output of the model for one frame: the batch's dimension is taken off. Row-major.
struct OutputView {
  std::string_view name;
  std::span<const std::int64_t> dims;
  std::span<const float> values;  ///< other types converted; integers up to 2^24 exactly
  bool is_integer = false;        ///< the model's own type is one of whole numbers
};

/// Something found, upright, in pixels of the frame and within it.
struct FoundBox {
  float left = 0;
  float top = 0;
  float right = 0;
  float bottom = 0;
  float score = 0;
  int label = -1;         ///< the model's class; -1: it has none
  std::uint32_t row = 0;  ///< which of the model's boxes it is
};

/// Turns a model's outputs for one frame into what a user wants to read. Reused for all frames of one worker.
class ResultDecoder {
 public:
  virtual ~ResultDecoder() = default;
  /// Appends a JSON value to `json`. Coordinates are pixels of the frame, rounded to 0.1; scores have four digits.
  /// Errors: invalid_argument where the outputs are not what this decoder reads, with their shapes, or have a NaN;
  /// `json` is as before then.
  [[nodiscard]] virtual base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                                  std::string& json) = 0;
  /// What the last decode found, best first or from the top, for a second model and for drawing; empty for decoders
  /// without boxes.
  [[nodiscard]] virtual std::span<const FoundBox> boxes() const noexcept { return {}; }
  /// The same boxes where they need not be upright; none where they are.
  [[nodiscard]] virtual std::span<const Quad> quads() const noexcept { return {}; }
  /// Whether there can be any.
  [[nodiscard]] virtual bool finds_boxes() const noexcept { return false; }
  /// What it takes the outputs for: "boxes in columns of 4 + 80 classes".
  [[nodiscard]] virtual schema::Message layout() const = 0;
  /// Why the values of a frame are not what this decoder reads; nullopt: they may be. Where the decoder is
  /// `named` by the user only what is impossible counts, else also what is unlikely. Costs a pass over all values: for
  /// the first frame.
  [[nodiscard]] virtual std::optional<schema::Message> mismatch(std::span<const OutputView> /*outputs*/,
                                                                const FrameGeometry& /*geometry*/,
                                                                bool /*named*/) const {
    return std::nullopt;
  }
  /// The part of the outputs that it leaves out.
  [[nodiscard]] virtual std::optional<messages::DecoderLeavesOutPart> left_out() const { return std::nullopt; }
};

}  // namespace ridgeline::stream
