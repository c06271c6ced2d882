// SPDX-License-Identifier: Apache-2.0
#include "config/space_file.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "config/one_line.hpp"
#include "config/setting_text.hpp"
#include "config/yaml_tree.hpp"
#include "schema/catalog.hpp"
#include "schema/objective.hpp"
#include "schema/suggestion.hpp"
#include "search/constraint_expression.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

class SpaceReader {
 public:
  SpaceReader(const YamlTree& tree, std::string_view file_name) : tree_(tree), file_(file_name) {}

  Result<SpaceFile> read() {
    if (tree_.documents.empty() || is_null(tree_.at(tree_.documents.front().root))) return SpaceFile{};
    if (tree_.documents.size() > 1)
      return fail(ErrorCode::invalid_argument, "{}: {} YAML documents: expected one", file_, tree_.documents.size());
    const int root = tree_.resolved(tree_.documents.front().root);
    RL_TRY(expect(root, YamlKind::mapping, "the space file",
                  "a mapping with parameters, fixed, exclude, constraints ..."));
    for (std::size_t i = 0; i < tree_.at(root).children.size(); i += 2) {
      const int key = tree_.at(root).children[i];
      const int value = tree_.resolved(tree_.at(root).children[i + 1]);
      RL_TRY(read_section(key, value));
    }
    RL_TRY(check_overlaps());
    return std::move(space_);
  }

 private:
  template <typename... Args>
  base::Fault bad(int node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(ErrorCode::invalid_argument, "{}:{}:{}: {}", file_, tree_.at(node).line, tree_.at(node).column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> expect(int node, YamlKind kind, std::string_view what, std::string_view expected) const {
    if (tree_.at(node).kind == kind) return {};
    return bad(node, "{} is not what it should be: expected {}", what, expected);
  }

  Result<void> read_section(int key, int value) {
    const auto& name = tree_.at(key).value;
    if (name == "only_listed") return read_flag(value);
    const std::vector<std::string> names{"parameters", "fixed", "exclude", "constraints", "only_listed", "mapping"};
    if (std::find(names.begin(), names.end(), name) == names.end())
      return bad(key,
                 "unknown section \"{}\"; expected parameters, fixed, exclude, constraints, only_listed or mapping",
                 name)
          .hint("{}", schema::suggest(name, names));
    if (is_null(tree_.at(value))) return {};
    if (name == "exclude" || name == "constraints") return read_list(name, value);
    RL_TRY(expect(value, YamlKind::mapping, name, "a mapping of parameter keys"));
    const auto& children = tree_.at(value).children;
    for (std::size_t i = 0; i < children.size(); i += 2)
      RL_TRY(read_pair(name, children[i], tree_.resolved(children[i + 1])));
    return {};
  }

  Result<void> read_flag(int value) {
    const auto& text = tree_.at(value).value;
    if (tree_.at(value).kind != YamlKind::scalar || (text != "true" && text != "false"))
      return bad(value, "only_listed={} is not legal: expected true or false", text);
    space_.request.only_listed = text == "true";
    return {};
  }

  Result<const schema::ParamDef*> param(int node) const {
    if (tree_.at(node).kind != YamlKind::scalar)
      return bad(node, "expected a parameter's key; `ridgeline params` lists them");
    auto found = schema::require_param(tree_.at(node).value);
    if (!found) return bad(node, "{}", found.error().message).hint("{}", found.error().hint);
    return found;
  }

  Result<schema::Value> value_of(const schema::ParamDef& def, int node) const {
    RL_TRY_ASSIGN(auto value, read_setting(def, tree_, node, file_));
    if (!value) return bad(node, "{} has no value: expected one, or leave the key out for the default", def.key);
    return std::move(*value);
  }

  Result<void> read_pair(const std::string& section, int key, int value) {
    RL_TRY_ASSIGN(const auto* def, param(key));
    if (section == "mapping") {
      RL_TRY(expect(value, YamlKind::scalar, "mapping of " + def->key,
                    "a path in the config file, such as runtime.threads"));
      if (tree_.at(value).value.empty())
        return bad(value, "mapping of {} is empty: expected a path, such as a.b", def->key);
      space_.mapping[def->key] = tree_.at(value).value;
    } else if (section == "fixed") {
      RL_TRY_ASSIGN(auto fixed, value_of(*def, value));
      space_.request.fixed.set(def->key, std::move(fixed));
    } else {
      schema::Dimension dimension{def->key, {}};
      // `key: 4` is short for `key: [4]`.
      std::vector<int> items{value};
      if (tree_.at(value).kind == YamlKind::sequence) items = tree_.at(value).children;
      if (items.empty())
        return bad(value, "{} has an empty list", def->key).hint("give it values, or name it under exclude");
      for (const int item : items) {
        RL_TRY_ASSIGN(auto candidate, value_of(*def, tree_.resolved(item)));
        if (std::find(dimension.values.begin(), dimension.values.end(), candidate) != dimension.values.end())
          return bad(item, "{}={} is listed twice", def->key, candidate.to_text()).hint("drop one");
        dimension.values.push_back(std::move(candidate));
      }
      space_.request.values.push_back(std::move(dimension));
    }
    return {};
  }

  Result<void> read_list(const std::string& section, int value) {
    RL_TRY(expect(value, YamlKind::sequence, section, "a list, each item on its own line behind \"- \""));
    for (const int written : tree_.at(value).children) {
      const int item = tree_.resolved(written);
      if (section == "exclude") {
        RL_TRY_ASSIGN(const auto* def, param(item));
        space_.request.exclude.push_back(def->key);
        continue;
      }
      RL_TRY(expect(item, YamlKind::scalar, "a constraint",
                    "text such as \"intra_op_num_threads * parallel_sessions <= 8\""));
      const auto& text = tree_.at(item).value;
      if (const auto parsed = search::ConstraintExpression::parse(text); !parsed) {
        if (schema::parse_constraint(text))
          return bad(item, "\"{}\" bounds what is measured, not a setting", text)
              .hint("give it as --constraint '{}'", text);
        return bad(item, "{}", parsed.error().message).hint("{}", parsed.error().hint);
      }
      space_.request.constraints.push_back(text);
    }
    return {};
  }

  Result<void> check_overlaps() const {
    const auto& request = space_.request;
    for (const auto& dimension : request.values) {
      const bool excluded =
          std::find(request.exclude.begin(), request.exclude.end(), dimension.key) != request.exclude.end();
      if (request.fixed.contains(dimension.key) || excluded)
        return fail(ErrorCode::invalid_argument, "{}: {} is under parameters and under {}", file_, dimension.key,
                    excluded ? "exclude" : "fixed")
            .hint("keep one of the two");
    }
    return {};
  }

  const YamlTree& tree_;
  std::string_view file_;
  SpaceFile space_;
};

}  // namespace

Result<SpaceFile> parse_space_file(std::string_view yaml, std::string_view file_name) {
  const auto tree = parse_yaml(yaml, file_name);
  if (!tree) return tl::unexpected(one_line(tree.error()));
  return SpaceReader(*tree, file_name).read().map_error(one_line);
}

}  // namespace ridgeline::config
