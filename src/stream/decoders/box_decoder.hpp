// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stream/decoders/result_text.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// What decoders of upright boxes have in common:
///   {"boxes":[{"box":[left,top,right,bottom],"label":"car","class":2,"score":0.91}, ...]}, best first
class BoxDecoder : public ResultDecoder {
 public:
  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) final;
  [[nodiscard]] std::span<const FoundBox> boxes() const noexcept final { return boxes_; }
  [[nodiscard]] bool finds_boxes() const noexcept final { return true; }

 protected:
  explicit BoxDecoder(std::span<const std::string> labels) : labels_(labels) {}
  /// Fills boxes_, which is empty.
  [[nodiscard]] virtual base::Result<void> find_boxes(std::span<const OutputView> outputs,
                                                      const FrameGeometry& geometry) = 0;
  [[nodiscard]] const LabelTexts& labels() const noexcept { return labels_; }

  std::vector<FoundBox> boxes_;

 private:
  LabelTexts labels_;
};

}  // namespace ridgeline::stream
