// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/subcommand.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "ridgeline/exit_code_text.hpp"
#include "ridgeline/options_file.hpp"
#include "ridgeline/output_clash.hpp"
#include "ridgeline/words.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::app {

std::filesystem::path Context::database_path() const {
  return database.empty() ? base::state_folder() / "ridgeline.db" : std::filesystem::path(database);
}

base::Result<store::Store> Context::open_store(store::Access access) const {
  return store::Store::open(database_path(), {.access = access, .read_text = &read_text});
}

base::Result<store::Store> Context::open_existing_store() const {
  std::error_code ignored;
  if (!std::filesystem::exists(database_path(), ignored))
    return base::fail(base::ErrorCode::not_found, "results file {}: no such file", database_path().string())
        .hint("give the file that has the run with --db FILE");
  return open_store(store::Access::read);
}

namespace {

/// Of the list of commands.
std::string group_of(std::string_view command) {
  static const std::map<std::string_view, std::string> kGroups{
      {"tune", "Measure"},       {"bench", "Measure"},      {"sweep", "Measure"},    {"stream", "Measure"},
      {"profile", "Understand"}, {"compare", "Understand"}, {"rerun", "Understand"}, {"params", "Understand"},
      {"monitor", "Operate"},    {"watch", "Operate"},      {"doctor", "Operate"},   {"apply", "Operate"},
      {"rollback", "Operate"},   {"show", "Runs"},          {"history", "Runs"},     {"report", "Runs"},
      {"version", "About"},      {"completion", "About"}};
  const auto found = kGroups.find(command);
  return found == kGroups.end() ? "Commands" : found->second;
}

}  // namespace

CLI::App* add_subcommand(CLI::App& app, Context& context, const std::string& name, const std::string& description,
                         const std::string& example, std::function<base::Result<int>()> body) {
  auto* command = app.add_subcommand(name, description);
  command->group(app.get_parent() == nullptr ? group_of(name) : "Commands");
  command->set_help_flag("-h,--help,--help-all", "Print this help; -h: briefly, --help-all: with seldom used options");
  if (!example.empty()) command->footer("Example:\n" + example + exit_codes_of(command_name(*command)));
  command->callback([command, &context, body = std::move(body)] {
    if (!context.options_file.empty())
      if (auto read = read_options_file(*command, context.options_file); !read) {
        context.error = std::move(read).error();
        if (context.error->hint.empty()) context.error->hint = context.hint;
        return;
      }
    auto result = check_outputs(*command, context.arguments).and_then(body);
    if (result)
      context.exit_code = *result;
    else
      context.error = std::move(result).error();
  });
  return command;
}

std::string command_name(const CLI::App& command) {
  const auto* parent = command.get_parent();
  if (parent == nullptr) return {};
  const auto outer = command_name(*parent);
  return outer.empty() ? command.get_name() : outer + " " + command.get_name();
}

void add_options_file(CLI::App& command, Context& context) {
  command
      .add_option("--options", context.options_file,
                  "YAML file with values for these options, for example max-time: 5m; flags take precedence")
      ->type_name("FILE");
}

void add_database_option(CLI::App& command, Context& context) {
  command.add_option("--db", context.database, "Results file (default: ridgeline.db in $XDG_STATE_HOME/ridgeline)")
      ->type_name("FILE");
}

void add_choice(CLI::App& command, Context& context, const std::string& name, std::string& value,
                const std::vector<std::string>& words, const std::string& description) {
  std::string listed;
  for (const auto& word : words) listed += (listed.empty() ? "" : "|") + word;
  auto* option = command.add_option(name, value, description);
  context.choices[option] = words;
  if (!value.empty()) option->capture_default_str();
  option->type_name(listed)->check(CLI::Validator(
      [name, words, listed, &context](std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end()) return {};
        context.hint = schema::suggest(text, words);
        // CLI11 would put the option's name before the text of a ValidationError.
        throw CLI::ParseError(fmt::format("{}: unknown value \"{}\"; expected one of {}", name, text, listed),
                              CLI::ExitCodes::ValidationError);
      },
      std::string{}, "choice"));
}

}  // namespace ridgeline::app
