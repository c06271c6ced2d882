// SPDX-License-Identifier: Apache-2.0
#include "stream/decoders/summary_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>

#include "base/json.hpp"
#include "stream/decoders/output_checks.hpp"
#include "stream/decoders/result_text.hpp"

namespace ridgeline::stream {
namespace {

constexpr std::size_t kParts = 8;  // of each sum, so that the loop vectorizes

struct Summary {
  double sum = 0;
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();
  std::size_t finite = 0;
};

Summary summarize(std::span<const float> values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  double sums[kParts] = {};
  float least[kParts];
  float most[kParts];
  std::uint32_t counts[kParts] = {};
  std::fill_n(least, kParts, kInfinity);
  std::fill_n(most, kParts, -kInfinity);
  Summary summary;
  const auto add = [&](float value, std::size_t part) {
    const bool is_finite = (std::bit_cast<std::uint32_t>(value) & 0x7f800000U) != 0x7f800000U;
    const float low = is_finite ? value : kInfinity;
    const float high = is_finite ? value : -kInfinity;
    least[part] = low < least[part] ? low : least[part];
    most[part] = high > most[part] ? high : most[part];
    sums[part] += static_cast<double>(is_finite ? value : 0.0F);
    counts[part] += is_finite ? 1U : 0U;
  };
  std::size_t i = 0;
  for (; i + kParts <= values.size(); i += kParts)
    for (std::size_t part = 0; part < kParts; ++part) add(values[i + part], part);
  for (; i < values.size(); ++i) add(values[i], 0);
  for (std::size_t part = 0; part < kParts; ++part) {
    summary.sum += sums[part];
    summary.least = std::min(summary.least, least[part]);
    summary.most = std::max(summary.most, most[part]);
    summary.finite += counts[part];
  }
  return summary;
}

}  // namespace

base::Result<void> SummaryDecoder::decode(std::span<const OutputView> outputs, const FrameGeometry& /*geometry*/,
                                          std::string& json) {
  for (const auto& output : outputs) RL_TRY(check_size(output));
  json += R"({"outputs":[)";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& output = outputs[i];
    json += i == 0 ? R"({"name":)" : R"(,{"name":)";
    json += base::dump_json(std::string(output.name));
    fmt::format_to(std::back_inserter(json), R"(,"shape":[{}])", fmt::join(output.dims, ","));
    const auto summary = summarize(output.values);
    if (summary.finite > 0) {
      json += R"(,"min":)";
      append_score(json, static_cast<double>(summary.least));
      json += R"(,"mean":)";
      append_score(json, summary.sum / static_cast<double>(summary.finite));
      json += R"(,"max":)";
      append_score(json, static_cast<double>(summary.most));
    }
    if (summary.finite < output.values.size())
      fmt::format_to(std::back_inserter(json), R"(,"not_finite":{})", output.values.size() - summary.finite);
    json += '}';
  }
  json += "]}";
  return {};
}

}  // namespace ridgeline::stream
