// SPDX-License-Identifier: Apache-2.0
#include "store/sample_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ridgeline::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the raw form is little-endian");

constexpr char kRaw = 0;
constexpr char kDifferences = 1;
constexpr double kLargestWhole = 4503599627370496.0;  // 2^52: whole numbers and their differences are exact

void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    value >>= 7U;
  }
  out.push_back(static_cast<char>(value));
}

/// False when the bytes end first or the number is too long.
bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 63 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace

std::string encode_samples(const std::vector<double>& samples) {
  const bool whole = std::all_of(samples.begin(), samples.end(), [](double sample) {
    return sample == std::floor(sample) && std::abs(sample) <= kLargestWhole && !(sample == 0 && std::signbit(sample));
  });
  std::string out;
  if (!whole) {
    out.resize(1 + samples.size() * sizeof(double));
    out[0] = kRaw;
    std::memcpy(out.data() + 1, samples.data(), samples.size() * sizeof(double));
    return out;
  }
  out.reserve(16 + samples.size() * 3);
  out.push_back(kDifferences);
  put_varint(out, samples.size());
  std::int64_t previous = 0;
  for (const double sample : samples) {
    const auto value = static_cast<std::int64_t>(sample);
    const auto difference = value - previous;
    put_varint(out, (static_cast<std::uint64_t>(difference) << 1U) ^ static_cast<std::uint64_t>(difference >> 63));
    previous = value;
  }
  return out;
}

base::Result<std::vector<double>> decode_samples(std::string_view bytes) {
  const auto damaged = [](std::string_view what) {
    return base::fail(base::ErrorCode::corrupt, "stored samples {}", what);
  };
  if (bytes.empty()) return damaged("are empty");
  const char form = bytes.front();
  bytes.remove_prefix(1);
  std::vector<double> samples;
  if (form == kRaw) {
    if (bytes.size() % sizeof(double) != 0) return damaged("are cut off");
    samples.resize(bytes.size() / sizeof(double));
    if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), bytes.size());
    return samples;
  }
  if (form != kDifferences) return damaged("have an unknown form");
  std::uint64_t count = 0;
  // A sample takes at least a byte, so a damaged count cannot ask for more memory than the blob itself justifies.
  if (!take_varint(bytes, count) || count > bytes.size()) return damaged("are cut off");
  samples.reserve(count);
  std::int64_t value = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t coded = 0;
    if (!take_varint(bytes, coded)) return damaged("are cut off");
    // Unsigned, because damaged differences may run past the range.
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) + ((coded >> 1U) ^ (~(coded & 1U) + 1)));
    samples.push_back(static_cast<double>(value));
  }
  if (!bytes.empty()) return damaged("have bytes left over");
  return samples;
}

}  // namespace ridgeline::store
