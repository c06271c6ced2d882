// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/completion_offer.hpp"
#include "ridgeline/completion_script.hpp"

namespace ridgeline::app {
namespace {

constexpr std::string_view kZshHead = R"sh(_ridgeline_runs() {
  local word last="" line
  local -a db found
  for word in $words; do
    [[ $last == --db ]] && db=(--db "${word/#\~\//$HOME/}")
    [[ $word == --db=?* ]] && db=(--db "${word#--db=}")
    last=$word
  done
  for line in "${(@f)$(ridgeline complete-runs $db 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  _describe -V 'run' found
}
_ridgeline_runs_or_files() { _ridgeline_runs; _files }
_ridgeline_models() { (( $# )) && compadd -- "$@"; _files -g '*.(onnx|ort)(-.)' }
_ridgeline_scripts() { _files -g '*.py(-.)' }
)sh";

/// Text inside the quotes and brackets of _arguments.
std::string zsh_quoted(const std::string& text) {
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

/// "message:action" of _arguments.
std::string zsh_action(Offer offer, const std::vector<std::string>& words) {
  switch (offer) {
    case Offer::words: return fmt::format("value:({})", between_blanks(words));
    case Offer::models: return "model: _ridgeline_models";
    case Offer::python_files: return "script:_ridgeline_scripts";
    case Offer::runs: return "run: _ridgeline_runs";
    case Offer::runs_or_files: return "run or file: _ridgeline_runs_or_files";
    case Offer::parameters: return fmt::format("parameter:({})", key_words(parameter_keys(), ""));
    case Offer::settings: return "parameter:_ridgeline_setting";
    case Offer::stream: return "setting:_ridgeline_stream_setting";
    case Offer::files: return "file:_files";
    case Offer::nothing: break;
  }
  return {};
}

std::string zsh_option(const CLI::Option& option, const std::string& name, const Context& context) {
  const auto line = fmt::format("'*--{}[{}]", name, zsh_quoted(option.get_description()));
  if (value_of(option) == OptionValue::none) return line + "'";
  const auto action = zsh_action(offer_of(option, context), words_of(option, context));
  return fmt::format("{}{}{}'", line, value_of(option) == OptionValue::maybe ? "::" : ":",
                     action.empty() ? zsh_quoted(option.get_type_name()) + ": " : action);
}

std::string zsh_operand(const CLI::App& command, const Context& context) {
  const auto offer = operand_of(command, context);
  if (const auto nested = visible_commands(command); !nested.empty())
    return offer == Offer::models ? fmt::format("'*:model: _ridgeline_models {}'", between_blanks(names_of(nested)))
                                  : fmt::format("'*:command:({})'", between_blanks(names_of(nested)));
  const auto action = zsh_action(offer, operand_words(command, context));
  return action.empty() ? "'*: :()'" : fmt::format("'*:{}'", action);
}

std::string zsh_arguments(const CLI::App& command, const std::string& indent, const Context& context) {
  auto out = fmt::format("{}_arguments -s \\\n", indent);
  for (const auto* option : visible_options(command))
    for (const auto& name : option->get_lnames())
      out += fmt::format("{}  {} \\\n", indent, zsh_option(*option, name, context));
  return out + fmt::format("{}  {}\n", indent, zsh_operand(command, context));
}

/// A function for "KEY=VALUE".
std::string zsh_keys(std::string_view function, const std::vector<CompletedKey>& keys) {
  return fmt::format(
      "{}() {{\n  if ! compset -P 1 '*='; then\n    compadd -S '' -- {}\n    return\n  fi\n"
      "  case ${{IPREFIX%=}} in\n{}  esac\n}}\n",
      function, key_words(keys, "="), value_cases(keys, "    ", "compadd -- ", ""));
}

}  // namespace

std::string zsh_completion(const CLI::App& app, const Context& context) {
  std::string out = "#compdef ridgeline\n# zsh completion for ridgeline; made by: ridgeline completion zsh\n";
  out.append(kZshHead);
  out += zsh_keys("_ridgeline_setting", parameter_keys()) + zsh_keys("_ridgeline_stream_setting", stream_keys());
  out += "_ridgeline() {\n  local -a commands\n  commands=(\n";
  for (const auto* command : visible_commands(app))
    out += fmt::format("    '{}:{}'\n", command->get_name(), zsh_quoted(command->get_description()));
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
