// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/completion_offer.hpp"
#include "ridgeline/completion_script.hpp"

namespace ridgeline::app {
namespace {

constexpr std::string_view kFishHead = R"sh(function __ridgeline_runs
    set -l db
    set -l last
    for word in (commandline -opc)
        if test "$last" = --db
            set db --db (string replace -r '^~/' "$HOME/" -- $word)
        else if string match -q -- '--db=?*' $word
            set db --db (string replace -- --db= '' $word)
        end
        set last $word
    end
    ridgeline complete-runs $db 2>/dev/null
end
function __ridgeline_at
    set -l words (commandline -opc)
    set -l called "$words[2]"
    if contains -- "$words[2] $words[3]" $__ridgeline_nested
        set called "$words[2] $words[3]"
    end
    test "$called" = "$argv"
end
function __ridgeline_words
    test (count (commandline -opc)) -eq $argv[1]
end
)sh";

/// Text in single quotes.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

/// What `complete` is given for a value or an argument.
std::string fish_offer(Offer offer, const std::vector<std::string>& words) {
  switch (offer) {
    case Offer::words: return fmt::format("-a {}", fish_quoted(between_blanks(words)));
    case Offer::models: return "-k -a '(__fish_complete_suffix .onnx)'";
    case Offer::python_files: return "-k -a '(__fish_complete_suffix .py)'";
    case Offer::runs: return "-k -a '(__ridgeline_runs)'";
    case Offer::runs_or_files: return "-F -k -a '(__ridgeline_runs)'";
    case Offer::parameters: return fmt::format("-a {}", fish_quoted(key_words(parameter_keys(), "")));
    case Offer::settings: return "-a '(__ridgeline_setting)'";
    case Offer::stream: return "-a '(__ridgeline_stream_setting)'";
    case Offer::files: return "-F";
    case Offer::nothing: break;
  }
  return {};
}

std::string fish_option(const std::string& called, const CLI::Option& option, const std::string& name,
                        const Context& context) {
  auto line = fmt::format("complete -c ridgeline -n '__ridgeline_at {}' -l {} -d {}", called, name,
                          fish_quoted(option.get_description()));
  for (const auto& letter : option.get_snames()) line += " -s " + letter;
  if (value_of(option) == OptionValue::one)
    line += " -r " + fish_offer(offer_of(option, context), words_of(option, context));
  return line + "\n";
}

/// A function for "KEY=VALUE".
std::string fish_keys(std::string_view function, const std::vector<CompletedKey>& keys) {
  auto out =
      fmt::format("function {}\n    switch (commandline -ct | string replace -r -- '^--[a-z]+=' '')\n", function);
  for (const auto& [key, values] : keys) {
    if (values.empty()) continue;
    out += fmt::format("        case '{}=*'\n            printf '{}=%s\\n' {}\n", key, key, between_blanks(values));
  }
  return out + fmt::format("        case '*'\n            printf '%s\\n' {}\n    end\nend\n", key_words(keys, "="));
}

}  // namespace

std::string fish_completion(const CLI::App& app, const Context& context) {
  std::string out = "# fish completion for ridgeline; made by: ridgeline completion fish\n";
  out.append(kFishHead);
  out += fish_keys("__ridgeline_setting", parameter_keys()) + fish_keys("__ridgeline_stream_setting", stream_keys());
  std::string nested;
  std::string lines = "complete -c ridgeline -f\n";
  for (const auto& [called, command] : all_commands(app)) {
    const bool is_nested = called.find(' ') != std::string::npos;
    if (is_nested) nested += " " + fish_quoted(called);
    const auto condition =
        is_nested ? fmt::format("__ridgeline_at {}; and __ridgeline_words 2", called.substr(0, called.find(' ')))
                  : std::string("__ridgeline_words 1");
    lines += fmt::format("complete -c ridgeline -n '{}' -a {} -d {}\n", condition, command->get_name(),
                         fish_quoted(command->get_description()));
    for (const auto* option : visible_options(*command))
      for (const auto& name : option->get_lnames()) lines += fish_option(called, *option, name, context);
    if (const auto offer = fish_offer(operand_of(*command, context), operand_words(*command, context)); !offer.empty())
      lines += fmt::format("complete -c ridgeline -n '__ridgeline_at {}' {}\n", called, offer);
  }
  return out + fmt::format("set -g __ridgeline_nested{}\n", nested) + lines;
}

}  // namespace ridgeline::app
