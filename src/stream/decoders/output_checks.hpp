// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "stream/decoders/decoder_options.hpp"
#include "stream/result_decoder.hpp"

namespace ridgeline::stream {

/// "1x704x1280", with "?" for a dimension of any size; "scalar".
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> dims);

/// "x of 1x704x1280, y of ?x4".
[[nodiscard]] std::string shapes_text(std::span<const OutputShape> outputs);
[[nodiscard]] std::string shapes_text(std::span<const OutputView> outputs);
/// The same as one message each; one that says so of none.
[[nodiscard]] std::vector<schema::Message> shape_messages(std::span<const OutputShape> outputs);
[[nodiscard]] std::vector<OutputShape> shapes_of(std::span<const OutputView> outputs);

/// The place of the first NaN; values.size() without one.
[[nodiscard]] std::size_t find_nan(std::span<const float> values) noexcept;

/// Whether the output's name has that part.
[[nodiscard]] inline bool mentions(const OutputShape& output, std::string_view word) {
  return output.name.find(word) != std::string::npos;
}

/// invalid_argument where the dimensions do not tell how many values there are.
[[nodiscard]] base::Result<void> check_size(const OutputView& output);
/// The same, and for a NaN among the values.
[[nodiscard]] base::Result<void> check_values(const OutputView& output);
/// invalid_argument where there are labels, and not one for each keypoint, which the first dimension counts.
[[nodiscard]] base::Result<void> check_keypoint_labels(std::string_view decoder, const OutputShape& output,
                                                       std::size_t labels);
/// What to say of the NaN at `place`.
[[nodiscard]] base::Fault nan_fault(const OutputView& output, std::size_t place);

}  // namespace ridgeline::stream
