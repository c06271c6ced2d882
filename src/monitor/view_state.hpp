// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "monitor/process_view.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// A key as the terminal reports it.
struct KeyPress {
  enum class Kind { character, enter, escape, backspace, left, right, up, down, page_up, page_down, home, end, other };
  Kind kind = Kind::other;
  char32_t character = 0;  ///< of Kind::character
};

/// What the person at the screen has chosen.
struct ViewState {
  static constexpr std::chrono::milliseconds kShortestInterval{100};
  static constexpr std::chrono::milliseconds kLongestInterval{60'000};

  ProcessOrder order;
  bool only_selected = false;  ///< processes of the selected GPU only
  int selected = 0;            ///< place in Snapshot::gpus
  int scroll = 0;              ///< first row shown of the process table
  bool editing_filter = false;
  bool help = false;
  bool paused = false;
  bool plots = true;
  bool quit = false;
  std::chrono::milliseconds interval{1000};

  void press(const KeyPress& key, const Snapshot& shown);

 private:
  void edit_filter(const KeyPress& key);
  void press_letter(char32_t letter, int gpus);
};

struct KeyHelp {
  const char* key;
  const char* text;
};
/// All keys, for the help window.
[[nodiscard]] const std::vector<KeyHelp>& key_help();

}  // namespace ridgeline::monitor
