// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ridgeline/subcommand.hpp"

namespace ridgeline::app {

/// What a shell offers for a value or an argument.
enum class Offer { nothing, words, files, models, python_files, runs, runs_or_files, parameters, settings, stream };

/// A command by the words that call it: "stream run".
struct CalledCommand {
  std::string words;
  const CLI::App* command;
};

/// How often an option takes a value.
enum class OptionValue { none, maybe, one };

/// The commands that help lists; all of them, each with its own behind it.
[[nodiscard]] std::vector<const CLI::App*> visible_commands(const CLI::App& app);
[[nodiscard]] std::vector<CalledCommand> all_commands(const CLI::App& app);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands);

/// The options that help lists.
[[nodiscard]] std::vector<const CLI::Option*> visible_options(const CLI::App& command);
[[nodiscard]] std::vector<std::string> long_options(const CLI::App& command);
[[nodiscard]] OptionValue value_of(const CLI::Option& option);

/// For an option's value, and for what a command takes besides options.
[[nodiscard]] Offer offer_of(const CLI::Option& option, const Context& context);
[[nodiscard]] Offer operand_of(const CLI::App& command, const Context& context);
/// The words of Offer::words.
[[nodiscard]] std::vector<std::string> words_of(const CLI::Option& option, const Context& context);
[[nodiscard]] std::vector<std::string> operand_words(const CLI::App& command, const Context& context);

/// A key of --set or --stream with its values, which may be unknown.
struct CompletedKey {
  std::string key;
  std::vector<std::string> values;
};
[[nodiscard]] std::vector<CompletedKey> parameter_keys();
[[nodiscard]] std::vector<CompletedKey> stream_keys();
/// The keys, each followed by `end`, between blanks.
[[nodiscard]] std::string key_words(const std::vector<CompletedKey>& keys, const std::string& end);
/// "    KEY) BEFORE values AFTER ;;" for each key whose values are known: a case of a shell.
[[nodiscard]] std::string value_cases(const std::vector<CompletedKey>& keys, const std::string& indent,
                                      const std::string& before, const std::string& after);

/// The words between blanks.
[[nodiscard]] std::string between_blanks(const std::vector<std::string>& words);

}  // namespace ridgeline::app
