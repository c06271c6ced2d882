// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"

namespace ridgeline::loader {

enum class SampleOrder : std::uint8_t {
  sequential,
  shuffled,         ///< every order of all samples equally likely, as PyTorch's RandomSampler
  shuffled_chunks,  ///< chunks in random order, samples shuffled within windows of some chunks: reads each chunk once
  given             ///< the caller's own list
};

struct SamplerOptions {
  SampleOrder order = SampleOrder::shuffled;
  std::uint64_t seed = 0;
  std::uint64_t window_chunks = 64;  ///< shuffled_chunks only: chunks whose samples are mixed; at least 1
  std::vector<std::uint64_t> given;  ///< given only: sample numbers, repeats allowed; the same every epoch
};

/// The order of samples in an epoch: a pure function of options, epoch and number of samples, the same on every machine
/// and standard library. Random numbers are SplitMix64's (base/random.hpp), started with seed + 0x9E3779B97F4A7C15 *
/// (epoch + 1) (mod 2^64) through one step of that generator. A number below n is the high half of the 128-bit product
/// of a 64-bit draw and n, drawn again while the low half is below 2^64 mod n (Lemire 2019). Shuffling is Fisher and
/// Yates' from the last place down: for i = n - 1 ... 1 exchange i with a number below i + 1.
class Sampler {
 public:
  /// Errors: invalid_argument (a given sample that does not exist, a window of 0 chunks).
  [[nodiscard]] static base::Result<Sampler> make(std::uint64_t samples, std::uint64_t samples_per_chunk,
                                                  SamplerOptions options);

  [[nodiscard]] std::vector<std::uint64_t> epoch(std::uint64_t number) const;
  /// Samples in an epoch.
  [[nodiscard]] std::uint64_t size() const noexcept;

 private:
  Sampler(std::uint64_t samples, std::uint64_t samples_per_chunk, SamplerOptions options)
      : samples_(samples), samples_per_chunk_(samples_per_chunk), options_(std::move(options)) {}
  std::uint64_t samples_;
  std::uint64_t samples_per_chunk_;
  SamplerOptions options_;
};

}  // namespace ridgeline::loader

template <>
struct ridgeline::base::EnumNames<ridgeline::loader::SampleOrder> {
  using O = loader::SampleOrder;
  static constexpr std::array names{std::pair{O::sequential, "sequential"}, std::pair{O::shuffled, "shuffled"},
                                    std::pair{O::shuffled_chunks, "shuffled_chunks"}, std::pair{O::given, "given"}};
};
