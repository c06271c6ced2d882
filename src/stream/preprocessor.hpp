// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "schema/message.hpp"
#include "stream/image.hpp"
#include "stream/preprocess_options.hpp"
#include "stream/row_resizer.hpp"

namespace ridgeline::stream {

/// invalid_argument naming the first option outside its range.
[[nodiscard]] base::Result<void> check_preprocess_options(const PreprocessOptions& options);

/// What normalises pixel values of a model's channels: value * gain + bias.
struct Normalisation {
  std::array<float, 3> gain{1, 1, 1};
  std::array<float, 3> bias{0, 0, 0};
};
[[nodiscard]] Normalisation normalisation_of(const PreprocessOptions& options) noexcept;

/// Whether a picture is the one that was planned for. Errors: invalid_argument (another size, too few bytes, an odd
/// side in NV12).
[[nodiscard]] base::Result<void> check_planned(const Image& image, const FrameGeometry& geometry);

/// Turns frames into a model's input: size, channel order, normalisation and layout in one pass over rows. One
/// worker's; not thread-safe. Options must have passed check_preprocess_options.
///   Preprocessor preprocessor(options);
///   RL_TRY_ASSIGN(const auto geometry, preprocessor.plan(1280, 720, -1, -1));
///   std::vector<float> input(preprocessor.elements(geometry));
///   RL_TRY(preprocessor.run(image, geometry, input));
class Preprocessor {
 public:
  explicit Preprocessor(const PreprocessOptions& options) : options_(options) {}

  /// For frames of that size; a model's side is -1 where it takes any. Such a side becomes
  /// round(scale * side / stride) * stride (halves to even), at least one stride. A side that is fixed stays; one
  /// beside it that is not becomes as long as it keeps the frame's ratio, unless frames are stretched. With both fixed
  /// a scale below 1 takes detail from the frame instead. Errors: invalid_argument (sides outside 1 to 32768).
  [[nodiscard]] base::Result<FrameGeometry> plan(int frame_width, int frame_height, int model_width,
                                                 int model_height) const;

  /// Values of one input.
  [[nodiscard]] std::size_t elements(const FrameGeometry& geometry) const noexcept;
  [[nodiscard]] const PreprocessOptions& options() const noexcept { return options_; }

  /// Writes one input of elements(geometry) values. Errors: invalid_argument (a picture of another size than planned,
  /// or too few bytes; another number of values).
  [[nodiscard]] base::Result<void> run(const Image& image, const FrameGeometry& geometry, std::span<float> out);
  /// The same as bits of IEEE 754 halves.
  [[nodiscard]] base::Result<void> run_half(const Image& image, const FrameGeometry& geometry,
                                            std::span<std::uint16_t> out);
  /// Pixel values, rounded, without normalisation.
  [[nodiscard]] base::Result<void> run_bytes(const Image& image, const FrameGeometry& geometry,
                                             std::span<std::uint8_t> out);

 private:
  template <typename T>
  base::Result<void> run_as(const Image& image, const FrameGeometry& geometry, const Normalisation& affine,
                            std::span<T> out);
  const Image& with_less_detail(const Image& image, const FrameGeometry& geometry);
  void write_pixels(const float* row, std::size_t pixels, const Normalisation& affine,
                    std::array<float*, 3> planes) const;
  void write_border(const Normalisation& affine, std::size_t pixels, std::array<float*, 3> planes) const;
  [[nodiscard]] std::size_t channels() const noexcept { return options_.channels == ChannelOrder::gray ? 1 : 3; }

  PreprocessOptions options_;
  RowResizer rows_;
  RowResizer detail_rows_;
  Image detail_;
  std::vector<float> scratch_;  ///< a row of the input, for types other than float
};

/// What a scale does to a model of fixed size, for people; nullopt where it does nothing unexpected.
///   "inference_scale 0.5: the model's input is fixed at 640x640, so that frames lose detail and inference costs the
///   same"
[[nodiscard]] std::optional<schema::Message> fixed_input_note(const PreprocessOptions& options, int model_width,
                                                              int model_height);

}  // namespace ridgeline::stream
