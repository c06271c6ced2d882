// SPDX-License-Identifier: Apache-2.0
#include "config/setting_finder.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "config/profile_section.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kMaxListed = 5;     ///< places spelled out in a message
constexpr std::size_t kMaxCompared = 64;  ///< places distinguished by who merges whom; more are ambiguous anyway
constexpr int kMaxMergeDepth = 16;        ///< a mapping may merge itself; nobody nests merges this deep

std::string_view without_document(std::string_view path) {
  const auto colon = path.find(':');
  return !path.empty() && path.front() == '#' && colon != std::string_view::npos ? path.substr(colon + 1) : path;
}

bool ends_with_path(std::string_view path, std::string_view tail) {
  if (path.size() < tail.size() || path.substr(path.size() - tail.size()) != tail) return false;
  return path.size() == tail.size() || path[path.size() - tail.size() - 1] == '.';
}

/// One step down a dotted path: the child that takes the longest piece of it. Keys may hold dots themselves.
struct Step {
  int child = -1;
  std::size_t used = 0;  ///< characters, the dot included
};

Step step_into(const YamlTree& tree, int index, std::string_view path) {
  const auto& node = tree.at(index);
  Step best;
  const auto consider = [&](std::string_view name, int child) {
    const bool whole = path == name;
    const bool prefix = path.size() > name.size() && path[name.size()] == '.' && path.substr(0, name.size()) == name;
    const auto used = name.size() + (whole ? 0 : 1);
    if ((whole || prefix) && !name.empty() && used > best.used) best = {child, used};
  };
  if (node.kind == YamlKind::mapping)
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2)
      if (tree.at(node.children[i]).kind == YamlKind::scalar)
        consider(tree.at(node.children[i]).value, node.children[i + 1]);
  if (node.kind == YamlKind::sequence)
    for (std::size_t i = 0; i < node.children.size(); ++i) consider(std::to_string(i), node.children[i]);
  return best;
}

/// The mappings that a mapping's "<<" brings in, nearest first.
std::vector<int> merged_mappings(const YamlTree& tree, int mapping) {
  std::vector<int> sources;
  const auto& node = tree.at(mapping);
  for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
    const auto& key = tree.at(node.children[i]);
    if (key.kind != YamlKind::scalar || key.value != "<<" || key.style != ScalarStyle::plain) continue;
    const int value = tree.resolved(node.children[i + 1]);
    const auto& source = tree.at(value);
    if (source.kind == YamlKind::mapping) sources.push_back(value);
    if (source.kind == YamlKind::sequence)
      for (const int item : source.children)
        if (tree.at(tree.resolved(item)).kind == YamlKind::mapping) sources.push_back(tree.resolved(item));
  }
  return sources;
}

/// What a loader that expands aliases and merge keys finds at the path, or -1.
int effective(const YamlTree& tree, int index, std::string_view path, int depth) {
  if (depth > kMaxMergeDepth) return -1;
  const int node = tree.resolved(index);
  if (path.empty()) return node;
  if (const auto step = step_into(tree, node, path); step.child >= 0)
    return effective(tree, step.child, path.substr(step.used), depth);
  if (tree.at(node).kind != YamlKind::mapping) return -1;
  for (const int source : merged_mappings(tree, node))
    if (const int found = effective(tree, source, path, depth + 1); found >= 0) return found;
  return -1;
}

bool is_execution(std::string_view key) {
  const auto* param = schema::find_param(key);
  return param != nullptr && param->scope == schema::ParamScope::execution;
}

/// The nearest ancestor (or the node itself) that aliases elsewhere stand for, or -1.
int shared_ancestor(const YamlTree& tree, int index) {
  for (int node = index; node >= 0; node = tree.at(node).parent)
    if (!tree.at(node).users.empty()) return node;
  return -1;
}

}  // namespace

SettingFinder::SettingFinder(const YamlTree& tree, std::string_view file_name, const PatchOptions& options)
    : tree_(tree), file_(file_name), options_(options) {
  if (options.section.rfind(std::string(kProfiles) + ".", 0) == 0) return;
  for (const auto& [name, mapping] : find_profiles(tree).profiles) profiles_.push_back(mapping);
}

std::vector<int> SettingFinder::named(std::string_view key) const {
  auto values = tree_.places_of(key);
  // A collection of that name is something else: settings are scalars.
  std::erase_if(values, [&](int value) {
    return tree_.at(tree_.resolved(value)).kind != YamlKind::scalar ||
           std::find(profiles_.begin(), profiles_.end(), tree_.at(value).parent) != profiles_.end();
  });
  return values;
}

bool SettingFinder::is_section(int node) const {
  const int parent = tree_.at(node).parent;
  if (parent < 0 || tree_.at(parent).kind != YamlKind::mapping) return false;
  const auto& children = tree_.at(parent).children;
  const auto at = std::find(children.begin(), children.end(), node) - children.begin();
  if (at % 2 == 0) return false;
  // Most nodes are distinguished by their own key, without spelling out their path.
  const auto& key = tree_.at(children[static_cast<std::size_t>(at - 1)]).value;
  const std::string_view section = options_.section;
  if (section.size() < key.size() || section.substr(section.size() - key.size()) != key) return false;
  return ends_with_path(without_document(tree_.path(node)), section);
}

bool SettingFinder::in_section(int value) const {
  for (int node = tree_.at(value).parent; node >= 0; node = tree_.at(node).parent)
    if (is_section(node)) return true;
  return false;
}

bool SettingFinder::has_siblings(int value) const {
  const auto& mapping = tree_.at(tree_.at(value).parent);
  for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2)
    if (mapping.children[i + 1] != value && schema::find_param(tree_.at(mapping.children[i]).value) != nullptr)
      return true;
  return false;
}

std::vector<int> SettingFinder::without_overridden(std::vector<int> places) const {
  std::vector<int> kept;
  for (const int place : places) {
    int overriders = 0;
    for (const int other : places) {
      const auto sources = merged_mappings(tree_, tree_.at(other).parent);
      overriders += std::find(sources.begin(), sources.end(), tree_.at(place).parent) != sources.end() ? 1 : 0;
    }
    if (overriders != 1) kept.push_back(place);
  }
  return kept;
}

tl::unexpected<base::Error> SettingFinder::ambiguous(const std::string& key, const std::vector<int>& places) const {
  std::string list;
  for (std::size_t i = 0; i < std::min(places.size(), kMaxListed); ++i)
    list += fmt::format("{}line {} ({})", list.empty() ? "" : ", ", tree_.at(places[i]).line, tree_.path(places[i]));
  if (places.size() > kMaxListed) list += " ...";
  return fail(ErrorCode::invalid_argument, "{}:{}:{}: {} is set in {} places, {}", file_, tree_.at(places[1]).line,
              tree_.at(places[1]).column, key, places.size(), list)
      .hint("choose with --config-section, or with mapping: {{{}: {}}} in the --space file", key,
            tree_.path(places[0]));
}

base::Result<std::optional<SettingPlace>> SettingFinder::find(const std::string& key) const {
  if (const auto mapped = options_.mapping.find(key); mapped != options_.mapping.end()) {
    RL_TRY_ASSIGN(auto place, follow(key, mapped->second));
    if (place.value < 0 && place.inherited < 0) return std::optional<SettingPlace>();
    return std::optional<SettingPlace>(std::move(place));
  }
  auto places = named(key);
  const auto narrow = [&](const auto& keep) {
    std::vector<int> fewer;
    std::copy_if(places.begin(), places.end(), std::back_inserter(fewer), keep);
    if (!fewer.empty()) places = std::move(fewer);
  };
  if (places.size() > 1) narrow([&](int value) { return in_section(value); });
  if (places.size() > 1 && places.size() <= kMaxCompared) places = without_overridden(std::move(places));
  if (places.size() > 1) narrow([&](int value) { return has_siblings(value); });
  if (places.size() > 1) return ambiguous(key, places);
  if (places.empty()) return std::optional<SettingPlace>();
  SettingPlace place;
  place.value = places.front();
  place.name = key;
  return std::optional<SettingPlace>(std::move(place));
}

base::Result<int> SettingFinder::document_of(const std::string& key, std::string_view path) const {
  std::vector<int> mappings;
  std::vector<int> holding;
  for (std::size_t i = 0; i < tree_.documents.size(); ++i) {
    const int root = tree_.documents[i].root;
    if (!is_null(tree_.at(root))) mappings.push_back(static_cast<int>(i));
    if (step_into(tree_, tree_.resolved(root), path).child >= 0) holding.push_back(static_cast<int>(i));
  }
  if (holding.size() == 1) return holding.front();
  if (holding.empty() && mappings.size() == 1) return mappings.front();
  if (holding.empty() && mappings.empty()) return 0;
  return fail(ErrorCode::invalid_argument, "{}: {} may go into any of {} documents", file_, key,
              holding.empty() ? mappings.size() : holding.size())
      .hint("choose with mapping: {{{}: \"#2:{}\"}} in the --space file (2 = the second)", key, path);
}

base::Result<SettingPlace> SettingFinder::follow(const std::string& key, std::string_view path) const {
  SettingPlace place;
  auto rest = without_document(path);
  if (rest.empty() || rest.front() == '.' || rest.back() == '.' || rest.find("..") != std::string_view::npos)
    return fail(ErrorCode::invalid_argument,
                "mapping of {}: \"{}\" is not a path: expected keys joined by dots, such as a.b", key, path);
  if (rest.size() == path.size()) {
    RL_TRY_ASSIGN(place.document, document_of(key, rest));
  } else {
    RL_TRY_ASSIGN(const auto number,
                  base::parse_integer(path.substr(1, path.size() - rest.size() - 2), "document number"));
    const auto count = static_cast<std::int64_t>(tree_.documents.size());
    if (number < 1 || number > count)
      return fail(ErrorCode::invalid_argument, "mapping of {}: {} has no document {}: expected 1..{}", key, file_,
                  number, count);
    place.document = static_cast<int>(number - 1);
  }
  const bool has_root = static_cast<std::size_t>(place.document) < tree_.documents.size();
  int node = has_root ? tree_.documents[static_cast<std::size_t>(place.document)].root : -1;
  if (node >= 0) place.inherited = effective(tree_, node, rest, 0);
  while (node >= 0 && !rest.empty()) {
    if (tree_.at(node).kind == YamlKind::alias) {
      place.alias = node;
      return place;
    }
    const auto step = step_into(tree_, node, rest);
    if (step.child < 0) break;
    node = step.child;
    rest.remove_prefix(step.used);
  }
  if (rest.empty()) {
    place.value = node;
    place.inherited = -1;
    return place;
  }
  place.sections = base::split(rest, '.');
  place.name = place.sections.back();
  place.sections.pop_back();
  if (node < 0) return place;
  const auto& home = tree_.at(node);
  if (home.kind != YamlKind::mapping && !is_null(home))
    return fail(ErrorCode::invalid_argument, "{}:{}:{}: {} cannot go below {}, which is a {}", file_, home.line,
                home.column, key, home.parent < 0 ? std::string("the file's top level") : tree_.path(node),
                home.kind == YamlKind::sequence ? "sequence" : "single value")
        .hint("name a mapping");
  if (home.parent >= 0 || home.kind == YamlKind::mapping)
    place.home = node;
  else if (home.end > home.begin)
    return fail(ErrorCode::invalid_argument, "{}:{}:{}: the file holds only a null", file_, home.line, home.column)
        .hint("empty it, or write a mapping");
  return place;
}

base::Result<SettingPlace> SettingFinder::home_of(const std::string& key) const {
  std::map<int, int> siblings;  // mapping -> parameters in it
  for (const auto& param : schema::catalog()) {
    if (is_execution(param.key) && !is_execution(key)) continue;
    const auto found = find(param.key);
    if (!found || !*found || (*found)->value < 0) continue;
    const int mapping = tree_.at((*found)->value).parent;
    if (tree_.at(mapping).kind != YamlKind::mapping) continue;
    // A parameter of the same sort outweighs any number of the other sort.
    siblings[mapping] += is_execution(param.key) == is_execution(key) ? 1000 : 1;
  }
  SettingPlace place;
  place.name = key;
  int best = 0;
  for (const auto& [mapping, count] : siblings) {
    const int score = 2 * count + (is_section(mapping) ? 1 : 0);
    if (score > best && tree_.find(mapping, key) < 0) {
      best = score;
      place.home = mapping;
    }
  }
  if (place.home >= 0) return place;

  std::vector<int> sections;
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i)
    if (is_section(static_cast<int>(i))) sections.push_back(static_cast<int>(i));
  if (sections.size() > 1) return ambiguous(options_.section, sections);
  if (sections.empty()) {
    // In an empty file, or beside profiles that are ours, nobody is surprised by it.
    const bool is_empty = std::all_of(tree_.documents.begin(), tree_.documents.end(),
                                      [&](const auto& document) { return is_null(tree_.at(document.root)); });
    if (!options_.section_named && !is_empty && profiles_.empty())
      return fail(ErrorCode::invalid_argument,
                  "{}: holds none of the settings and no section {}, so that {} has no place in it", file_,
                  options_.section, key)
          .hint("--config-section {} adds a section of that name at its end; another NAME takes that one",
                options_.section);
    return follow(key, options_.section + "." + key);
  }
  const auto path = tree_.path(sections.front());
  return follow(key, path + "." + key);
}

int SettingFinder::overriding_mapping(int value) const {
  const int source = tree_.at(value).parent;
  int found = -1;
  for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
    const int index = static_cast<int>(i);
    if (tree_.at(index).kind != YamlKind::mapping || shared_ancestor(tree_, index) >= 0) continue;
    const auto sources = merged_mappings(tree_, index);
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) continue;
    const auto& keys = tree_.at(index).children;
    bool ours = is_section(index);
    for (std::size_t k = 0; k < keys.size(); k += 2)
      ours = ours || schema::find_param(tree_.at(keys[k]).value) != nullptr;
    if (!ours) continue;
    if (found >= 0) return -1;
    found = index;
  }
  return found;
}

base::Result<void> SettingFinder::check_not_shared(const std::string& key, const SettingPlace& place) const {
  if (place.alias >= 0)
    return fail(ErrorCode::invalid_argument,
                "{}:{}: {} lies behind the alias *{}, so that a change would show elsewhere too", file_,
                tree_.at(place.alias).line, key, tree_.at(place.alias).value)
        .hint("map it to the anchor's own place");
  const int start = place.value >= 0 ? place.value : place.home;
  const int shared = start >= 0 ? shared_ancestor(tree_, start) : -1;
  // Who maps a key into an anchored mapping has asked for the change everywhere.
  if (shared < 0 || (place.mapped && shared != place.value)) return {};
  std::string lines;
  const auto& users = tree_.at(shared).users;
  for (std::size_t i = 0; i < std::min(users.size(), kMaxListed); ++i)
    lines += fmt::format("{}{}", lines.empty() ? "" : ", ", tree_.at(users[i]).line);
  return fail(ErrorCode::invalid_argument,
              "{}:{}: {} belongs to the anchor &{} that line {} uses too, so that a change would show there", file_,
              tree_.at(start).line, key, tree_.at(shared).anchor, lines)
      .hint("write the value out where it is used, or map {} with mapping: in the --space file", key);
}

base::Result<SettingPlace> SettingFinder::place_for(const std::string& key) const {
  if (const auto mapped = options_.mapping.find(key); mapped != options_.mapping.end()) {
    RL_TRY_ASSIGN(auto place, follow(key, mapped->second));
    place.mapped = true;
    RL_TRY(check_not_shared(key, place));
    return place;
  }
  RL_TRY_ASSIGN(auto found, find(key));
  if (!found) {
    RL_TRY_ASSIGN(auto home, home_of(key));
    RL_TRY(check_not_shared(key, home));
    return home;
  }
  if (const int shared = shared_ancestor(tree_, found->value); shared >= 0 && shared != found->value) {
    // The usual "defaults: &defaults ... <<: *defaults": write an override into the one section of ours that merges it.
    if (const int mapping = overriding_mapping(found->value); mapping >= 0 && tree_.find(mapping, key) < 0) {
      SettingPlace place;
      place.inherited = found->value;
      place.home = mapping;
      place.name = key;
      return place;
    }
  }
  RL_TRY(check_not_shared(key, *found));
  return std::move(*found);
}

}  // namespace ridgeline::config
