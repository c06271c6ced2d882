// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stream/decoders/decoder_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// What `auto` takes a model for.
struct RecognizedDecoder {
  std::string_view name;  ///< one of kDecoderNames, not "auto"
  /// With the reading; of "none" the decoders that were considered, each with why it was refused.
  schema::Message note;
  schema::Message reading{};  ///< "output0 of 84x8400: boxes in columns of 4 + 80 classes"; empty of "none"
};

/// A decoder that reads outputs of these shapes, and whose values those of a first frame can be; "none" without one. By
/// names, shapes and values, by what metadata tell of the task, and by how many labels there are. `shapes` are those of
/// `outputs`, or as the model declares them where it has no dimension for the batch.
[[nodiscard]] RecognizedDecoder recognize_decoder(const DecoderOptions& options, std::span<const OutputShape> shapes,
                                                  std::span<const OutputView> outputs, const FrameGeometry& geometry);

}  // namespace ridgeline::stream
