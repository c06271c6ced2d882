// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/completion_offer.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "config/stream_section.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::app {
namespace {

bool has_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const char* part) { return text.find(part) != std::string::npos; });
}

/// The first argument of a command; nullptr: it takes none.
const CLI::Option* first_argument(const CLI::App& command) {
  for (const auto* option : visible_options(command))
    if (option->get_positional()) return option;
  return nullptr;
}

}  // namespace

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<CalledCommand> all_commands(const CLI::App& app) {
  std::vector<CalledCommand> all;
  for (const auto* command : visible_commands(app)) {
    all.push_back({command_name(*command), command});
    for (auto& nested : all_commands(*command)) all.push_back(std::move(nested));
  }
  return all;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<const CLI::Option*> visible_options(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : visible_options(command))
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

OptionValue value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return OptionValue::none;
  return option.get_items_expected_min() == 0 ? OptionValue::maybe : OptionValue::one;
}

Offer offer_of(const CLI::Option& option, const Context& context) {
  const auto type = option.get_type_name();
  const auto is = [&](const char* name) { return option.check_lname(name); };
  if (option.get_items_expected_max() == 0) return Offer::nothing;
  if (!words_of(option, context).empty()) return Offer::words;
  if (is("set")) return Offer::settings;
  if (is("stream")) return Offer::stream;
  if (is("python")) return Offer::python_files;
  if (has_any(type, {"RUN"})) return Offer::runs;
  if ((is("model") || is("crop-model")) && type == "FILE") return Offer::models;
  if (is("model") || has_any(type, {"FILE", "PATH", "FOLDER", "REPORT", "SOURCE"})) return Offer::files;
  return Offer::nothing;
}

std::vector<std::string> words_of(const CLI::Option& option, const Context& context) {
  if (const auto found = context.choices.find(&option); found != context.choices.end()) return found->second;
  // "latest|learn" in the place of a type.
  const auto type = option.get_type_name();
  if (type.find('|') == std::string::npos || type.find_first_not_of("abcdefghijklmnopqrstuvwxyz|") != std::string::npos)
    return {};
  return base::split(type, '|');
}

Offer operand_of(const CLI::App& command, const Context& context) {
  const auto* argument = first_argument(command);
  if (argument == nullptr) return Offer::nothing;
  if (!words_of(*argument, context).empty()) return Offer::words;
  const auto name = argument->get_name(true);
  if (name == "RUN" || name == "TRIAL") return Offer::runs;
  if (name == "A") return Offer::runs_or_files;
  if (name == "MODEL") return Offer::models;
  return name == "KEY" ? Offer::parameters : Offer::files;
}

std::vector<std::string> operand_words(const CLI::App& command, const Context& context) {
  const auto* argument = first_argument(command);
  return argument == nullptr ? std::vector<std::string>() : words_of(*argument, context);
}

std::vector<CompletedKey> parameter_keys() {
  std::vector<CompletedKey> keys;
  for (const auto& param : schema::catalog()) {
    CompletedKey key{param.key, {}};
    for (const auto& choice : param.choices) key.values.push_back(choice.to_text());
    keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<CompletedKey> stream_keys() {
  std::vector<CompletedKey> keys;
  for (const auto& name : config::stream_setting_names()) keys.push_back({name, config::stream_setting_words(name)});
  return keys;
}

std::string key_words(const std::vector<CompletedKey>& keys, const std::string& end) {
  std::vector<std::string> words;
  for (const auto& one : keys) words.push_back(one.key + end);
  return between_blanks(words);
}

std::string value_cases(const std::vector<CompletedKey>& keys, const std::string& indent, const std::string& before,
                        const std::string& after) {
  std::string out;
  for (const auto& [key, values] : keys)
    if (!values.empty()) out += fmt::format("{}{}) {}{}{} ;;\n", indent, key, before, between_blanks(values), after);
  return out;
}

std::string between_blanks(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace ridgeline::app
