// SPDX-License-Identifier: Apache-2.0
#include "monitor/view_state.hpp"

#include <algorithm>

#include "monitor/cell_grid.hpp"

namespace ridgeline::monitor {
namespace {

constexpr std::size_t kLongestFilter = 60;
constexpr int kPage = 10;

bool descends_at_first(SortKey key) {
  return key == SortKey::gpu_memory || key == SortKey::sm || key == SortKey::cpu || key == SortKey::host_memory;
}

void sort_by(ProcessOrder& order, SortKey key) {
  order.descending = order.key == key ? !order.descending : descends_at_first(key);
  order.key = key;
}

}  // namespace

void ViewState::press(const KeyPress& key, const Snapshot& shown) {
  using Kind = KeyPress::Kind;
  if (editing_filter) {
    edit_filter(key);
    return;
  }
  if (help) {  // any key closes the window
    help = false;
    return;
  }
  const int gpus = static_cast<int>(shown.gpus.size());
  const int last = std::max(static_cast<int>(shown.processes.size()) - 1, 0);
  switch (key.kind) {
    case Kind::left: selected = std::max(selected - 1, 0); break;
    case Kind::right: selected = std::clamp(selected + 1, 0, std::max(gpus - 1, 0)); break;
    case Kind::up: scroll = std::max(scroll - 1, 0); break;
    case Kind::down: scroll = std::min(scroll + 1, last); break;
    case Kind::page_up: scroll = std::max(scroll - kPage, 0); break;
    case Kind::page_down: scroll = std::min(scroll + kPage, last); break;
    case Kind::home: scroll = 0; break;
    case Kind::end: scroll = last; break;
    case Kind::escape: order.filter.clear(); break;
    case Kind::character: press_letter(key.character, gpus); break;
    case Kind::enter:
    case Kind::backspace:
    case Kind::other: break;
  }
}

void ViewState::press_letter(char32_t letter, int gpus) {
  switch (letter) {
    case U'q': quit = true; break;
    case U'h':
    case U'?': help = true; break;
    case U's':
      order.key = static_cast<SortKey>((static_cast<int>(order.key) + 1) % static_cast<int>(SortKey::count));
      order.descending = descends_at_first(order.key);
      break;
    case U'r': order.descending = !order.descending; break;
    case U'M': sort_by(order, SortKey::gpu_memory); break;
    case U'S': sort_by(order, SortKey::sm); break;
    case U'C': sort_by(order, SortKey::cpu); break;
    case U'P': sort_by(order, SortKey::pid); break;
    case U'U': sort_by(order, SortKey::user); break;
    case U'N': sort_by(order, SortKey::name); break;
    case U'/':
      editing_filter = true;
      scroll = 0;
      break;
    case U'a':
      only_selected = !only_selected;
      scroll = 0;
      break;
    case U'g': plots = !plots; break;
    case U' ': paused = !paused; break;
    case U'+': interval = std::min(interval * 2, kLongestInterval); break;
    case U'-': interval = std::max(interval / 2, kShortestInterval); break;
    case U'\t': selected = gpus > 0 ? (selected + 1) % gpus : 0; break;
    default:
      if (letter >= U'0' && letter <= U'9' && static_cast<int>(letter - U'0') < gpus)
        selected = static_cast<int>(letter - U'0');
      break;
  }
}

void ViewState::edit_filter(const KeyPress& key) {
  using Kind = KeyPress::Kind;
  auto& text = order.filter;
  switch (key.kind) {
    case Kind::enter: editing_filter = false; break;
    case Kind::escape:
      text.clear();
      editing_filter = false;
      break;
    case Kind::backspace:
      while (!text.empty() && (static_cast<unsigned char>(text.back()) >> 6) == 0x2) text.pop_back();
      if (!text.empty()) text.pop_back();
      break;
    case Kind::character:
      if (key.character >= 0x20 && text.size() < kLongestFilter) text += base::utf8(key.character);
      break;
    default: break;
  }
}

const std::vector<KeyHelp>& key_help() {
  static const std::vector<KeyHelp> kKeys{{"q", "quit"},
                                          {"left right, 0-9", "select a GPU"},
                                          {"up down, page", "scroll the processes"},
                                          {"s, r", "sort by the next column, reverse"},
                                          {"M S C P U N", "sort by memory, SM, CPU, pid, user, name"},
                                          {"/", "filter; Enter keeps it, Esc clears it"},
                                          {"a", "processes of all GPUs or the selected one"},
                                          {"g", "plots on or off"},
                                          {"space", "pause"},
                                          {"+ -", "longer or shorter interval"},
                                          {"h ?", "this window"}};
  return kKeys;
}

}  // namespace ridgeline::monitor
