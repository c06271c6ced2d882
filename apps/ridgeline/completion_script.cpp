// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/completion_script.hpp"

#include <algorithm>

#include "schema/catalog.hpp"

namespace ridgeline::app {
namespace {

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  auto commands = app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
  return {commands.begin(), commands.end()};
}

/// A command by the words that call it: "stream run".
struct CalledCommand {
  std::string words;
  const CLI::App* command;
};

/// All of them, each with its own behind it.
std::vector<CalledCommand> all_commands(const CLI::App& app) {
  std::vector<CalledCommand> all;
  for (const auto* command : visible_commands(app)) {
    all.push_back({command->get_name(), command});
    for (auto& [words, nested] : all_commands(*command)) all.push_back({command->get_name() + " " + words, nested});
  }
  return all;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const auto* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

enum class Value { none, maybe, one };

Value value_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Value::none;
  return option.get_items_expected_min() == 0 ? Value::maybe : Value::one;
}

/// What a command takes besides options.
enum class Operand { none, files, runs, shells, parameters };

Operand operand_of(const CLI::App& command) {
  if (command.get_name() == "completion") return Operand::shells;
  for (const auto* option : command.get_options()) {
    if (!option->get_positional()) continue;
    const auto name = option->get_name(true);
    if (name.rfind("RUN", 0) == 0 || name == "TRIAL") return Operand::runs;
    return name == "KEY" ? Operand::parameters : Operand::files;
  }
  return Operand::none;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string parameter_words(const std::string& end) {
  std::vector<std::string> words;
  for (const auto& param : schema::catalog()) words.push_back(param.key + end);
  return joined(words);
}

/// A line of a shell's case for each parameter whose values are known.
std::string value_cases(const std::string& indent, const std::string& before, const std::string& after) {
  std::string out;
  for (const auto& param : schema::catalog()) {
    std::vector<std::string> words;
    for (const auto& choice : param.choices) words.push_back(choice.to_text());
    if (!words.empty()) out += fmt::format("{}{}) {}{}{} ;;\n", indent, param.key, before, joined(words), after);
  }
  return out;
}

// Both shells: the run ids of the results file that the line names.
constexpr std::string_view kRunIds = R"sh(_ridgeline_runs() {
  local word last="" db=()
  for word in "$@"; do
    [ "$word" = "=" ] && continue
    [ "$last" = "--db" ] && db=(--db "${word/#\~\//$HOME/}")
    case "$word" in --db=?*) db=(--db "${word#--db=}") ;; esac
    last="$word"
  done
  echo latest
  ridgeline history --ids "${db[@]}" 2>/dev/null
}
)sh";

// Bash makes "=" a word of its own, unless it was taken out of COMP_WORDBREAKS: both end as key and current.
constexpr std::string_view kBashWords = R"sh(_ridgeline() {
  local at=$((COMP_CWORD - 1)) current="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}" words="" key="" prefix=""
  if [ "$current" = "=" ]; then
    current="" key="${COMP_WORDS[at]}" at=$((at - 1))
  elif [ "${COMP_WORDS[at]}" = "=" ]; then
    key="${COMP_WORDS[at-1]}" at=$((at - 2))
  elif [[ "$current" == *=* ]]; then
    key="${current%%=*}" prefix="${current%%=*}=" current="${current#*=}"
  fi
  [ "${COMP_WORDS[at]}" = "=" ] && at=$((at - 1))
  local previous="${COMP_WORDS[at]}"
  case "$key" in --*) previous="$key" key="" ;; esac
  COMPREPLY=()
)sh";

constexpr std::string_view kReply = R"(COMPREPLY=($(compgen -P "$prefix" -W "$words" -- "$current")))";

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

bool takes_a_path(const CLI::Option& option) {
  const auto type = option.get_type_name();
  const auto names = {"FILE", "PATH", "FOLDER", "REPORT", "MODULE"};
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return type.find(name) != std::string::npos; });
}

std::string zsh_option(const CLI::Option& option, const std::string& name, const Context& context) {
  auto line = fmt::format("'*--{}[{}]", name, quoted(option.get_description()));
  if (value_of(option) == Value::none) return line + "'";
  const auto words = context.choices.find(&option);
  line += value_of(option) == Value::maybe ? "::" : ":";
  line += words != context.choices.end() ? fmt::format("value:({})", joined(words->second))
          : name == "set"                ? "parameter:_ridgeline_setting"
          : takes_a_path(option)         ? "file:_files"
                                         : quoted(option.get_type_name()) + ": ";
  return line + "'";
}

std::string zsh_operand(const CLI::App& command) {
  if (const auto nested = visible_commands(command); !nested.empty())
    return fmt::format("'*:command:({})'", joined(names_of(nested)));
  switch (operand_of(command)) {
    case Operand::runs: return "'*:run:(${(f)\"$(_ridgeline_runs $words)\"})'";
    case Operand::shells: return "'*:shell:(bash zsh)'";
    case Operand::parameters: return fmt::format("'*:parameter:({})'", parameter_words(""));
    case Operand::files: return "'*:file:_files'";
    case Operand::none: break;
  }
  return "'*: :()'";
}

std::string zsh_arguments(const CLI::App& command, const std::string& indent, const Context& context) {
  auto out = fmt::format("{}_arguments -s \\\n", indent);
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames())
      out += fmt::format("{}  {} \\\n", indent, zsh_option(*option, name, context));
  return out + fmt::format("{}  {}\n", indent, zsh_operand(command));
}

}  // namespace

std::string bash_completion(const CLI::App& app, const Context& context) {
  const auto commands = all_commands(app);
  std::string out = "# bash completion for ridgeline; made by: ridgeline completion bash\n";
  out.append(kRunIds).append(kBashWords);
  out += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n"
      "    return\n  fi\n",
      joined(names_of(visible_commands(app))));
  for (const auto& [words, command] : commands)
    if (words.find(' ') != std::string::npos)
      out += fmt::format(
          "  [ \"$COMP_CWORD\" -gt 2 ] && [ \"$command ${{COMP_WORDS[2]}}\" = \"{0}\" ] && command=\"{0}\"\n", words);
  out += "  case \"$command $previous\" in\n";
  for (const auto& [called, command] : commands)
    for (const auto* option : command->get_options()) {
      const auto words = context.choices.find(option);
      if (words == context.choices.end()) continue;
      for (const auto& name : option->get_lnames())
        out +=
            fmt::format("    \"{} --{}\") words=\"{}\"; {}; return ;;\n", called, name, joined(words->second), kReply);
    }
  out += fmt::format(
      "    *\" --set\")\n      case \"$key\" in\n        \"\") words=\"{}\"; compopt -o nospace ;;\n{}"
      "      esac\n      {}\n      return ;;\n",
      parameter_words("="), value_cases("        ", "words=\"", "\""), kReply);
  out += "  esac\n  case \"$command\" in\n";
  for (const auto& [called, command] : commands) {
    const auto operand = operand_of(*command);
    const std::string extra = operand == Operand::runs         ? " $(_ridgeline_runs \"${COMP_WORDS[@]}\")"
                              : operand == Operand::shells     ? " bash zsh"
                              : operand == Operand::parameters ? " " + parameter_words("")
                                                               : "";
    const auto nested = joined(names_of(visible_commands(*command)));
    out += fmt::format("    \"{}\") words=\"{}{}{}{}\" ;;\n", called, nested, nested.empty() ? "" : " ",
                       joined(long_options(*command)), extra);
  }
  out +=
      "  esac\n"
      "  [ -z \"$prefix\" ] && COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  case \"$current\" in -*) ;; *) COMPREPLY+=($(compgen -P \"$prefix\" -f -- \"$current\")); "
      "compopt -o filenames 2>/dev/null ;; esac\n"
      "}\n"
      "complete -F _ridgeline ridgeline\n";
  return out;
}

std::string zsh_completion(const CLI::App& app, const Context& context) {
  std::string out = "#compdef ridgeline\n# zsh completion for ridgeline; made by: ridgeline completion zsh\n";
  out.append(kRunIds);
  out += fmt::format(
      "_ridgeline_setting() {{\n  if ! compset -P 1 '*='; then\n    compadd -S '' -- {}\n    return\n  fi\n"
      "  case ${{IPREFIX%=}} in\n{}  esac\n}}\n",
      parameter_words("="), value_cases("    ", "compadd -- ", ""));
  out += "_ridgeline() {\n  local -a commands\n  commands=(\n";
  for (const auto* command : visible_commands(app))
    out += fmt::format("    '{}:{}'\n", command->get_name(), quoted(command->get_description()));
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n  case $words[2] in\n";
  for (const auto* command : visible_commands(app)) {
    out += fmt::format("    {})\n", command->get_name());
    if (const auto nested = visible_commands(*command); !nested.empty()) {
      out += "      if (( CURRENT > 3 )); then\n        case $words[3] in\n";
      for (const auto* one : nested)
        out += fmt::format("          {})\n{}            return\n            ;;\n", one->get_name(),
                           zsh_arguments(*one, "            ", context));
      out += "        esac\n      fi\n";
    }
    out += zsh_arguments(*command, "      ", context) + "      ;;\n";
  }
  out += "  esac\n}\n_ridgeline \"$@\"\n";
  return out;
}

}  // namespace ridgeline::app
