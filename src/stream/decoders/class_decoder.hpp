// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stream/decoders/decoder_options.hpp"
#include "stream/decoders/result_text.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// The output with one value a class: of two or more values, as many as there are labels where there are any; else the
/// only output. nullopt: none is like that. Sizes that are not known fit.
[[nodiscard]] std::optional<std::size_t> find_class_output(std::span<const OutputShape> outputs, std::size_t labels);

/// The best five classes of a picture. Values that are not probabilities are logits, of which softmax makes them.
///   {"classes":[{"class":3,"label":"cat","score":0.98}, ...]}
class ClassDecoder final : public ResultDecoder {
 public:
  static constexpr std::size_t kMostClasses = 5;

  /// Errors: invalid_argument (outputs of another shape).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) override;
  [[nodiscard]] schema::Message layout() const override { return messages::layout_classes(); }

 private:
  explicit ClassDecoder(const DecoderOptions& options);

  LabelTexts labels_;
  float score_threshold_;
  std::vector<int> order_;
};

}  // namespace ridgeline::stream
