// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace ridgeline::schema {

/// Mixed precision of forward and loss.
enum class AmpMode { off, bf16, fp16 };

/// Where the batches of a training trial come from.
enum class DataMode {
  loader,  ///< the user's own loader, as in training
  host,  ///< a few batches kept in host memory (pinned as the settings say), copied each step: no reading, no decoding
  device,       ///< a few batches kept on the device: no copies either, the compute curve
  loader_only,  ///< batches are fetched and dropped: the loader curve
};

}  // namespace ridgeline::schema

template <>
struct ridgeline::base::EnumNames<ridgeline::schema::AmpMode> {
  using enum schema::AmpMode;
  static constexpr std::array names{std::pair{off, "off"}, std::pair{bf16, "bf16"}, std::pair{fp16, "fp16"}};
};
template <>
struct ridgeline::base::EnumNames<ridgeline::schema::DataMode> {
  using enum schema::DataMode;
  static constexpr std::array names{std::pair{loader, "loader"}, std::pair{host, "host"}, std::pair{device, "device"},
                                    std::pair{loader_only, "loader_only"}};
};

namespace ridgeline::schema {

/// What `ridgeline bench` varies.
struct TrainingSettings {
  std::int64_t batch = 32;  ///< samples a step, 1 or more
  int workers = 0;          ///< loader workers; 0: the training thread loads
  AmpMode amp = AmpMode::off;
  bool pin_memory = false;
  friend auto operator<=>(const TrainingSettings&, const TrainingSettings&) = default;
  friend bool operator==(const TrainingSettings&, const TrainingSettings&) = default;
};
RL_DECLARE_JSON(TrainingSettings)

/// "batch 256, 4 workers, bf16, pinned"
[[nodiscard]] std::string describe(const TrainingSettings& settings);
/// The same for a training device ("cpu", "cuda:0"): on a CPU no memory can be pinned, so "not pinned" says nothing.
[[nodiscard]] std::string describe(const TrainingSettings& settings, std::string_view device);

}  // namespace ridgeline::schema
