// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/renamed_options.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {
namespace {

struct RenamedOption {
  std::string_view command;
  std::string_view former;
  std::string_view name;
  /// The former option is still read by itself, because it means more than its successor: a note is all it gets.
  bool is_kept = false;
};
constexpr std::array<RenamedOption, 11> kRenamed{{
    {"tune", "--no-contributions", "--no-ablation"},
    {"tune", "--trial-time", "--time"},
    {"tune", "--report-html", "--report FILE.html", true},
    {"bench", "--soak", "--stability-run"},
    {"bench", "--device", "--devices"},
    {"bench", "--report-html", "--report FILE.html", true},
    {"sweep", "--report-html", "--report FILE.html", true},
    {"profile", "--report-html", "--report FILE.html", true},
    {"profile import", "--report-html", "--report FILE.html", true},
    {"report", "--report-html", "--report FILE.html", true},
    {"watch", "--probe-time", "--time"},
}};

}  // namespace

bool takes_next_word(const CLI::App& command, const std::string& word) {
  if (word.size() < 2 || word.front() != '-' || word.find('=') != std::string::npos) return false;
  const auto* option = command.get_option_no_throw(word);
  return option != nullptr && !option->get_positional() && option->get_items_expected_min() > 0;
}

std::string present_option(std::string_view command, std::string word) {
  const auto name = word.substr(0, word.find('='));
  for (const auto& renamed : kRenamed) {
    if (renamed.command != command || renamed.former != name) continue;
    fmt::print(stderr, "note: {} is now {}\n", renamed.former, renamed.name);
    return renamed.is_kept ? word : std::string(renamed.name) + word.substr(name.size());
  }
  return word;
}

void rename_options(std::vector<std::string>& words, std::size_t count, const CLI::App& cli) {
  const CLI::App* command = &cli;
  std::string called;
  bool is_value = false;
  for (std::size_t i = 1; i < count; ++i) {
    auto& word = words[i];
    if (std::exchange(is_value, false)) continue;
    if (word == "--") return;
    const auto nested = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (!nested.empty()) {
      command = nested.front();
      called = command_name(*command);
    } else {
      word = present_option(called, std::move(word));
      is_value = takes_next_word(*command, word);
    }
  }
}

}  // namespace ridgeline::app
