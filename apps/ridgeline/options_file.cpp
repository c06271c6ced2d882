// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/options_file.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "config/yaml_tree.hpp"
#include "ridgeline/renamed_options.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using config::YamlKind;

/// Asked for on the command line or not at all.
constexpr std::array<std::string_view, 6> kCommandLineOnly{"help", "options", "apply", "yes", "dry-run", "show"};

class OptionsReader {
 public:
  OptionsReader(CLI::App& command, const config::YamlTree& tree, const std::string& file)
      : command_(command), tree_(tree), file_(file) {}

  Result<void> read() {
    if (tree_.documents.empty() || config::is_null(tree_.at(tree_.documents.front().root))) return {};
    const int root = tree_.resolved(tree_.documents.front().root);
    if (tree_.at(root).kind != YamlKind::mapping) return bad(root, "expected lines \"option: value\"");
    const auto& children = tree_.at(root).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) RL_TRY(read_option(children[i], children[i + 1]));
    return {};
  }

 private:
  template <typename... Args>
  base::Fault bad(int node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(ErrorCode::invalid_argument, "{}:{}:{}: {}", file_, tree_.at(node).line, tree_.at(node).column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> read_option(int key, int value_node) {
    auto name = tree_.at(key).value;
    std::replace(name.begin(), name.end(), '_', '-');
    if (std::find(kCommandLineOnly.begin(), kCommandLineOnly.end(), name) != kCommandLineOnly.end())
      return bad(key, "{} is not read from a file", name).hint("give --{} on the command line", name);
    name = present_option(command_name(command_), "--" + name).substr(2);
    auto* option = command_.get_option_no_throw("--" + name);
    if (option == nullptr) {
      std::vector<std::string> names;
      for (const auto* one : command_.get_options([](const auto* any) { return !any->get_group().empty(); }))
        for (const auto& known : one->get_lnames()) names.push_back(known);
      return bad(key, "ridgeline {} has no option --{}", command_.get_name(), name)
          .hint("{}", schema::suggest(name, names));
    }
    if (option->count() > 0) return {};
    RL_TRY_ASSIGN(const auto words, words_of(key, name, tree_.resolved(value_node)));
    if (words.empty()) return {};
    return give(key, name, *option, words);
  }

  /// A scalar is one word, a list as many; null and an empty list are none.
  Result<std::vector<std::string>> words_of(int key, const std::string& name, int node) const {
    std::vector<int> items{node};
    if (tree_.at(node).kind == YamlKind::sequence) items = tree_.at(node).children;
    std::vector<std::string> words;
    for (const int item : items) {
      const auto& one = tree_.at(tree_.resolved(item));
      if (one.kind != YamlKind::scalar) return bad(key, "{}: expected a value or a list of values", name);
      if (!config::is_null(one)) words.push_back(one.value);
    }
    return words;
  }

  Result<void> give(int key, const std::string& name, CLI::Option& option, const std::vector<std::string>& words) {
    const bool is_switch = words.size() == 1 && (words[0] == "true" || words[0] == "false");
    try {
      if (option.get_items_expected_max() == 0 || (option.get_items_expected_min() == 0 && is_switch)) {
        if (!is_switch) return bad(key, "{} takes no value; expected true or false", name);
        if (words[0] == "false") return {};
        option.add_result(option.get_flag_value("--" + name, std::string()));
      } else if (option.get_items_expected_max() > 1) {
        for (const auto& word : words) option.add_result(word);
      } else {
        option.add_result(fmt::format("{}", fmt::join(words, ",")));
      }
      option.run_callback();
    } catch (const CLI::ParseError& error) {
      return bad(key, "{}", error.what());
    }
    return {};
  }

  CLI::App& command_;
  const config::YamlTree& tree_;
  const std::string& file_;
};

}  // namespace

Result<void> read_options_file(CLI::App& command, const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return fail(ErrorCode::not_found, "--options {}: no such file; expected a YAML file with lines \"option: value\"",
                file);
  RL_TRY_ASSIGN(const auto text, base::read_file(file));
  RL_TRY_ASSIGN(const auto tree, config::parse_yaml(text, file));
  return OptionsReader(command, tree, file).read();
}

}  // namespace ridgeline::app
