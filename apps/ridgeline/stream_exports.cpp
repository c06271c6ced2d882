// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/stream_exports.hpp"

#include <utility>

#include <fmt/format.h>

#include "execute/frame_line.hpp"
#include "monitor/stream_metrics.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

constexpr double kLineEveryS = 0.9;  ///< statuses come every 200 ms, not exactly

}  // namespace

base::Result<std::unique_ptr<StreamExports>> StreamExports::open(const StreamFlags& flags, monitor::StreamView view) {
  RL_TRY_ASSIGN(auto live_json, LineOutput::open(flags.live_json, "--live-json"));
  std::unique_ptr<StreamExports> out(new StreamExports(std::move(live_json), std::move(view)));
  if (!flags.latency_socket.empty()) {
    RL_TRY_ASSIGN(auto sender, watch::LatencySender::open(flags.latency_socket));
    out->sender_.emplace(std::move(sender));
    out->sender_path_ = flags.latency_socket;
  }
  if (!flags.prometheus.empty()) {
    RL_TRY_ASSIGN(auto server,
                  monitor::MetricsServer::start(flags.prometheus, [self = out.get()] { return self->metrics(); }));
    out->server_.emplace(std::move(server));
  }
  return out;
}

std::string StreamExports::metrics() {
  const std::scoped_lock lock(mutex_);
  return monitor::stream_metrics_text(view_);
}

void StreamExports::ready(const schema::StreamReady& ready) {
  const std::scoped_lock lock(mutex_);
  view_.ready = ready;
  told_s_ = -1;
}

void StreamExports::progress(const schema::StreamProgress& progress) {
  {
    const std::scoped_lock lock(mutex_);
    view_.progress = progress;
  }
  if (sender_) sender_->flush();
  const auto now = progress.status.elapsed_s;
  if (!live_json_.is_open() || !written_ || (told_s_ >= 0 && now - told_s_ < kLineEveryS)) return;
  told_s_ = now;
  written_ = live_json_.write(base::dump_json(schema::with_words(words(), progress)));
}

void StreamExports::frame(const std::string& line) {
  if (!sender_) return;
  if (const auto latency = execute::latency_of_line(line)) sender_->add(*latency);
}

base::Result<void> StreamExports::finish() {
  if (sender_) sender_->flush();
  RL_TRY(written_);
  return live_json_.finish();
}

std::string StreamExports::note() const {
  if (!sender_ || sender_->lost() == 0) return "";
  return sender_->sent() == 0
             ? fmt::format("nobody listened at {}: start ridgeline watch --latency-socket there", sender_path_)
             : fmt::format("{} of {} latencies did not arrive at {}", sender_->lost(),
                           sender_->lost() + sender_->sent(), sender_path_);
}

}  // namespace ridgeline::app
