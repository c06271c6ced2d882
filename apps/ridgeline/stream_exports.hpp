// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "monitor/metrics_server.hpp"
#include "monitor/stream_view.hpp"
#include "ridgeline/line_output.hpp"
#include "ridgeline/stream_flags.hpp"
#include "watch/latency_sender.hpp"

namespace ridgeline::app {

/// Tells others what a running stream does: Prometheus, who reads JSON lines, and `ridgeline watch`.
class StreamExports {
 public:
  /// Errors: of an address that cannot be listened on, and of a file that cannot be written.
  [[nodiscard]] static base::Result<std::unique_ptr<StreamExports>> open(const StreamFlags& flags,
                                                                         monitor::StreamView view);

  /// Where metrics are served; "": nowhere.
  [[nodiscard]] std::string url() const { return server_ ? server_->url() : ""; }
  void ready(const schema::StreamReady& ready);
  void progress(const schema::StreamProgress& progress);
  void frame(const std::string& line);
  /// What is left; errors: of the file of JSON lines.
  [[nodiscard]] base::Result<void> finish();
  /// Of what did not arrive; "": everything did.
  [[nodiscard]] std::string note() const;

 private:
  StreamExports(LineOutput live_json, monitor::StreamView view)
      : live_json_(std::move(live_json)), view_(std::move(view)) {}
  [[nodiscard]] std::string metrics();

  LineOutput live_json_;
  base::Result<void> written_;
  double told_s_ = -1;  ///< when the last line was written
  std::optional<watch::LatencySender> sender_;
  std::string sender_path_;
  std::mutex mutex_;  ///< of view_, which the server's thread reads
  monitor::StreamView view_;
  std::optional<monitor::MetricsServer> server_;  ///< ends first
};

}  // namespace ridgeline::app
