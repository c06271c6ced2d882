// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "config/setting_finder.hpp"
#include "config/text_edits.hpp"
#include "config/yaml_tree.hpp"
#include "schema/param_def.hpp"

namespace ridgeline::config {

/// Collects changes of one file twice over: as edits of its bytes and as edits of its tree. That the edited bytes parse
/// to the edited tree is the proof that nothing else changed. One object a patch; finish() once, at the end.
class PatchBuilder {
 public:
  PatchBuilder(std::string_view text, const YamlTree& tree, std::string_view file_name, std::string provenance);

  /// Replaces the value at a node of the original tree.
  [[nodiscard]] base::Result<void> change(int value, const schema::ParamDef& param, const schema::Value& wanted);

  /// Adds an absent key.
  void add(const SettingPlace& place, const schema::ParamDef& param, const schema::Value& wanted);

  /// The new text. Errors (internal): it does not parse to the expected tree.
  [[nodiscard]] base::Result<std::string> finish();

  /// Source text put at a changed value or added key, and where it is in the new file; valid after finish().
  struct Written {
    std::string key;
    std::string path;
    int line = 0;
    std::string source;
    bool commented = false;  ///< the provenance stands in its line
  };
  [[nodiscard]] const std::vector<Written>& written() const noexcept { return written_; }

 private:
  struct NewEntry {
    std::string name;
    std::string key;  ///< the parameter's; "" for a section
    schema::Value value;
    bool as_text = false;
    std::vector<NewEntry> children;
    schema::ParamDef param{};  ///< what the value is spelled as; of a section: none
  };
  struct Insertion {
    int home = -1;
    int document = 0;
    bool sections = false;
    std::vector<NewEntry> entries;
  };

  void insert(const Insertion& insertion);
  void insert_in_block(const Insertion& insertion);
  void insert_in_flow(const Insertion& insertion);
  void insert_in_null(const Insertion& insertion);
  void insert_in_document(const Insertion& insertion);
  void insert_lines(std::size_t offset, const std::vector<NewEntry>& entries, std::size_t column, bool after_line);
  void expect_pairs(int mapping, std::size_t position, const std::vector<NewEntry>& entries, bool quoted, bool flow);
  [[nodiscard]] std::string block_lines(const std::vector<NewEntry>& entries, std::size_t column,
                                        std::string_view newline) const;
  [[nodiscard]] std::string flow_text(const std::vector<NewEntry>& entries, bool quoted) const;
  [[nodiscard]] std::size_t pair_after(const Insertion& insertion) const;
  [[nodiscard]] std::size_t column_of_keys(int mapping) const;
  [[nodiscard]] bool keys_are_quoted(int mapping) const;
  [[nodiscard]] bool inside_flow(int node) const;
  [[nodiscard]] std::string comment() const;
  void put_comment_behind(std::size_t offset);

  std::string_view text_;
  const YamlTree& tree_;
  std::string_view file_;
  std::string provenance_;
  std::size_t indent_ = 2;
  YamlTree expected_;
  std::vector<TextEdit> edits_;
  std::vector<Insertion> insertions_;
  std::vector<Written> written_;
  std::vector<int> written_nodes_;  ///< in expected_, beside written_
};

}  // namespace ridgeline::config
