// SPDX-License-Identifier: Apache-2.0
#include "loader/metadata_checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ridgeline::loader {
namespace {

using State = std::array<std::uint32_t, 3>;
constexpr std::size_t kBlock = 12;

void add(State& state, std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    state[i / 4] += std::to_integer<std::uint32_t>(bytes[i]) << (8 * (i % 4));
}

/// Six rounds; each takes one word from another, turns and mixes it, and adds to the one left over.
void mix(State& s) {
  constexpr std::array kTurns{4, 6, 8, 16, 19, 4};
  for (std::size_t round = 0; round < kTurns.size(); ++round) {
    auto& first = s[round % 3];
    auto& second = s[(round + 1) % 3];
    auto& third = s[(round + 2) % 3];
    first -= third;
    first ^= std::rotl(third, kTurns[round]);
    third += second;
  }
}

void finish(State& s) {
  constexpr std::array kTurns{14, 11, 25, 16, 4, 14, 24};
  for (std::size_t round = 0; round < kTurns.size(); ++round) {
    auto& target = s[(round + 2) % 3];
    const auto source = s[(round + 1) % 3];
    target ^= source;
    target -= std::rotl(source, kTurns[round]);
  }
}

}  // namespace

std::uint32_t metadata_checksum(std::span<const std::byte> data) noexcept {
  State state;
  state.fill(0xDEADBEEFU + static_cast<std::uint32_t>(data.size()));
  if (data.empty()) return state[2];
  for (; data.size() > kBlock; data = data.subspan(kBlock)) {
    add(state, data.first(kBlock));
    mix(state);
  }
  add(state, data);
  finish(state);
  return state[2];
}

}  // namespace ridgeline::loader
