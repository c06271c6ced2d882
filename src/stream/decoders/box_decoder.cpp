// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/box_decoder.hpp"

namespace ridgeline::stream {

base::Result<void> BoxDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                      std::string& json) {
  boxes_.clear();
  if (auto found = find_boxes(outputs, geometry); !found) {
    boxes_.clear();
    return found;
  }
  append_boxes(json, boxes_, labels_);
  return {};
}

}  // namespace ridgeline::stream
