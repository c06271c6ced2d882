// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/help_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "report/utf8.hpp"
#include "ridgeline/option_levels.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {
namespace {

constexpr int kNarrowest = 40;
constexpr std::size_t kLongestChoice = 22;  // of words that are listed in the place of a type
constexpr std::size_t kFewOptions = 8;      // all of them are shown by -h
constexpr int kHanging = 6;                 // of what a long row of exit codes goes on at
constexpr std::string_view kHelpGroup = "Options";

/// "ridgeline stream run".
std::string path_of(const CLI::App& command) {
  const auto* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

/// "--quiet" of "-q,--quiet".
std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

/// The type of the value, or its words if they are few.
std::string value_name(const CLI::Option& option, const Context& context) {
  if (option.get_items_expected_max() == 0) return {};
  const auto choices = context.choices.find(&option);
  auto type = option.get_type_name();
  if (choices != context.choices.end() && type.size() > kLongestChoice) type = "NAME";
  return type;
}

std::string label_of(const CLI::Option& option, const Context& context) {
  const auto value = value_name(option, context);
  const auto rest = value.empty() ? "" : " " + value;
  if (option.get_positional()) return option.get_name(true) + (value == "TEXT" ? "" : rest);
  std::string names;
  for (const auto& name : option.get_snames()) names += fmt::format("-{}, ", name);
  return names + long_name(option) + rest;
}

std::string description_of(const CLI::Option& option, const Context& context) {
  auto text = option.get_description();
  const auto choices = context.choices.find(&option);
  if (choices != context.choices.end() && value_name(option, context) == "NAME")
    text += fmt::format("; one of {}", fmt::join(choices->second, ", "));
  if (option.get_required()) text += " (required)";
  const auto& value = option.get_default_str();
  // A value that may be left out ("auto") is what the option alone means.
  const bool takes_value = option.get_items_expected_min() > 0;
  if (takes_value && !value.empty() && text.find("default") == std::string::npos)
    text += fmt::format(" (default: {})", value);
  return text;
}

/// The first statement of a description, in one line of `width` columns.
std::string first_statement(std::string text, std::size_t width) {
  for (const std::string_view end : {"; ", ". ", " ("})
    if (const auto at = text.find(end); at != std::string::npos) text.resize(at);
  if (text.size() <= width) return text;
  const auto blank = text.rfind(' ', width - 4);
  return text.substr(0, blank == std::string::npos ? width - 4 : blank) + " ...";
}

/// A label and its text behind column `left`, wrapped; a label that is too long has a line of its own.
std::string row(const std::string& label, const std::string& text, int left, int width) {
  const auto columns = static_cast<int>(report::columns_of(label)) + 2;
  const bool fits = columns + 2 <= left;
  auto out = "  " + label;
  if (text.empty()) return out + "\n";
  out += fits ? std::string(static_cast<std::size_t>(left - columns), ' ')
              : "\n" + std::string(static_cast<std::size_t>(left), ' ');
  auto body = wrapped(text, width - left, 0);
  for (std::size_t at = body.find('\n'); at != std::string::npos; at = body.find('\n', at + 1))
    body.insert(at + 1, std::string(static_cast<std::size_t>(left), ' '));
  return out + body + "\n";
}

/// An example with its remark in brackets, for lines of `width` columns: the remark gets a line of its own, and the
/// command goes on behind a backslash, so that it can be copied.
std::string example_within(std::string line, int width) {
  std::string out;
  if (const auto remark = line.rfind("  ("); remark != std::string::npos && line.ends_with(")")) {
    out = "  # " + line.substr(remark + 3, line.size() - remark - 4) + "\n";
    line.resize(line.find_last_not_of(' ', remark) + 1);
  }
  // What is in quotes is one word.
  constexpr std::string_view kNoBreak = "\u00a0";
  std::string words;
  bool is_quoted = false;
  for (const char c : line.substr(2)) {
    is_quoted = is_quoted != (c == '\'');
    if (is_quoted && c == ' ')
      words += kNoBreak;
    else
      words += c;
  }
  // Two columns for the backslash.
  auto body = wrapped(words, width - 6, 4);
  for (std::size_t at = body.find(kNoBreak); at != std::string::npos; at = body.find(kNoBreak, at))
    body.replace(at, kNoBreak.size(), " ");
  for (std::size_t at = body.find('\n'); at != std::string::npos; at = body.find('\n', at + 3)) body.insert(at, " \\");
  return out + "  " + body;
}

/// A line that is too long, with what does not fit behind a deeper indent.
std::string hanging(const std::string& line, int indent, int width) {
  const int deeper = indent >= 2 ? kHanging : indent;
  return line.substr(0, static_cast<std::size_t>(indent)) +
         wrapped(line.substr(static_cast<std::size_t>(indent)), width - std::max(indent, deeper), deeper);
}

/// Lines that are set already, such as examples; one that is too long goes on behind a deeper indent.
std::string lines_within(const std::string& text, int width) {
  std::string out;
  std::size_t from = 0;
  while (from < text.size()) {
    const auto end = std::min(text.find('\n', from), text.size());
    const auto line = text.substr(from, end - from);
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    // What is in brackets behind a command would be a mistake of a shell: it goes before it.
    const bool is_example = line.starts_with("  ridgeline ") && !line.ends_with('\\');
    if (is_example && (line.ends_with(")") || report::columns_of(line) > static_cast<std::size_t>(width)))
      out += example_within(line, width);
    else if (report::columns_of(line) <= static_cast<std::size_t>(width))
      out += line;
    else
      out += hanging(line, static_cast<int>(indent), width);
    out += '\n';
    from = end + 1;
  }
  return out;
}

/// "ridgeline tune [OPTIONS] [MODEL]".
std::string usage_of(const CLI::App& command) {
  auto out = path_of(command);
  const auto subcommands = command.get_subcommands({});
  const bool has_commands =
      std::any_of(subcommands.begin(), subcommands.end(), [](const auto* one) { return !one->get_group().empty(); });
  if (has_commands && command.get_require_subcommand_min() > 0) out += " COMMAND";
  out += " [OPTIONS]";
  for (const auto* option : command.get_options([](const auto* one) { return one->get_positional(); })) {
    if (option->get_group().empty()) continue;
    const auto name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    out += option->get_required() ? " " + name : " [" + name + "]";
  }
  return out;
}

/// The options that a level shows, positionals left out.
std::vector<const CLI::Option*> options_at(const CLI::App& command, HelpLevel level) {
  const auto name = command_name(command);
  std::vector<const CLI::Option*> out;
  for (const auto* option : command.get_options()) {
    if (option->get_positional() || option->get_group().empty() || option == command.get_help_ptr()) continue;
    if (level != HelpLevel::all && is_seldom_used(name, long_name(*option))) continue;
    out.push_back(option);
  }
  const auto keys = key_options(name);
  if (level != HelpLevel::brief || keys.empty()) {
    if (level == HelpLevel::brief) out.resize(std::min(out.size(), kFewOptions));
    return out;
  }
  std::vector<const CLI::Option*> chosen;
  for (const auto key : keys)
    if (const auto* option = command.get_option_no_throw(std::string(key))) chosen.push_back(option);
  return chosen;
}

int left_column(int width) { return width < 100 ? 26 : 34; }

/// The first example of the footer, without its remark.
std::string first_example(const CLI::App& command, int width) {
  const auto footer = command.get_footer();
  const auto begin = footer.find("\n  ridgeline ");
  if (begin == std::string::npos) return {};
  std::string example;
  for (auto from = begin + 1; from < footer.size();) {
    const auto end = std::min(footer.find('\n', from), footer.size());
    const auto line = footer.substr(from, end - from);
    example += example.empty() ? line : line.substr(std::min(line.find_first_not_of(' '), line.size()));
    if (!example.ends_with('\\')) break;
    example.pop_back();
    from = end + 1;
  }
  if (const auto remark = example.find("  (", 4); remark != std::string::npos) example.resize(remark);
  return example_within(example.substr(0, example.find_last_not_of(' ') + 1), width);
}

std::string commands_text(const CLI::App& command, int width) {
  std::string out;
  std::vector<std::string> groups;
  const auto commands = command.get_subcommands([](const auto* one) { return !one->get_group().empty(); });
  for (const auto* one : commands)
    if (std::find(groups.begin(), groups.end(), one->get_group()) == groups.end()) groups.push_back(one->get_group());
  for (const auto& group : groups) {
    out += fmt::format("\n{}:\n", group);
    for (const auto* one : commands)
      if (one->get_group() == group) out += row(one->get_name(), one->get_description(), 16, width);
  }
  return out;
}

std::string brief_text(const CLI::App& command, const Context& context, int width) {
  const int left = left_column(width);
  std::string out = wrapped(command.get_description(), width, 0) + "\n";
  out += lines_within("Usage: " + usage_of(command), width) + "\n";
  for (const auto* option : options_at(command, HelpLevel::brief)) {
    const auto label = label_of(*option, context);
    const auto text = first_statement(option->get_description(), static_cast<std::size_t>(width - left));
    // One line each: a label that is too long shows "..." in place of the type.
    const auto columns = static_cast<int>(report::columns_of(label)) + 4;
    const auto short_label = long_name(*option) + (option->get_items_expected_max() > 0 ? " ..." : "");
    out += row(columns <= left ? label : short_label, text, left, width);
  }
  if (const auto example = first_example(command, width); !example.empty()) out += "\n" + example + "\n";
  return out + fmt::format("more: {} --help, or --help-all\n", path_of(command));
}

}  // namespace

HelpLevel help_level(std::string_view word) {
  return word == "-h" ? HelpLevel::brief : word == "--help-all" ? HelpLevel::all : HelpLevel::usual;
}

std::string help_text(const CLI::App& command, const Context& context, HelpLevel level, int width) {
  width = std::max(width, kNarrowest);
  if (level == HelpLevel::brief) {
    // A list of commands is as brief as it gets.
    const auto commands = commands_text(command, width);
    if (commands.empty() || !key_options(command_name(command)).empty()) return brief_text(command, context, width);
    return wrapped(command.get_description(), width, 0) + "\n" + lines_within("Usage: " + usage_of(command), width) +
           commands + fmt::format("\none of them: {} COMMAND --help\n", path_of(command));
  }
  const int left = left_column(width);
  std::string out = wrapped(command.get_description(), width, 0) + "\n";
  out += lines_within("Usage: " + usage_of(command), width);

  std::string positionals;
  for (const auto* option : command.get_options([](const auto* one) { return one->get_positional(); }))
    if (!option->get_group().empty())
      positionals += row(label_of(*option, context), description_of(*option, context), left, width);
  if (!positionals.empty()) out += "\n" + positionals;
  out += commands_text(command, width);

  const auto options = options_at(command, level);
  std::vector<std::string> groups;
  for (const auto* option : options)
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  for (const auto& group : groups) {
    out += groups.size() == 1 || group != kHelpGroup ? fmt::format("\n{}:\n", group) : "\n";
    for (const auto* option : options)
      if (option->get_group() == group)
        out += row(label_of(*option, context), description_of(*option, context), left, width);
  }
  const auto hidden = options_at(command, HelpLevel::all).size() - options.size();
  if (hidden > 0) out += fmt::format("\n{} options that are seldom needed: {} --help-all\n", hidden, path_of(command));
  if (const auto footer = command.get_footer(); !footer.empty()) out += "\n" + lines_within(footer, width);
  return out;
}

}  // namespace ridgeline::app
