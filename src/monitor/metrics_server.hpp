// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace ridgeline::monitor {

/// Serves a text over HTTP at /metrics from a thread of its own. Requests above 8 KiB and clients that take longer than
/// 5 s are dropped; at most 32 are served at a time.
class MetricsServer {
 public:
  /// `address`: "HOST:PORT", "[::1]:PORT", or ":PORT" and "PORT" for the loopback. Port 0 takes a free one. `text` is
  /// called for each request, on the server's thread. Errors: invalid_argument for an address that is none, unavailable
  /// when it cannot be listened on (port in use, no permission).
  [[nodiscard]] static base::Result<MetricsServer> start(const std::string& address, std::function<std::string()> text);

  MetricsServer(MetricsServer&&) noexcept;
  MetricsServer& operator=(MetricsServer&&) noexcept;
  ~MetricsServer();

  /// "http://127.0.0.1:9417/metrics"
  [[nodiscard]] const std::string& url() const noexcept;

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridgeline::monitor
