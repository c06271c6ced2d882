// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::execute {

/// What a message between parent and worker is.
enum class FrameType : std::uint32_t {
  hello = 1,  ///< worker, first of all: {protocol, version, status_bytes}
  job,        ///< parent: {kind, request}
  result,     ///< worker: the answer's JSON
  error,      ///< worker: {code, message, hint}
};

/// One message: a JSON text and raw samples. Samples travel outside the JSON because a trial may have 200,000 of them
/// and the parent has 5 ms.
struct WireFrame {
  FrameType type = FrameType::error;
  std::string json;
  std::vector<double> samples;
};

inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxSamples = std::size_t{16} << 20U;

/// On the wire: a header of 32 bytes (magic, type, JSON length, sample count, checksum of the payload, checksum of the
/// header), the JSON, the samples; native byte order, as both ends are on one machine.
[[nodiscard]] std::string encode_frame(const WireFrame& frame);

/// Cuts frames out of a byte stream. After an error the stream is lost: every further call returns the same error.
class WireFrameReader {
 public:
  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole frame; nullopt: more bytes are needed. Errors (corrupt): wrong magic, unknown type, a length past
  /// the limits, a checksum that does not hold.
  [[nodiscard]] base::Result<std::optional<WireFrame>> next();
  /// Bytes of an incomplete frame are waiting.
  [[nodiscard]] bool has_partial() const noexcept { return !buffer_.empty(); }

 private:
  std::string buffer_;
  std::optional<base::Error> broken_;
};

}  // namespace ridgeline::execute
