// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "monitor/stream_view.hpp"
#include "ridgeline/screen_terminal.hpp"
#include "ridgeline/terminal.hpp"
#include "schema/stream_progress.hpp"

namespace ridgeline::app {

/// What a stream does, on standard error: a screen in a terminal, or lines when it begins and one line that is renewed
/// while it runs. What a screen showed of sources, model and notes is printed when it closes.
class StreamDisplay {
 public:
  enum class Mode { quiet, lines, line, screen };  ///< line: lines, and one that is renewed

  /// `view`: its subject, load and SLO.
  StreamDisplay(Terminal terminal, Mode mode, monitor::StreamView view)
      : terminal_(std::move(terminal)), mode_(mode), view_(std::move(view)) {}

  void stage(const std::string& what);
  /// Of the load that begins now, where there are several.
  void load(const std::string& text) { view_.load = text; }
  void ready(const schema::StreamReady& ready);
  void progress(const schema::StreamProgress& progress);
  void note(const std::string& text);
  /// Whether the person at the screen wants it to end.
  [[nodiscard]] bool wants_end();
  /// Before anything else is printed.
  void close();

 private:
  void open_screen();
  void draw();
  void clear_line();
  void print_ready(const schema::StreamReady& ready) const;
  void print_line(const schema::StreamProgress& progress);

  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  Terminal terminal_;
  Mode mode_;
  monitor::StreamView view_;
  std::unique_ptr<std::FILE, CloseFile> keyboard_;  ///< where standard input is something else
  std::optional<ScreenTerminal> screen_;
  bool has_line_ = false;
};

/// The mode that fits: a screen only where standard error is a terminal in the foreground, and nothing else of ours is
/// written there (`shares_terminal`: results go to it).
[[nodiscard]] StreamDisplay::Mode stream_display_mode(const Terminal& terminal, bool talks, bool headless,
                                                      bool shares_terminal);

}  // namespace ridgeline::app
