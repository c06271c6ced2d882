// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/stream_display.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/stream/stream_report.hpp"

namespace ridgeline::app {
namespace {

constexpr double kRateWindowS = 0.9;

}  // namespace

void StreamDisplay::clear() {
  if (has_line_) fmt::print(stderr, "\r\x1b[K");
  has_line_ = false;
}

void StreamDisplay::stage(const std::string& what) {
  if (lives()) fmt::print(stderr, "{}\n", styled(what, Style::dim, terminal_.colour));
}

void StreamDisplay::note(const std::string& text) {
  if (!talks_) return;
  clear();
  fmt::print(stderr, "note     {}\n", text);
}

void StreamDisplay::ready(const schema::StreamReady& ready) {
  if (!talks_) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(ready.sources.size(), 4); ++i) {
    const auto& source = ready.sources[i];
    fmt::print(stderr, "source   {}: {}x{}{}{}\n", source.name, source.width, source.height,
               source.fps > 0 ? fmt::format(", {:g} FPS", source.fps) : "",
               source.frames > 0 ? fmt::format(", {} frames", source.frames) : "");
  }
  if (ready.sources.size() > 4) fmt::print(stderr, "         and {} more\n", ready.sources.size() - 4);
  fmt::print(stderr, "model    {}; input {}; results {}\n", ready.runtime, ready.input, ready.decoder);
  std::vector<std::string> warm;
  for (const auto& [batch, ms] : ready.warm_ms) warm.push_back(fmt::format("{}: {:.1f} ms", batch, ms));
  std::sort(warm.begin(), warm.end(), [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
  fmt::print(stderr, "ready    in {:.1f} s; {} in flight, {} may wait; a batch of {}\n", ready.ready_s, ready.workers,
             ready.queue_size, fmt::join(warm, ", "));
  for (const auto& text : ready.notes) note(text);
}

void StreamDisplay::status(const schema::StreamStatus& status) {
  if (!lives()) return;
  if (status.elapsed_s - before_.elapsed_s >= kRateWindowS || before_.elapsed_s == 0) {
    const double seconds = status.elapsed_s - before_.elapsed_s;
    if (seconds > 0) fps_ = static_cast<double>(status.delivered - before_.delivered) / seconds;
    before_ = status;
  }
  auto line = fmt::format(
      "{:6.1f} s  {:7.1f} FPS  p50 {:.1f}  p95 {:.1f}  p99 {:.1f} ms  queue {}  batch {:.1f}  busy {:.0f} %",
      status.elapsed_s, fps_, status.latency.p50, status.latency.p95, status.latency.p99, status.queued,
      status.mean_batch, 100 * status.busy);
  if (status.all_dropped() > 0) line += "  dropped " + report::drops_text(status);
  const auto width = static_cast<std::size_t>(std::max(20, terminal_.width - 1));
  if (line.size() > width) line.resize(width);
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  has_line_ = true;
}

}  // namespace ridgeline::app
