// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/completion_offer.hpp"
#include "ridgeline/completion_script.hpp"

namespace ridgeline::app {
namespace {

// Bash makes "=" and ":" words of their own, unless they were taken out of COMP_WORDBREAKS: "--set key=v" ends as key
// and current, "latest:tune" as colon and current.
constexpr std::string_view kBashHead = R"sh(_ridgeline_runs() {
  local word last="" db=()
  for word in "${COMP_WORDS[@]}"; do
    [ "$word" = "=" ] && continue
    [ "$last" = "--db" ] && db=(--db "${word/#\~\//$HOME/}")
    case "$word" in --db=?*) db=(--db "${word#--db=}") ;; esac
    last="$word"
  done
  ridgeline complete-runs "${db[@]}" 2>/dev/null | cut -f 1
}
_ridgeline_offer() { COMPREPLY+=($(compgen -P "$prefix" -W "$1" -- "$colon$current")); }
_ridgeline_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  if [ "$#" -eq 0 ]; then COMPREPLY+=($(compgen -P "$prefix" -f -- "$colon$current")); return; fi
  COMPREPLY+=($(compgen -P "$prefix" -d -- "$colon$current"))
  local ending
  for ending in "$@"; do COMPREPLY+=($(compgen -P "$prefix" -f -X "!*$ending" -- "$colon$current")); done
}
_ridgeline() {
  local at=$((COMP_CWORD - 1)) current="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}" key="" prefix="" colon=""
  local IFS=$' \t\n'
  COMPREPLY=()
  _ridgeline_find
  [ -n "$colon" ] && COMPREPLY=("${COMPREPLY[@]#"$colon"}")
}
_ridgeline_find() {
  if [ "$current" = ":" ]; then
    colon="${COMP_WORDS[at]}:" current="" at=$((at - 1))
  elif [ "${COMP_WORDS[at]}" = ":" ]; then
    colon="${COMP_WORDS[at-1]}:" at=$((at - 2))
  elif [ "$current" = "=" ]; then
    current="" key="${COMP_WORDS[at]}" at=$((at - 1))
  elif [ "${COMP_WORDS[at]}" = "=" ]; then
    key="${COMP_WORDS[at-1]}" at=$((at - 2))
  elif [[ "$current" == *=* ]]; then
    key="${current%%=*}" prefix="${current%%=*}=" current="${current#*=}"
  fi
  [ "${COMP_WORDS[at]}" = "=" ] && at=$((at - 1))
  local previous="${COMP_WORDS[at]}"
  case "$key" in --*) previous="$key" key="" ;; esac
)sh";

std::string bash_offer(Offer offer, const std::vector<std::string>& words) {
  switch (offer) {
    case Offer::words: return fmt::format("_ridgeline_offer \"{}\"", between_blanks(words));
    case Offer::models: return "_ridgeline_files .onnx .ort";
    case Offer::python_files: return "_ridgeline_files .py";
    case Offer::runs: return "_ridgeline_offer \"$(_ridgeline_runs)\"";
    case Offer::runs_or_files: return "_ridgeline_offer \"$(_ridgeline_runs)\"; _ridgeline_files";
    case Offer::parameters: return fmt::format("_ridgeline_offer \"{}\"", key_words(parameter_keys(), ""));
    case Offer::files: return "_ridgeline_files";
    case Offer::settings:
    case Offer::stream:
    case Offer::nothing: break;
  }
  return ":";
}

/// "KEY=" first, then the values of the key.
std::string bash_keys(std::string_view option, const std::vector<CompletedKey>& keys) {
  return fmt::format(
      "    *\" {}\")\n      case \"$key\" in\n        \"\") compopt -o nospace 2>/dev/null; _ridgeline_offer \"{}\" "
      ";;\n{}"
      "      esac\n      return ;;\n",
      option, key_words(keys, "="), value_cases(keys, "        ", "_ridgeline_offer \"", "\""));
}

}  // namespace

std::string bash_completion(const CLI::App& app, const Context& context) {
  const auto commands = all_commands(app);
  std::string out = "# bash completion for ridgeline; made by: ridgeline completion bash\n";
  out.append(kBashHead);
  out += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    _ridgeline_offer \"{} --help --version\"\n    return\n  fi\n",
      between_blanks(names_of(visible_commands(app))));
  for (const auto& [words, command] : commands)
    if (words.find(' ') != std::string::npos)
      out += fmt::format(
          "  [ \"$COMP_CWORD\" -gt 2 ] && [ \"$command ${{COMP_WORDS[2]}}\" = \"{0}\" ] && command=\"{0}\"\n", words);
  out += "  case \"$command $previous\" in\n";
  for (const auto& [called, command] : commands)
    for (const auto* option : visible_options(*command)) {
      const auto offer = offer_of(*option, context);
      if (value_of(*option) != OptionValue::one || offer == Offer::settings || offer == Offer::stream) continue;
      for (const auto& name : option->get_lnames())
        out += fmt::format("    \"{} --{}\") {}; return ;;\n", called, name,
                           bash_offer(offer, words_of(*option, context)));
    }
  out += bash_keys("--set", parameter_keys()) + bash_keys("--stream", stream_keys());
  out += "  esac\n  case \"$command\" in\n";
  for (const auto& [called, command] : commands) {
    const auto nested = between_blanks(names_of(visible_commands(*command)));
    const auto options = fmt::format("_ridgeline_offer \"{}\"", between_blanks(long_options(*command)));
    const auto operand = operand_of(*command, context);
    // A command without arguments has nothing but options to offer.
    const auto argument =
        operand == Offer::nothing && nested.empty() ? options : bash_offer(operand, operand_words(*command, context));
    out +=
        fmt::format("    \"{}\")\n      case \"$current\" in\n        -*) {} ;;\n        *){} {} ;;\n      esac ;;\n",
                    called, options, nested.empty() ? "" : fmt::format(" _ridgeline_offer \"{}\";", nested), argument);
  }
  out +=
      "  esac\n"
      "}\n"
      "complete -F _ridgeline ridgeline\n";
  return out;
}

}  // namespace ridgeline::app
