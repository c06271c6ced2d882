// SPDX-License-Identifier: Apache-2.0
// The promise of the config patch, over real-world-like files: only the asked-for values change. Checked without the
// patcher's own parser: bytes by common beginning and end, meaning by yaml-cpp.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "config/config_patch.hpp"
#include "fakes/yaml_config_generator.hpp"
#include "schema/catalog.hpp"

namespace ridgeline::config {
namespace {

namespace fs = std::filesystem;
using schema::Configuration;

constexpr std::uint64_t kGenerated = 160;

struct File {
  std::string name;
  std::string text;
};

std::vector<File> hand_written() {
  std::vector<File> files;
  for (const auto& entry : fs::directory_iterator(fs::path(RL_TEST_DATA) / "yaml"))
    files.push_back({entry.path().filename().string(), base::read_file(entry.path()).value()});
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

const std::vector<File>& corpus() {
  static const std::vector<File> files = [] {
    auto all = hand_written();
    for (std::uint64_t seed = 1; seed <= kGenerated; ++seed) {
      auto generated = fakes::generate_yaml_config(seed);
      all.push_back({generated.name, std::move(generated.text)});
    }
    return all;
  }();
  return files;
}

const std::vector<std::pair<std::string, schema::Value>>& single_edits() {
  static const std::vector<std::pair<std::string, schema::Value>> edits{{"intra_op_num_threads", 3},
                                                                        {"execution_mode", "parallel"},
                                                                        {"graph_optimization_level", "extended"},
                                                                        {"enable_mem_pattern", false},
                                                                        {"intra_op_allow_spinning", true},
                                                                        {"intra_op_thread_affinities", "1,2;3"},
                                                                        {"batch_size", 16}};
  return edits;
}

/// yaml-cpp's view: path -> scalar, for every document. nullopt: yaml-cpp does not read the file.
std::optional<std::map<std::string, std::string>> flattened(const std::string& text) {
  std::map<std::string, std::string> flat;
  const auto walk = [&](const auto& self, const YAML::Node& node, const std::string& path, int depth) -> void {
    if (depth > 30) return;
    if (node.IsMap()) {
      flat[path] = "{}";
      for (const auto& pair : node)
        self(self, pair.second, path + "/" + (pair.first.IsScalar() ? pair.first.Scalar() : YAML::Dump(pair.first)),
             depth + 1);
    } else if (node.IsSequence()) {
      flat[path] = "[]";
      for (std::size_t i = 0; i < node.size(); ++i) self(self, node[i], path + "/" + std::to_string(i), depth + 1);
    } else {
      flat[path] = node.IsNull() ? "~" : node.Tag() + " " + node.Scalar();
    }
  };
  try {
    const auto documents = YAML::LoadAll(text);
    for (std::size_t i = 0; i < documents.size(); ++i) walk(walk, documents[i], std::to_string(i), 0);
  } catch (const YAML::Exception&) {
    return std::nullopt;
  }
  return flat;
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

/// Every difference is the key itself, or the mapping or null that now holds it.
void expect_only_these_differ(const File& file, const std::string& after, const std::set<std::string>& keys) {
  static std::map<std::string, std::optional<std::map<std::string, std::string>>> known;
  const auto cached = known.find(file.name);
  const auto& old_values =
      cached != known.end() ? cached->second : known.emplace(file.name, flattened(file.text)).first->second;
  ASSERT_TRUE(old_values) << file.name;
  const auto new_values = flattened(after);
  ASSERT_TRUE(new_values) << file.name << ": yaml-cpp no longer reads it:\n" << after;
  const auto is_ours = [&](const std::string& path) {
    for (const auto& key : keys)
      if (ends_with(path, "/" + key)) return true;
    return false;
  };
  const auto holds_ours = [&](const std::string& path) {
    for (const auto& [other, value] : *new_values)
      if (other.rfind(path + "/", 0) == 0 && is_ours(other)) return true;
    return path.find('/') == std::string::npos;
  };
  for (const auto& [path, value] : *old_values) {
    const auto now = new_values->find(path);
    ASSERT_TRUE(now != new_values->end()) << file.name << ": lost " << path << "\n" << after;
    const bool may_change = is_ours(path) || (value == "~" && holds_ours(path));
    EXPECT_TRUE(now->second == value || may_change) << file.name << ": changed " << path;
  }
  for (const auto& [path, value] : *new_values)
    EXPECT_TRUE(old_values->count(path) != 0 || is_ours(path) || holds_ours(path)) << file.name << ": gained " << path;
}

/// One edit: old = P X S, new = P Y S, with X the old value (nothing when added).
void expect_bytes_kept(const File& file, const PatchResult& result) {
  ASSERT_EQ(result.edits.size(), 1U);
  const auto& edit = result.edits.front();
  const auto& before = file.text;
  const auto& after = result.text;
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < before.size() && tail < after.size() &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  const auto replaced = edit.before ? edit.before->size() : 0;
  EXPECT_GE(head + tail + replaced, before.size()) << file.name << ": more than " << edit.key << " changed\n" << after;
  if (edit.before && !edit.before->empty() && edit.before->find('\n') == std::string::npos) {
    EXPECT_EQ(after.size(), before.size() - replaced + edit.after.size()) << file.name;
  }
  EXPECT_NE(after.find(edit.after), std::string::npos) << file.name;
}

TEST(ConfigPatchCorpus, is_large_enough) {
  EXPECT_GE(hand_written().size(), 40U);
  EXPECT_GE(corpus().size(), 200U);
}

// Those few cannot be compared by a second reader.
TEST(ConfigPatchCorpus, yaml_cpp_reads_all_files_but_these) {
  std::vector<std::string> unread;
  for (const auto& file : corpus())
    if (!flattened(file.text)) unread.push_back(file.name);
  EXPECT_EQ(unread, std::vector<std::string>{});
}

TEST(ConfigPatchCorpus, generated_files_are_yaml_to_both_parsers) {
  for (const auto& file : corpus()) {
    EXPECT_TRUE(patch_settings(file.text, file.name, {}, {}))
        << patch_settings(file.text, file.name, {}, {}).error().message;
    const bool generated = file.name.find('.') == std::string::npos;
    EXPECT_TRUE(!generated || flattened(file.text)) << file.name << "\n" << file.text;
  }
}

TEST(ConfigPatchCorpus, one_edit_changes_one_value_and_a_second_time_nothing) {
  int done = 0;
  int refused = 0;
  for (const auto& file : corpus()) {
    for (const auto& [key, value] : single_edits()) {
      const Configuration wanted{{key, value}};
      const auto result = patch_settings(file.text, file.name, wanted, {});
      if (!result) {
        // Files may be ambiguous or share values by anchors; they never meet a fault of ours.
        EXPECT_EQ(result.error().code, base::ErrorCode::invalid_argument) << result.error().message;
        ++refused;
        continue;
      }
      ++done;
      if (result->edits.empty()) {
        EXPECT_EQ(result->text, file.text);
      } else {
        expect_bytes_kept(file, *result);
        expect_only_these_differ(file, result->text, {key});
      }
      const auto found = read_settings(result->text, file.name, {});
      if (found) {
        const auto setting =
            std::find_if(found->begin(), found->end(), [&, name = key](const auto& one) { return one.key == name; });
        ASSERT_NE(setting, found->end()) << file.name << " " << key;
        EXPECT_EQ(setting->value, value) << file.name << " " << key;
      }
      const auto again = patch_settings(result->text, file.name, wanted, {});
      ASSERT_TRUE(again) << file.name << ": " << again.error().message;
      EXPECT_EQ(again->text, result->text) << file.name;
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(done, 1400);
  EXPECT_LT(refused, done / 10);
}

TEST(ConfigPatchCorpus, several_edits_at_once_equal_the_same_edits_one_by_one) {
  const Configuration wanted{
      {"intra_op_num_threads", 5},   {"execution_mode", "parallel"}, {"graph_optimization_level", "basic"},
      {"enable_mem_pattern", false}, {"dynamic_block_base", 4},      {"batch_size", 2}};
  for (const auto& file : corpus()) {
    const auto together = patch_settings(file.text, file.name, wanted, {});
    std::string text = file.text;
    bool refused = false;
    for (const auto& param : schema::catalog()) {
      const auto* value = wanted.find(param.key);
      if (value == nullptr) continue;
      const auto step = patch_settings(text, file.name, {{param.key, *value}}, {});
      refused = refused || !step;
      if (step) text = step->text;
    }
    EXPECT_EQ(!together, refused) << file.name;
    if (!together || refused) continue;
    EXPECT_EQ(together->text, text) << file.name;
    expect_only_these_differ(file, together->text,
                             {"intra_op_num_threads", "execution_mode", "graph_optimization_level",
                              "enable_mem_pattern", "dynamic_block_base", "batch_size"});
  }
}

TEST(ConfigPatchCorpus, provenance_comments_change_no_meaning) {
  PatchOptions options;
  options.provenance = "ridgeline 20261121-081500-3f2a: 1.42x";
  for (const auto& file : corpus()) {
    const auto result =
        patch_settings(file.text, file.name, {{"intra_op_num_threads", 5}, {"enable_mem_pattern", false}}, options);
    if (result) expect_only_these_differ(file, result->text, {"intra_op_num_threads", "enable_mem_pattern"});
  }
}

TEST(ConfigPatchCorpus, rollback_restores_the_exact_bytes) {
  std::string name = (fs::temp_directory_path() / "ridgeline_corpus_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path path = fs::path(name) / "config.yaml";
  for (std::size_t i = 0; i < corpus().size(); i += 4) {
    const auto& file = corpus()[i];
    ASSERT_TRUE(base::write_file_atomically(path, file.text));
    const auto applied = apply_patch(path, {{"intra_op_num_threads", 7}}, {}, "2026-11-21T08:15:00Z");
    if (!applied) {
      EXPECT_EQ(base::read_file(path).value(), file.text) << file.name;
      continue;
    }
    EXPECT_NE(base::read_file(path).value(), file.text) << file.name;
    ASSERT_TRUE(rollback(path)) << file.name;
    EXPECT_EQ(base::read_file(path).value(), file.text) << file.name;
  }
  fs::remove_all(name);
}

}  // namespace
}  // namespace ridgeline::config
