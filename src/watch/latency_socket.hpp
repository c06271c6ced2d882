// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "watch/latency_input.hpp"

namespace ridgeline::watch {

/// A Unix datagram socket that services send lines to. A thread empties it all the time, so that no sender has to wait
/// while a probe or a retune runs. The path is made on open and removed in the end.
class LatencySocket final : public LatencyInput {
 public:
  /// A socket that a dead process left behind is replaced. Errors: invalid_argument (path too long), unavailable
  /// (somebody listens there), io.
  [[nodiscard]] static base::Result<std::unique_ptr<LatencySocket>> open(std::filesystem::path path);
  ~LatencySocket() override;
  LatencySocket(const LatencySocket&) = delete;
  LatencySocket& operator=(const LatencySocket&) = delete;

  [[nodiscard]] base::Result<void> read(LatencyWindow& window) override;

 private:
  LatencySocket(std::filesystem::path path, int socket, int stop_read, int stop_write);
  void listen();

  std::filesystem::path path_;
  int socket_;
  int stop_read_;
  int stop_write_;
  std::mutex mutex_;
  std::string received_;  ///< whole lines; guarded
  std::thread thread_;
};

}  // namespace ridgeline::watch
