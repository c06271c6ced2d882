// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/waiting_line.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace ridgeline::app {
namespace {

constexpr double kShownAfterS = 1;  ///< in a terminal, and as often
constexpr double kLongS = 10;       ///< elsewhere

}  // namespace

WaitingLine::~WaitingLine() {
  if (stands_) fmt::print(stderr, "\r\x1b[K");
}

void WaitingLine::show(const std::string& doing, double waited_s) {
  if (doing.empty()) return;
  if (err_.interactive) {
    if (doing == told_ && waited_s < shown_s_ + kShownAfterS) return;
    if (waited_s < kShownAfterS) return;
    fmt::print(stderr, "\r\x1b[K{}, {:.0f} s", doing, waited_s);
    std::fflush(stderr);
    stands_ = true;
  } else {
    if (!talks_ || doing == told_ || waited_s < kLongS) return;
    fmt::print(stderr, "{}: still running after {:.0f} s\n", doing, waited_s);
  }
  told_ = doing;
  shown_s_ = waited_s;
}

}  // namespace ridgeline::app
