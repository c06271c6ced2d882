// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stream/decoders/box_decoder.hpp"
#include "stream/decoders/box_table.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/yolo_layout.hpp"

namespace ridgeline::stream {

/// What YOLO models find, as Ultralytics exports them (decoders yolo, pose and obb), and YOLOX from its grid: the
/// centre is (x + column) * stride, a side exp(w) * stride, the score objectness * class (Ge et al. 2021).
class YoloDecoder : public BoxDecoder {
 public:
  /// Errors: invalid_argument (options out of range, outputs of another shape).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(YoloTask task, const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs,
                                                                         int input_width, int input_height);
  /// YOLOX. Errors: as make.
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make_grid(const DecoderOptions& options,
                                                                              std::span<const OutputShape> outputs,
                                                                              int input_width, int input_height);

  [[nodiscard]] schema::Message layout() const override { return layout_message(layout_); }
  [[nodiscard]] std::optional<schema::Message> mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const override;
  [[nodiscard]] std::optional<messages::DecoderLeavesOutPart> left_out() const override {
    return layout_.masks > 0 ? std::optional(messages::DecoderLeavesOutPart::masks) : std::nullopt;
  }

 private:
  YoloDecoder(const BoxRules& rules, const DecoderOptions& options, const YoloLayout& layout);
  base::Result<void> find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) override;
  [[nodiscard]] base::Result<BoxTable> table_of(std::span<const OutputView> outputs) const;
  base::Result<void> take_final(const BoxTable& table);
  void take_rows(const BoxTable& table);
  void take_columns(const BoxTable& table);
  [[nodiscard]] base::Result<void> take_grid(const BoxTable& table, const FrameGeometry& geometry);
  void add(float centre_x, float centre_y, float width, float height, float score, std::size_t label, std::size_t row);
  [[nodiscard]] std::optional<schema::Message> grid_mismatch(const BoxTable& table,
                                                             const FrameGeometry& geometry) const;
  [[nodiscard]] std::optional<schema::Message> final_mismatch(const BoxTable& table,
                                                              const FrameGeometry& geometry) const;
  [[nodiscard]] std::optional<schema::Message> beside_mismatch(const BoxTable& table, const FrameGeometry& geometry,
                                                               bool named) const;

  YoloLayout layout_;
  bool knows_task_;          ///< by metadata
  bool knows_classes_;       ///< how many there are, by metadata or labels
  std::vector<float> best_;  ///< score by column
};

}  // namespace ridgeline::stream
