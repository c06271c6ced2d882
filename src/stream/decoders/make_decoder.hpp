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

inline constexpr std::array<std::string_view, 9> kDecoderNames{"auto",    "ppocr",    "yolo", "detr", "simcc",
                                                               "heatmap", "classify", "ctc",  "none"};

/// What `auto` takes a model for.
struct RecognizedDecoder {
  std::string_view name;  ///< one of kDecoderNames, not "auto"
  std::string reason;     ///< for people: "output0 of 84x8400: boxes in columns of 4 + 80 classes"
};

/// By names and shapes of the outputs, and by how many labels there are; "none" where nothing fits. A side of the input
/// is -1 where it is not known.
[[nodiscard]] RecognizedDecoder recognize_decoder(const DecoderOptions& options, std::span<const OutputShape> outputs,
                                                  int input_width, int input_height);

/// Errors: invalid_argument (an unknown name, listing those there are; options out of range; outputs that this decoder
/// does not read, with their shapes).
[[nodiscard]] base::Result<std::unique_ptr<ResultDecoder>> make_decoder(std::string_view name,
                                                                        const DecoderOptions& options,
                                                                        std::span<const OutputShape> outputs,
                                                                        int input_width, int input_height);

}  // namespace ridgeline::stream
