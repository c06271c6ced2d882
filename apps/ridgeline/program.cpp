// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ridgeline/commit.hpp"
#include "ridgeline/exit_code_text.hpp"
#include "ridgeline/help_text.hpp"
#include "ridgeline/overview.hpp"
#include "ridgeline/parse_mistake.hpp"
#include "ridgeline/renamed_options.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"

namespace ridgeline::app {
namespace {

bool error_told = false;
int ending_signal = 0;  // Context::ending_signal
int program_code = 0;   // of the program that ran for the user; 0 also if there was none

void print_error(const base::Error& error) {
  error_told = true;
  std::fflush(stdout);  // both may be one stream, and the answer comes first
  const auto terminal = inspect_terminal(stderr);
  // Unlike fmt::print this never throws: standard error may be full as well.
  const auto line = [&](std::string_view label, Style style, const std::string& words) {
    const int indent = static_cast<int>(label.size()) + 1;
    return fmt::format("{} {}\n", styled(label, style, terminal.colour),
                       terminal.interactive ? wrapped(words, terminal.width - indent, indent) : words);
  };
  auto text = line("error:", Style::bad, error.message);
  if (!error.hint.empty()) text += line("hint:", Style::accent, error.hint);
  static_cast<void>(std::fputs(text.c_str(), stderr));
}

/// How many of the words are ours: behind "--" these commands have another program's, which they find in
/// Context::program and which the parser must not look at.
std::size_t own_words(const std::vector<std::string>& words, const CLI::App& cli) {
  if (words.size() < 2) return words.size();
  if (words[1] == "sweep" || words[1] == "bench" || words[1] == "supervise")
    return static_cast<std::size_t>(std::find(words.begin() + 2, words.end(), "--") - words.begin());
  if (words[1] != "profile") return words.size();
  // Its own commands run no program: behind "--" they have file names.
  const auto* profile = cli.get_subcommand("profile");
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "--") return i;
    const auto is_called = [&](const CLI::App* command) { return command->get_name() == words[i]; };
    if (!profile->get_subcommands(is_called).empty()) break;
    if (takes_next_word(*profile, words[i])) ++i;
  }
  return words.size();
}

/// A flag takes no value, except one that names its type. An option or argument given as the empty text, as an unset
/// variable of a shell gives it, is a mistake: read as "not given" it would let --db '' write to the results file of
/// every day.
std::string value_mistake(const CLI::App& cli, int argc, char** argv) {
  const CLI::App* command = &cli;
  int at = 1;
  for (; at < argc; ++at) {
    const auto found = command->get_subcommands([&](const CLI::App* nested) { return nested->get_name() == argv[at]; });
    if (found.empty()) break;
    command = found.front();
  }
  for (int i = at; i < argc; ++i) {
    std::string_view name(argv[i]);
    if (name == "--") break;
    if (name.empty()) return fmt::format("{}: argument {} is empty; expected a name", command->get_name(), i - at + 1);
    if (const auto equals = name.find('='); equals != std::string_view::npos && name.rfind("--", 0) == 0) {
      const auto* flag = command->get_option_no_throw(std::string(name.substr(0, equals)));
      if (flag != nullptr && flag->get_items_expected_max() == 0 && flag->get_type_name().empty())
        return fmt::format("{}: {} takes no value", name, name.substr(0, equals));
    }
    const bool attached = name.size() > 3 && name.rfind("--", 0) == 0 && name.find('=') == name.size() - 1;
    if (attached) name.remove_suffix(1);
    const bool followed = i + 1 < argc && argv[i + 1][0] == '\0';
    if (!attached && !followed) continue;
    const auto* option = command->get_option_no_throw(std::string(name));
    if (option == nullptr || option->get_positional() || option->get_items_expected_max() == 0) continue;
    return fmt::format("{} '': the value is empty; expected {}{}", name, option->get_type_name(),
                       option->get_required() ? "" : fmt::format(", or leave {} out", name));
  }
  return {};
}

}  // namespace

void add_commands(CLI::App& cli, Context& context) {
  cli.footer(std::string("Examples:\n"
                         "  ridgeline tune model.onnx\n"
                         "  ridgeline tune model.onnx --config config.yaml --report report.md\n"
                         "  ridgeline tune model.onnx --objective throughput --constraint 'latency_p99_ms<=20'\n") +
             "\n`ridgeline COMMAND --help` (or `ridgeline help COMMAND`) shows a command's options and an example.\n" +
             exit_code_table());
  cli.require_subcommand(1);
  cli.set_version_flag("--version", "ridgeline " + version_text());
  add_tune(cli, context);
  add_bench(cli, context);
  add_sweep(cli, context);
  add_profile(cli, context);
  add_stream(cli, context);
  add_monitor(cli, context);
  add_watch(cli, context);
  add_show(cli, context);
  add_history(cli, context);
  add_report(cli, context);
  add_compare(cli, context);
  add_rerun(cli, context);
  add_apply(cli, context);
  add_rollback(cli, context);
  add_doctor(cli, context);
  add_params(cli, context);
  add_version(cli, context);
  add_completion(cli, context);
  add_complete_runs(cli, context);
  add_worker(cli, context);
  add_supervise(cli, context);
  add_train_worker(cli, context);
}

namespace {

/// Of the command that the words name.
void print_help(const CLI::App& cli, const Context& context, const std::vector<std::string>& words) {
  const CLI::App* command = &cli;
  auto level = HelpLevel::usual;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto found = command->get_subcommands([&](const CLI::App* one) { return one->get_name() == words[i]; });
    if (!found.empty()) command = found.front();
    if (words[i] == "-h" || words[i] == "--help" || words[i] == "--help-all") {
      level = help_level(words[i]);
      break;
    }
  }
  fmt::print("{}", help_text(*command, context, level, inspect_terminal(stdout).width));
}

int run_words(std::vector<std::string> words) {
  if (const auto language = check_language(); !language) {
    print_error(language.error());
    return kBadInput;
  }
  Context context;
  CLI::App cli{"Ridgeline finds the fastest settings of a deep-learning workload on this machine and proves them.",
               "ridgeline"};
  add_commands(cli, context);
  rename_options(words, own_words(words, cli), cli);
  context.arguments = words;
  context.arguments.front() = "ridgeline";  // the program's own path says nothing on another machine
  auto own = with_help_words(std::move(words), cli);
  if (!own) {
    print_error(own.error());
    return kBadInput;
  }
  words = *std::move(own);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  const int argc = static_cast<int>(pointers.size());
  const auto own_count = own_words(words, cli);
  if (own_count < words.size())
    context.program.emplace(words.begin() + static_cast<std::ptrdiff_t>(own_count) + 1, words.end());
  char** argv = pointers.data();
  if (argc <= 1) {
    fmt::print("{}", overview_text(cli, context, inspect_terminal(stdout).width));
    return kOk;
  }
  if (const auto mistake = value_mistake(cli, argc, argv); !mistake.empty()) {
    print_error({base::ErrorCode::invalid_argument, mistake});
    return kBadInput;
  }
  try {
    cli.parse(static_cast<int>(own_count), argv);
  } catch (const CLI::CallForHelp&) {
    print_help(cli, context, words);
    return kOk;
  } catch (const CLI::Success& success) {  // --version
    return cli.exit(success);
  } catch (const CLI::ParseError& error) {
    print_error(parse_mistake(error, cli, words, context.hint));
    return kBadInput;
  }
  ending_signal = context.ending_signal;
  program_code = context.code_of_error.value_or(0);
  if (context.error) {
    print_error(*context.error);
    return context.code_of_error.value_or(base::exit_code_of(context.error->code));
  }
  return context.exit_code;
}

}  // namespace

int run_program(int argc, char** argv) {
  int code = kInternal;
  try {
    code = run_words({argv, argv + argc});
  } catch (const std::exception& error) {
    // What did not fit on standard output, or on standard error, is no fault of ours.
    if (std::ferror(stderr) != 0) return kBadInput;
    if (std::ferror(stdout) == 0)
      print_error({base::ErrorCode::internal, fmt::format("unexpected: {}", error.what()),
                   "please report this with the command line"});
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    if (!error_told) print_error({base::ErrorCode::io, "cannot write to standard output", "is the disk full?"});
    code = program_code != 0 ? program_code : static_cast<int>(kBadInput);
  }
  if (ending_signal != 0) {
    std::fflush(stderr);
    std::signal(ending_signal, SIG_DFL);
    std::raise(ending_signal);
  }
  return code;
}

}  // namespace ridgeline::app
