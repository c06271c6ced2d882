// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "monitor/cell_grid.hpp"
#include "monitor/screen.hpp"
#include "monitor/view_state.hpp"

namespace ridgeline::app {

/// The terminal in full-screen mode, put back as it was at the end. One at a time.
class ScreenTerminal {
 public:
  /// Errors: unavailable when the terminal is of an unknown kind.
  [[nodiscard]] static base::Result<ScreenTerminal> open(bool colour, bool ascii, std::FILE* output = stdout,
                                                         std::FILE* input = stdin);

  [[nodiscard]] monitor::ScreenSize size() const;
  void show(const monitor::CellGrid& canvas);
  /// The next key; nullopt after `patience`, at a resize and at a signal.
  [[nodiscard]] std::optional<monitor::KeyPress> wait_for_key(std::chrono::milliseconds patience);

 private:
  struct Impl;
  struct Close {
    void operator()(Impl* impl) const noexcept;
  };
  explicit ScreenTerminal(std::unique_ptr<Impl, Close> impl) : impl_(std::move(impl)) {}
  std::unique_ptr<Impl, Close> impl_;
};

/// Whether the locale of the environment writes UTF-8. Sets the program's character type locale to it.
[[nodiscard]] bool locale_is_utf8();

}  // namespace ridgeline::app
