// SPDX-License-Identifier: Apache-2.0
#include "execute/wire_frame.hpp"

#include <bit>
#include <cstring>

namespace ridgeline::execute {
namespace {

constexpr std::uint32_t kMagic = 0x31574C52;  // "RLW1"

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t type = 0;
  std::uint32_t json_bytes = 0;
  std::uint32_t sample_count = 0;
  std::uint64_t payload_sum = 0;
  std::uint64_t header_sum = 0;
};
static_assert(sizeof(Header) == 32);

/// Multiply, xor and rotate over 8-byte words: each step is a bijection of the state, so a change in one word always
/// shows; several GB/s, where a table-driven CRC-32 would cost milliseconds on a large sample array.
class Checksum {
 public:
  void add(std::string_view bytes) noexcept {
    while (bytes.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      mix(word);
      bytes.remove_prefix(8);
    }
    std::uint64_t rest = bytes.size() + 1;
    for (const char byte : bytes) rest = (rest << 8U) | static_cast<unsigned char>(byte);
    mix(rest);
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return state_; }

 private:
  void mix(std::uint64_t word) noexcept { state_ = std::rotl((state_ ^ word) * 0x9E3779B97F4A7C15ULL, 29); }
  std::uint64_t state_ = 0x5249444745ULL;
};

std::uint64_t sum_of(std::string_view bytes) noexcept {
  Checksum checksum;
  checksum.add(bytes);
  return checksum.value();
}

std::uint64_t header_sum(const Header& header) noexcept {
  char bytes[sizeof(Header) - sizeof header.header_sum];
  std::memcpy(bytes, &header, sizeof bytes);
  return sum_of({bytes, sizeof bytes});
}

base::Result<void> check(const Header& header) {
  using base::ErrorCode;
  if (header.magic != kMagic)
    return base::fail(ErrorCode::corrupt, "message starts with {:#010x}, expected {:#010x}", header.magic, kMagic);
  if (header.header_sum != header_sum(header)) return base::fail(ErrorCode::corrupt, "message header is damaged");
  if (header.type < static_cast<std::uint32_t>(FrameType::hello) ||
      header.type > static_cast<std::uint32_t>(FrameType::error))
    return base::fail(ErrorCode::corrupt, "message of unknown type {}", header.type);
  if (header.json_bytes > kMaxJsonBytes || header.sample_count > kMaxSamples)
    return base::fail(ErrorCode::corrupt, "message of {} bytes and {} samples is past the limit of {} and {}",
                      header.json_bytes, header.sample_count, kMaxJsonBytes, kMaxSamples);
  return {};
}

}  // namespace

std::string encode_frame(const WireFrame& frame) {
  const std::size_t sample_bytes = frame.samples.size() * sizeof(double);
  std::string bytes(sizeof(Header) + frame.json.size() + sample_bytes, '\0');
  std::memcpy(bytes.data() + sizeof(Header), frame.json.data(), frame.json.size());
  if (sample_bytes > 0)
    std::memcpy(bytes.data() + sizeof(Header) + frame.json.size(), frame.samples.data(), sample_bytes);
  Header header;
  header.type = static_cast<std::uint32_t>(frame.type);
  header.json_bytes = static_cast<std::uint32_t>(frame.json.size());
  header.sample_count = static_cast<std::uint32_t>(frame.samples.size());
  header.payload_sum = sum_of(std::string_view(bytes).substr(sizeof(Header)));
  header.header_sum = header_sum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

base::Result<std::optional<WireFrame>> WireFrameReader::next() {
  const auto broken = [this](base::Error error) {
    broken_ = std::move(error);
    buffer_.clear();
    return tl::unexpected<base::Error>(*broken_);
  };
  if (broken_) return tl::unexpected<base::Error>(*broken_);
  if (buffer_.size() < sizeof(Header)) return std::optional<WireFrame>{};
  Header header;
  std::memcpy(&header, buffer_.data(), sizeof header);
  if (auto checked = check(header); !checked) return broken(checked.error());
  const std::size_t sample_bytes = std::size_t{header.sample_count} * sizeof(double);
  const std::size_t total = sizeof(Header) + header.json_bytes + sample_bytes;
  if (buffer_.size() < total) return std::optional<WireFrame>{};
  const auto payload = std::string_view(buffer_).substr(sizeof(Header), total - sizeof(Header));
  if (sum_of(payload) != header.payload_sum) return broken({base::ErrorCode::corrupt, "message content is damaged"});

  WireFrame frame;
  frame.type = static_cast<FrameType>(header.type);
  frame.json.assign(payload.substr(0, header.json_bytes));
  frame.samples.resize(header.sample_count);
  if (sample_bytes > 0) std::memcpy(frame.samples.data(), payload.data() + header.json_bytes, sample_bytes);
  buffer_.erase(0, total);
  return std::optional<WireFrame>(std::move(frame));
}

}  // namespace ridgeline::execute
