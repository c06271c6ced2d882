// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "stream/decoders/make_decoder.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/recognize_decoder.hpp"
#include "stream/words.hpp"

namespace ridgeline::stream {

/// An output made by hand.
struct MadeOutput {
  std::string name;
  std::vector<std::int64_t> dims;
  std::vector<float> values;
  bool is_integer = false;

  MadeOutput(std::string given_name, std::vector<std::int64_t> given_dims, float value = 0)
      : name(std::move(given_name)), dims(std::move(given_dims)) {
    values.assign(
        static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>())),
        value);
  }
  MadeOutput(std::string given_name, std::vector<std::int64_t> given_dims, std::vector<float> given_values)
      : name(std::move(given_name)), dims(std::move(given_dims)), values(std::move(given_values)) {}
};

/// A box of a raw YOLO head: centre and size, what comes behind it by channel.
inline void set_column(MadeOutput& output, std::size_t column, const std::vector<float>& values) {
  const auto count = static_cast<std::size_t>(output.dims[1]);
  for (std::size_t i = 0; i < values.size(); ++i) output.values[i * count + column] = values[i];
}
inline void set_row(MadeOutput& output, std::size_t row, const std::vector<float>& values) {
  std::copy(values.begin(), values.end(),
            output.values.begin() + static_cast<std::ptrdiff_t>(row * static_cast<std::size_t>(output.dims.back())));
}

inline std::vector<OutputView> views_of(const std::vector<MadeOutput>& outputs) {
  std::vector<OutputView> views;
  for (const auto& output : outputs) views.push_back({output.name, output.dims, output.values, output.is_integer});
  return views;
}

/// A frame of the input's own size.
inline FrameGeometry same_geometry(int width, int height) {
  FrameGeometry geometry;
  geometry.frame_width = geometry.input_width = width;
  geometry.frame_height = geometry.input_height = height;
  return geometry;
}

/// What `auto` takes the outputs for.
inline RecognizedDecoder recognize_outputs(const DecoderOptions& options, const std::vector<MadeOutput>& outputs,
                                           const FrameGeometry& geometry) {
  const auto views = views_of(outputs);
  return recognize_decoder(options, shapes_of(views), views, geometry);
}

/// What is wrong with the values for a decoder that was named; "": nothing.
inline std::string mismatch_of(std::string_view name, const DecoderOptions& options,
                               const std::vector<MadeOutput>& outputs, const FrameGeometry& geometry) {
  const auto views = views_of(outputs);
  const auto decoder = make_decoder(name, options, shapes_of(views), geometry.input_width, geometry.input_height);
  if (!decoder) return decoder.error().message;
  const auto wrong = (*decoder)->mismatch(views, geometry, true);
  return wrong ? words_of(*wrong) : "";
}

inline base::Result<base::Json> decode_outputs(std::string_view name, const DecoderOptions& options,
                                               const std::vector<MadeOutput>& outputs, const FrameGeometry& geometry) {
  const auto views = views_of(outputs);
  if (name == "auto") name = recognize_outputs(options, outputs, geometry).name;
  RL_TRY_ASSIGN(const auto decoder,
                make_decoder(name, options, shapes_of(views), geometry.input_width, geometry.input_height));
  std::string json;
  RL_TRY(decoder->decode(views, geometry, json));
  return base::parse_json(json, "result");
}

}  // namespace ridgeline::stream
