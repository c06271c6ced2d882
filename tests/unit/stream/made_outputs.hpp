// SPDX-License-Identifier: Apache-2.0
#pragma once

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

namespace ridgeline::stream {

/// An output made by hand.
struct MadeOutput {
  std::string name;
  std::vector<std::int64_t> dims;
  std::vector<float> values;

  MadeOutput(std::string given_name, std::vector<std::int64_t> given_dims, float value = 0)
      : name(std::move(given_name)), dims(std::move(given_dims)) {
    values.assign(
        static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>())),
        value);
  }
  MadeOutput(std::string given_name, std::vector<std::int64_t> given_dims, std::vector<float> given_values)
      : name(std::move(given_name)), dims(std::move(given_dims)), values(std::move(given_values)) {}
};

inline std::vector<OutputView> views_of(const std::vector<MadeOutput>& outputs) {
  std::vector<OutputView> views;
  for (const auto& output : outputs) views.push_back({output.name, output.dims, output.values});
  return views;
}

/// A frame of the input's own size.
inline FrameGeometry same_geometry(int width, int height) {
  FrameGeometry geometry;
  geometry.frame_width = geometry.input_width = width;
  geometry.frame_height = geometry.input_height = height;
  return geometry;
}

inline base::Result<base::Json> decode_outputs(std::string_view name, const DecoderOptions& options,
                                               const std::vector<MadeOutput>& outputs, const FrameGeometry& geometry) {
  const auto views = views_of(outputs);
  RL_TRY_ASSIGN(const auto decoder,
                make_decoder(name, options, shapes_of(views), geometry.input_width, geometry.input_height));
  std::string json;
  RL_TRY(decoder->decode(views, geometry, json));
  return base::parse_json(json, "result");
}

}  // namespace ridgeline::stream
