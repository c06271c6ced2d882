// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

inline constexpr std::array<std::string_view, 14> kDecoderNames{"auto",    "ppocr",    "yolo", "yolox", "yolo-nas",
                                                                "pose",    "obb",      "detr", "boxes", "simcc",
                                                                "heatmap", "classify", "ctc",  "none"};

/// By name, other than "auto" (see recognize_decoder). Errors: invalid_argument (an unknown name, listing those there
/// are; options out of range; outputs that this decoder does not read, with their shapes).
[[nodiscard]] base::Result<std::unique_ptr<ResultDecoder>> make_decoder(std::string_view name,
                                                                        const DecoderOptions& options,
                                                                        std::span<const OutputShape> outputs,
                                                                        int input_width, int input_height);

}  // namespace ridgeline::stream
