// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// For models whose outputs are not to be read (`none`): what they are.
///   {"outputs":[{"name":"x","shape":[1,704,1280],"min":0.0001,"mean":0.02,"max":0.98}, ...]}
/// Values that are no number or infinite are left out and counted ("not_finite"); with none left there is no "min".
class SummaryDecoder : public ResultDecoder {
 public:
  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) override;
  [[nodiscard]] schema::Message layout() const override { return messages::layout_none(); }
};

}  // namespace ridgeline::stream
