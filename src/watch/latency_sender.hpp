// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.hpp"

namespace ridgeline::watch {

/// The other end of LatencySocket: sends latencies to whoever listens, and never waits for it. Nobody need be there
/// yet, or any more: it looks again with each flush. Not thread-safe.
class LatencySender {
 public:
  /// Errors: invalid_argument (path too long).
  [[nodiscard]] static base::Result<LatencySender> open(const std::filesystem::path& path);
  LatencySender(LatencySender&& other) noexcept;
  LatencySender& operator=(LatencySender&&) = delete;
  LatencySender(const LatencySender&) = delete;
  LatencySender& operator=(const LatencySender&) = delete;
  ~LatencySender();

  void add(double latency_ms);
  /// Sends what was added since.
  void flush();

  [[nodiscard]] std::int64_t sent() const noexcept { return sent_; }
  /// Latencies that nobody took: nobody listened, or too slowly.
  [[nodiscard]] std::int64_t lost() const noexcept { return lost_; }

 private:
  LatencySender(std::string path, int socket) : path_(std::move(path)), socket_(socket) {}

  std::string path_;
  int socket_;
  std::string lines_;
  std::int64_t waiting_ = 0;  ///< latencies in lines_
  std::int64_t sent_ = 0;
  std::int64_t lost_ = 0;
};

}  // namespace ridgeline::watch
