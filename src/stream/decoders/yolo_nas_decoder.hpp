// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "stream/decoders/box_decoder.hpp"
#include "stream/decoders/box_table.hpp"
#include "stream/decoders/decoder_options.hpp"

namespace ridgeline::stream {

/// Boxes of YOLO-NAS without its suppression: corners in pixels of the input (Nx4) and scores (NxC), in either order.
class YoloNasDecoder : public BoxDecoder {
 public:
  /// Errors: invalid_argument (options out of range, outputs of another shape, another number of classes than labels).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] schema::Message layout() const override;
  [[nodiscard]] std::optional<schema::Message> mismatch(std::span<const OutputView> outputs,
                                                        const FrameGeometry& geometry, bool named) const override;

 private:
  struct Tables {
    BoxTable boxes;
    BoxTable scores;
  };

  YoloNasDecoder(const DecoderOptions& options, std::size_t boxes);
  base::Result<void> find_boxes(std::span<const OutputView> outputs, const FrameGeometry& geometry) override;
  [[nodiscard]] base::Result<Tables> tables_of(std::span<const OutputView> outputs) const;

  std::size_t boxes_at_;  ///< which of the two outputs has them
};

}  // namespace ridgeline::stream
