// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/stream_display.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "monitor/stream_screen.hpp"
#include "report/stream/stream_report.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {

StreamDisplay::Mode stream_display_mode(const Terminal& terminal, bool talks, bool headless, bool shares_terminal) {
  using Mode = StreamDisplay::Mode;
  if (!talks) return Mode::quiet;
  if (!terminal.interactive || shares_terminal) return Mode::lines;
  // In the background a change of the terminal's mode would stop the process.
  const bool in_front = ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
  return headless || !in_front ? Mode::line : Mode::screen;
}

void StreamDisplay::clear_line() {
  if (has_line_) fmt::print(stderr, "\r\x1b[K");
  has_line_ = false;
}

void StreamDisplay::stage(const std::string& what) {
  if (mode_ == Mode::quiet || mode_ == Mode::lines || screen_) return;
  clear_line();
  fmt::print(stderr, "{}\n", styled(what, Style::dim, terminal_.colour));
}

void StreamDisplay::open_screen() {
  std::FILE* input = stdin;
  if (::isatty(STDIN_FILENO) != 1) {
    keyboard_.reset(std::fopen("/dev/tty", "r"));
    input = keyboard_.get();
  }
  if (input != nullptr)
    if (auto opened = ScreenTerminal::open(terminal_.colour, false, stderr, input)) screen_.emplace(std::move(*opened));
  // A terminal of an unknown kind has a line still.
  if (!screen_) mode_ = Mode::line;
}

void StreamDisplay::close() {
  clear_line();
  if (!screen_) return;
  screen_.reset();
  print_ready(view_.ready);
  for (const auto& text : view_.notes) fmt::print(stderr, "note     {}\n", text);
}

void StreamDisplay::note(const std::string& text) {
  if (mode_ == Mode::quiet) return;
  view_.notes.push_back(text);
  if (screen_) return;
  clear_line();
  fmt::print(stderr, "note     {}\n", text);
}

void StreamDisplay::ready(const schema::StreamReady& ready) {
  if (mode_ == Mode::quiet) return;
  const bool first = view_.ready.workers == 0;
  view_.ready = ready;
  view_.progress = {};
  view_.history = {};
  if (mode_ == Mode::screen && !screen_) open_screen();
  if (!screen_) {
    clear_line();
    if (first) print_ready(ready);
  }
  if (first)
    for (const auto& text : words().texts(ready.notes)) note(text);
  if (screen_) draw();
}

void StreamDisplay::print_ready(const schema::StreamReady& ready) const {
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
  fmt::print(stderr, "ready    in {:.1f} s; {} in flight, queue of {}, batch of {}\n", ready.ready_s, ready.workers,
             ready.queue_size, fmt::join(warm, ", "));
}

void StreamDisplay::progress(const schema::StreamProgress& progress) {
  if (mode_ == Mode::line) print_line(progress);
  if (!screen_) return;
  view_.progress = progress;
  view_.history.add(progress);
  draw();
}

void StreamDisplay::draw() { screen_->show(monitor::draw_stream_screen(view_, screen_->size())); }

bool StreamDisplay::wants_end() {
  if (!screen_) return false;
  const bool before = view_.is_stopping;
  bool resized = false;
  while (const auto key = screen_->wait_for_key(std::chrono::milliseconds(0))) {
    resized = true;
    if (key->kind == monitor::KeyPress::Kind::character && (key->character == U'q' || key->character == U'Q'))
      view_.is_stopping = true;
  }
  if (view_.is_stopping != before || resized) draw();
  return view_.is_stopping;
}

void StreamDisplay::print_line(const schema::StreamProgress& progress) {
  const auto& [status, recent] = progress;
  const auto ms = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.1f}", *value) : std::string("-");
  };
  auto line =
      fmt::format("{:6.1f} s  {:7.1f} FPS  p50 {:.1f}  p95 {}  p99 {} ms  queue {}  batch {:.1f}  busy {:.0f} %",
                  status.elapsed_s, recent.delivered_per_s, status.latency.p50, ms(status.latency.p95),
                  ms(status.latency.p99), status.queued, status.mean_batch, 100 * status.busy);
  if (recent.gpu && recent.gpu->power_w) line += fmt::format("  {:.0f} W", *recent.gpu->power_w);
  if (status.all_dropped() > 0) line += "  dropped " + report::drops_text(status);
  const auto width = static_cast<std::size_t>(std::max(20, terminal_.width - 1));
  if (line.size() > width) line.resize(width);
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
  has_line_ = true;
}

}  // namespace ridgeline::app
