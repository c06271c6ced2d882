// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/renamed_options.hpp"

#include <array>
#include <cstdio>

#include <fmt/format.h>

namespace ridgeline::app {
namespace {

struct RenamedOption {
  std::string_view command;
  std::string_view former;
  std::string_view name;
};
constexpr std::array<RenamedOption, 2> kRenamed{{
    {"tune", "--no-contributions", "--no-ablation"},
    {"bench", "--soak", "--stability-run"},
}};

}  // namespace

std::string present_option(std::string_view command, std::string word) {
  const auto name = word.substr(0, word.find('='));
  for (const auto& renamed : kRenamed) {
    if (renamed.command != command || renamed.former != name) continue;
    fmt::print(stderr, "note: {} is now {}\n", renamed.former, renamed.name);
    return std::string(renamed.name) + word.substr(name.size());
  }
  return word;
}

}  // namespace ridgeline::app
