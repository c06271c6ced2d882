// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/parse_mistake.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "schema/catalog.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::app {
namespace {

using base::Error;
using base::ErrorCode;

Error mistake(std::string message, std::string hint) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(hint)};
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    names.push_back(command->get_name());
  return names;
}

/// The command that was called: "ridgeline profile import".
struct Called {
  const CLI::App* command;
  std::string path;
};

Called called_command(const CLI::App& cli) {
  Called called{&cli, "ridgeline"};
  while (!called.command->get_subcommands().empty()) {
    called.command = called.command->get_subcommands().front();
    called.path += " " + called.command->get_name();
  }
  return called;
}

std::string help_of(const Called& called) { return fmt::format("see {} --help", called.path); }

/// The first line of its examples, without the remark behind it.
std::string example_of(const Called& called) {
  const auto footer = called.command->get_footer();
  const auto at = footer.find("  ridgeline ");
  if (at == std::string::npos) return help_of(called);
  auto line = footer.substr(at, footer.find('\n', at) - at);
  line = line.substr(0, line.find("   ", 2));
  return fmt::format("for example: {}", base::trim(line));
}

/// Options and arguments as they are called on the command line.
std::string shown(const CLI::Option& option) {
  return option.get_positional() ? option.get_name(true) : option.get_name();
}

std::string with_value(const CLI::Option& option) {
  const auto type = option.get_type_name();
  return option.get_positional() || option.get_items_expected_max() == 0 || type.empty()
             ? shown(option)
             : fmt::format("{} {}", shown(option), type);
}

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
  const auto found =
      app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name && !one->get_group().empty(); });
  return found.empty() ? nullptr : found.front();
}

std::string argument_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    if (option->get_positional()) names.push_back(option->get_name(true));
  return fmt::format("{}", fmt::join(names, " "));
}

Error unknown_option(const Called& called, std::string_view word) {
  const auto name = std::string(word.substr(0, word.find('=')));
  const auto bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  std::vector<std::string> known;
  for (const auto* option : called.command->get_options())
    if (!option->get_group().empty())
      for (const auto& one : option->get_lnames()) known.push_back(one);
  if (std::find(known.begin(), known.end(), bare) != known.end())
    return mistake(fmt::format("{} must come after its command", name), fmt::format("write: {} {}", called.path, name));
  std::vector<std::string> meant;
  for (const auto& one : schema::suggestions(bare, known)) meant.push_back("--" + one);
  if (meant.empty() && called.command->get_option_no_throw("--set") != nullptr) {
    std::vector<std::string> keys;
    for (const auto& param : schema::catalog()) keys.push_back(param.key);
    for (const auto& key : schema::suggestions(bare, keys)) meant.push_back(fmt::format("--set {}=VALUE", key));
  }
  return mistake(fmt::format("{} has no option {}", called.path, name),
                 meant.empty() ? help_of(called) : fmt::format("did you mean {}?", fmt::join(meant, " or ")));
}

Error unexpected(const Called& called, const std::vector<std::string>& extras) {
  const auto& word = extras.front();
  const auto names = command_names(*called.command);
  if (!names.empty()) {
    // What precedes it may be the misspelt command: "profile imprt trace.json".
    std::vector<std::string> tried{word};
    for (const auto* option : called.command->get_options())
      if (option->get_positional())
        for (const auto& value : option->results()) tried.insert(tried.begin(), value);
    for (const auto& one : tried)
      if (const auto near = schema::suggest(one, names); !near.empty())
        return mistake(fmt::format("{}: unknown command \"{}\"", called.path, one), near);
  }
  const auto takes = argument_names(*called.command);
  auto hint = commands_for_file(word);
  return mistake(fmt::format("{}: unexpected argument \"{}\"; expected {}", called.path, word,
                             takes.empty() ? "options only" : takes),
                 hint.empty() ? help_of(called) : hint);
}

/// Of a flag that needs or excludes another: the first such pair.
std::optional<Error> conflict_of(const Called& called) {
  for (const auto* option : called.command->get_options()) {
    if (option->count() == 0) {
      if (!option->get_required()) continue;
      return mistake(fmt::format("{}: {} is missing", called.path, with_value(*option)), example_of(called));
    }
    for (const auto* other : option->get_needs())
      if (other->count() == 0)
        return mistake(fmt::format("{} needs {}", shown(*option), with_value(*other)),
                       fmt::format("add {}", with_value(*other)));
    for (const auto* other : option->get_excludes())
      if (other->count() > 0)
        return mistake(fmt::format("{} and {} exclude each other", shown(*option), shown(*other)), "give one");
  }
  return std::nullopt;
}

/// An option is named at the beginning of what the parser says of it, or behind these words.
bool concerns(std::string_view text, const std::string& name) {
  if (text.rfind("Could not convert: ", 0) == 0) text.remove_prefix(std::string_view("Could not convert: ").size());
  return text.rfind(name, 0) == 0 &&
         (text.size() == name.size() || text[name.size()] == ':' || text[name.size()] == ' ');
}

Error unknown_command(const CLI::App& cli, std::string_view word) {
  auto hint = schema::suggest(word, command_names(cli));
  if (std::error_code ignored; hint.empty() || std::filesystem::is_regular_file(word, ignored))
    if (auto commands = commands_for_file(word); !commands.empty()) hint = std::move(commands);
  return mistake(fmt::format("unknown command \"{}\"", word), hint.empty() ? "see ridgeline --help" : hint);
}

}  // namespace

std::string option_mistake(const CLI::ParseError& error, const CLI::Option& option) {
  const auto name = option.get_name();
  if (!concerns(error.what(), name)) return {};
  const auto words = option.results();
  const auto value = fmt::format("{}", fmt::join(words, " "));
  const auto type = option.get_type_name();
  const auto most = option.get_items_expected_max();
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return most == 0 ? fmt::format("{} takes no value", name)
                     : fmt::format("{} {}: expected {}", name, value, type.empty() ? "a value" : type);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return {};
  if (most == 0) return fmt::format("{} takes no value", name);
  if (words.size() > static_cast<std::size_t>(most))
    return fmt::format("{} is given {} times ({}); expected once", name, words.size(), fmt::join(words, ", "));
  return fmt::format("{}: the value is missing; expected {}", name, type.empty() ? "one" : type);
}

Error parse_mistake(const CLI::ParseError& error, const CLI::App& cli, const std::vector<std::string>& words,
                    const std::string& hint) {
  const auto called = called_command(cli);
  if (called.command == &cli) {
    const auto first = words.size() > 1 ? std::string_view(words[1]) : std::string_view();
    return first.empty() || first.front() != '-' ? unknown_command(cli, first) : unknown_option(called, first);
  }
  const auto advice = hint.empty() ? help_of(called) : hint;
  const auto extras = cli.remaining(true);
  for (const auto& word : extras)
    if (word.size() > 1 && word.front() == '-') return unknown_option(called, word);
  if (!extras.empty() && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(called, extras);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
      dynamic_cast<const CLI::RequiresError*>(&error) != nullptr ||
      dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    if (auto conflict = conflict_of(called)) return std::move(*conflict);
  for (const auto* option : called.command->get_options())
    if (auto text = option_mistake(error, *option); !text.empty()) return mistake(std::move(text), advice);
  return mistake(error.what(), advice);
}

base::Result<std::vector<std::string>> with_help_words(std::vector<std::string> words, const CLI::App& cli) {
  if (words.size() < 2 || words[1] != "help") return words;
  words.erase(words.begin() + 1);
  const CLI::App* command = &cli;
  std::string path = "ridgeline";
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--help" || words[i] == "-h") continue;
    const auto* next = find_command(*command, words[i]);
    if (next == nullptr)
      return base::fail(ErrorCode::invalid_argument, "{} has no command \"{}\"", path, words[i]).hint("{}", [&] {
        const auto near = schema::suggest(words[i], command_names(*command));
        return near.empty() ? fmt::format("see {} --help", path) : near;
      }());
    command = next;
    path += " " + words[i];
  }
  words.emplace_back("--help");
  return words;
}

std::string commands_for_file(std::string_view file) {
  const auto ends = [&](std::initializer_list<std::string_view> endings) {
    std::string name(file);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return std::any_of(endings.begin(), endings.end(), [&](auto ending) {
      return name.size() > ending.size() && std::string_view(name).ends_with(ending);
    });
  };
  if (ends({".onnx", ".ort"})) return fmt::format("ridgeline tune {0}, or ridgeline profile {0}", file);
  const auto function = file.find(".py:");
  if (function != std::string_view::npos)
    return fmt::format("ridgeline tune --python {0} for a model, ridgeline bench --python {0} for a training", file);
  if (ends({".py"}))
    return fmt::format(
        "ridgeline profile -- python {0} records it, ridgeline bench -- python {0} tunes a training, ridgeline tune "
        "--python {0}:make a model",
        file);
  if (ends({".json", ".json.gz", ".sqlite", ".nsys-rep", ".ncu-rep", ".pickle"}))
    return fmt::format("ridgeline profile import {}", file);
  if (ends({".yaml", ".yml"})) return fmt::format("ridgeline tune model.onnx --config {}", file);
  if (ends({".mp4", ".mkv", ".avi", ".mov", ".webm"}) || file.rfind("rtsp://", 0) == 0)
    return fmt::format("ridgeline stream run --source {} --model model.onnx", file);
  if (ends({".h5", ".hdf5"})) return fmt::format("ridgeline bench --data-path {}", file);
  if (file.rfind("synthetic", 0) == 0) return fmt::format("ridgeline tune {}", file);
  return {};
}

}  // namespace ridgeline::app
