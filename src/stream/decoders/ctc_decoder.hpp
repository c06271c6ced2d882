// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stream/decoders/decoder_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// Whether outputs are one distribution of characters a step, for so many labels; sizes that are not known fit.
[[nodiscard]] bool is_ctc_output(std::span<const OutputShape> outputs, std::size_t labels);

/// A line of text from steps x characters (CTC, Graves et al. 2006): the best character of each step, where repeats are
/// one and blanks are none. Labels are the characters in the model's order: as many as it has, with the blank among
/// them ("blank", "<blank>", "[blank]", "", else the first); one less, where the blank comes before them; or two less,
/// where a space comes after them too, as PaddleOCR's files are. The score is the mean of the characters'
/// probabilities.
///   {"text":"EXIT 24","score":0.98}
/// Text that scores less than the threshold is left out ("").
class CtcDecoder final : public ResultDecoder {
 public:
  /// Errors: invalid_argument (outputs of another shape, no labels or another number of them).
  [[nodiscard]] static base::Result<std::unique_ptr<ResultDecoder>> make(const DecoderOptions& options,
                                                                         std::span<const OutputShape> outputs);

  [[nodiscard]] base::Result<void> decode(std::span<const OutputView> outputs, const FrameGeometry& geometry,
                                          std::string& json) override;
  [[nodiscard]] schema::Message layout() const override {
    return messages::layout_ctc(static_cast<std::int64_t>(labels_.size()));
  }

 private:
  explicit CtcDecoder(const DecoderOptions& options);
  /// For a model with so many characters.
  [[nodiscard]] const std::string& character(std::size_t number, std::size_t characters) const;

  std::vector<std::string> labels_;
  std::size_t blank_ = 0;  ///< where labels are as many as characters
  double score_threshold_;
  std::string text_;
};

}  // namespace ridgeline::stream
