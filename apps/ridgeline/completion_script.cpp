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

std::vector<std::string> long_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const auto* option : command.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_run(const CLI::App& command) {
  const auto options = command.get_options();
  return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
    const auto name = option->get_name(true);
    return name.rfind("RUN", 0) == 0 || name == "TRIAL";
  });
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string parameter_words() {
  std::vector<std::string> words;
  for (const auto& param : schema::catalog()) words.push_back(param.key + "=");
  return joined(words);
}

}  // namespace

std::string bash_completion(const CLI::App& app, const Context& context) {
  std::vector<std::string> names;
  for (const auto* command : visible_commands(app)) names.push_back(command->get_name());
  std::string out =
      "# bash completion for ridgeline; made by: ridgeline completion bash\n"
      "_ridgeline() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" "
      "command=\"${COMP_WORDS[1]}\" words=\"\"\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format("    COMPREPLY=($(compgen -W \"{} --help --version\" -- \"$current\"))\n    return\n  fi\n",
                     joined(names));
  out += "  case \"$previous\" in\n";
  for (const auto& [option, words] : context.choices)
    out += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n", option, joined(words));
  out += fmt::format("    --set) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); compopt -o nospace; return ;;\n",
                     parameter_words());
  out += "  esac\n  case \"$command\" in\n";
  for (const auto* command : visible_commands(app)) {
    const std::string runs = takes_run(*command) ? " latest $(ridgeline history --ids 2>/dev/null)" : "";
    const std::string extra = command->get_name() == "completion" ? " bash zsh" : "";
    out +=
        fmt::format("    {}) words=\"{}{}{}\" ;;\n", command->get_name(), joined(long_options(*command)), extra, runs);
  }
  out +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  case \"$current\" in -*) ;; *) COMPREPLY+=($(compgen -f -- \"$current\")); compopt -o filenames 2>/dev/null "
      ";; esac\n"
      "}\n"
      "complete -F _ridgeline ridgeline\n";
  return out;
}

std::string zsh_completion(const CLI::App& app, const Context& context) {
  const auto quoted = [](std::string text) {
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
  };
  std::string out =
      "#compdef ridgeline\n# zsh completion for ridgeline; made by: ridgeline completion zsh\n"
      "_ridgeline() {\n  local -a commands\n  commands=(\n";
  for (const auto* command : visible_commands(app))
    out += fmt::format("    '{}:{}'\n", command->get_name(), quoted(command->get_description()));
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n  case $words[2] in\n";
  for (const auto* command : visible_commands(app)) {
    out += fmt::format("    {})\n      _arguments -s \\\n", command->get_name());
    for (const auto* option : command->get_options()) {
      for (const auto& name : option->get_lnames()) {
        std::string line = fmt::format("'*--{}[{}]", name, quoted(option->get_description()));
        if (option->get_type_size_max() != 0) {
          const auto words = context.choices.find("--" + name);
          line += words != context.choices.end() ? fmt::format(":value:({})", joined(words->second))
                  : name == "set"                ? fmt::format(":parameter:({})", parameter_words())
                                                 : std::string(":value:_files");
        }
        out += "        " + line + "' \\\n";
      }
    }
    out += takes_run(*command) ? "        '*:run:(latest ${(f)\"$(ridgeline history --ids 2>/dev/null)\"})'\n"
           : command->get_name() == "completion" ? "        '*:shell:(bash zsh)'\n"
                                                 : "        '*:file:_files'\n";
    out += "      ;;\n";
  }
  out += "  esac\n}\n_ridgeline \"$@\"\n";
  return out;
}

}  // namespace ridgeline::app
