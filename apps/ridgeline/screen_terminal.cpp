// SPDX-License-Identifier: Apache-2.0
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include "ridgeline/screen_terminal.hpp"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <curses.h>
#include <langinfo.h>
#include <poll.h>
#include <unistd.h>

namespace ridgeline::app {
namespace {

using monitor::KeyPress;

/// Colours of a style: in 256 colours and in 8; -1 is the terminal's own. The attribute alone must do without colours.
struct Look {
  short rich;
  short rich_back;
  short plain;
  short plain_back;
  attr_t attribute;
};

Look look_of(monitor::Style style) {
  switch (style) {
    case monitor::Style::normal: return {-1, -1, -1, -1, A_NORMAL};
    case monitor::Style::bold: return {-1, -1, -1, -1, A_BOLD};
    case monitor::Style::dim: return {245, -1, -1, -1, A_DIM};
    case monitor::Style::title: return {231, 24, COLOR_WHITE, COLOR_BLUE, A_REVERSE};
    case monitor::Style::header: return {252, 238, COLOR_BLACK, COLOR_WHITE, A_REVERSE};
    case monitor::Style::selected: return {16, 80, COLOR_BLACK, COLOR_CYAN, A_BOLD};
    case monitor::Style::key: return {80, -1, COLOR_CYAN, -1, A_BOLD};
    case monitor::Style::good: return {77, -1, COLOR_GREEN, -1, A_NORMAL};
    case monitor::Style::warn: return {214, -1, COLOR_YELLOW, -1, A_NORMAL};
    case monitor::Style::bad: return {203, -1, COLOR_RED, -1, A_BOLD};
    case monitor::Style::accent: return {80, -1, COLOR_CYAN, -1, A_BOLD};
    case monitor::Style::load_low: return {31, -1, COLOR_CYAN, -1, A_NORMAL};
    case monitor::Style::load_mid: return {38, -1, COLOR_CYAN, -1, A_NORMAL};
    case monitor::Style::load_high: return {86, -1, COLOR_CYAN, -1, A_NORMAL};
    case monitor::Style::heat_low: return {71, -1, COLOR_GREEN, -1, A_NORMAL};
    case monitor::Style::heat_mid: return {178, -1, COLOR_YELLOW, -1, A_NORMAL};
    case monitor::Style::heat_high: return {203, -1, COLOR_RED, -1, A_NORMAL};
  }
  return {-1, -1, -1, -1, A_NORMAL};
}
constexpr short kStyles = static_cast<short>(monitor::Style::heat_high) + 1;

KeyPress key_of(int code, wint_t character) {
  using Kind = KeyPress::Kind;
  if (code == KEY_CODE_YES) switch (character) {
      case KEY_LEFT: return {Kind::left};
      case KEY_RIGHT: return {Kind::right};
      case KEY_UP: return {Kind::up};
      case KEY_DOWN: return {Kind::down};
      case KEY_PPAGE: return {Kind::page_up};
      case KEY_NPAGE: return {Kind::page_down};
      case KEY_HOME: return {Kind::home};
      case KEY_END: return {Kind::end};
      case KEY_ENTER: return {Kind::enter};
      case KEY_BACKSPACE: return {Kind::backspace};
      default: return {Kind::other};
    }
  switch (character) {
    case U'\r':
    case U'\n': return {Kind::enter};
    case 27: return {Kind::escape};
    case 8:
    case 127: return {Kind::backspace};
    default: return {Kind::character, static_cast<char32_t>(character)};
  }
}

}  // namespace

struct ScreenTerminal::Impl {
  SCREEN* screen = nullptr;
  int input_fd = STDIN_FILENO;
  bool colour = false;
  bool unicode = false;

  [[nodiscard]] attr_t attribute(monitor::Style style) const {
    return colour ? look_of(style).attribute & ~A_REVERSE & ~A_DIM : look_of(style).attribute;
  }
  [[nodiscard]] short pair(monitor::Style style) const {
    return colour ? static_cast<short>(static_cast<short>(style) + 1) : short{0};
  }
};

void ScreenTerminal::Close::operator()(Impl* impl) const noexcept {
  endwin();
  delscreen(impl->screen);
  delete impl;
}

base::Result<ScreenTerminal> ScreenTerminal::open(bool colour, bool ascii, std::FILE* output, std::FILE* input) {
  const bool utf8 = locale_is_utf8();
  SCREEN* screen = newterm(nullptr, output, input);
  if (screen == nullptr) {
    const char* kind = std::getenv("TERM");
    return base::fail(base::ErrorCode::unavailable, "unknown terminal type \"{}\"", kind != nullptr ? kind : "")
        .hint("set TERM, or add --headless");
  }
  std::unique_ptr<Impl, Close> impl(new Impl{screen, ::fileno(input), false, utf8 && !ascii});
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  if (colour && has_colors() && start_color() == OK && use_default_colors() == OK) {
    impl->colour = true;
    const bool rich = COLORS >= 256;
    for (short style = 0; style < kStyles; ++style) {
      const auto look = look_of(static_cast<monitor::Style>(style));
      init_pair(static_cast<short>(style + 1), rich ? look.rich : look.plain, rich ? look.rich_back : look.plain_back);
    }
  }
  return ScreenTerminal(std::move(impl));
}

monitor::ScreenSize ScreenTerminal::size() const { return {getmaxy(stdscr), getmaxx(stdscr), impl_->unicode}; }

void ScreenTerminal::show(const monitor::CellGrid& canvas) {
  erase();
  std::wstring run;
  for (int row = 0; row < canvas.rows(); ++row) {
    for (int column = 0; column < canvas.columns();) {
      const auto style = canvas.at(row, column).style;
      const int from = column;
      run.clear();
      for (; column < canvas.columns() && canvas.at(row, column).style == style; ++column)
        if (const auto glyph = canvas.at(row, column).glyph; glyph != 0) run += static_cast<wchar_t>(glyph);
      attr_set(impl_->attribute(style), impl_->pair(style), nullptr);
      mvaddnwstr(row, from, run.c_str(), static_cast<int>(run.size()));
    }
  }
  attr_set(A_NORMAL, 0, nullptr);
  refresh();
}

std::optional<KeyPress> ScreenTerminal::wait_for_key(std::chrono::milliseconds patience) {
  wint_t character = 0;
  int code = get_wch(&character);
  if (code == ERR) {
    pollfd input{impl_->input_fd, POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>(patience.count()));
    if (ready > 0 && (input.revents & (POLLHUP | POLLERR)) != 0 && (input.revents & POLLIN) == 0)
      return KeyPress{KeyPress::Kind::character, U'q'};  // the terminal has gone
    code = get_wch(&character);                          // also after an interruption: a resize comes as a key
  }
  if (code == ERR || (code == KEY_CODE_YES && character == KEY_RESIZE)) return std::nullopt;
  return key_of(code, character);
}

bool locale_is_utf8() {
  return std::setlocale(LC_CTYPE, "") != nullptr && std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

}  // namespace ridgeline::app
