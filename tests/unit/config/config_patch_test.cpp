// SPDX-License-Identifier: Apache-2.0
#include "config/config_patch.hpp"

#include <map>

#include <gtest/gtest.h>

namespace ridgeline::config {
namespace {

using schema::Configuration;

std::string patched(std::string_view yaml, const Configuration& wanted, const PatchOptions& options = {}) {
  const auto result = patch_settings(yaml, "config.yaml", wanted, options);
  return result ? result->text : "error: " + base::error_line(result.error());
}

std::string patch_error(std::string_view yaml, const Configuration& wanted, const PatchOptions& options = {}) {
  const auto result = patch_settings(yaml, "config.yaml", wanted, options);
  return result ? "no error, but:\n" + result->text : base::error_line(result.error());
}

const Configuration kThreadsFour{{"intra_op_num_threads", 4}};

struct Example {
  const char* name;
  std::string before;
  Configuration wanted;
  std::string after;
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

class ConfigPatchExample : public testing::TestWithParam<Example> {};

TEST_P(ConfigPatchExample, changes_just_the_value) {
  const auto& [name, before, wanted, after] = GetParam();
  EXPECT_EQ(patched(before, wanted), after);
  const auto again = patch_settings(after, "config.yaml", wanted, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->edits.empty()) << "not idempotent";
}

INSTANTIATE_TEST_SUITE_P(
    Values, ConfigPatchExample,
    testing::Values(
        Example{"plain", "a: 1\nintra_op_num_threads: 8  # cores\nb: 2\n", kThreadsFour,
                "a: 1\nintra_op_num_threads: 4  # cores\nb: 2\n"},
        Example{"deep", "a:\n  b:\n  - c: {intra_op_num_threads:   8 , d: [1, 2]}\n", kThreadsFour,
                "a:\n  b:\n  - c: {intra_op_num_threads:   4 , d: [1, 2]}\n"},
        Example{"crlf_and_bom",
                "\xEF\xBB\xBF"
                "a: 1\r\nintra_op_num_threads: 8\r\n",
                kThreadsFour,
                "\xEF\xBB\xBF"
                "a: 1\r\nintra_op_num_threads: 4\r\n"},
        Example{"non_ascii_before", "# Größe ⚙ 設定\nnäme: \"né 🚀\"\nintra_op_num_threads: 8 # ö\n", kThreadsFour,
                "# Größe ⚙ 設定\nnäme: \"né 🚀\"\nintra_op_num_threads: 4 # ö\n"},
        Example{"bom_and_non_ascii", "\xEF\xBB\xBFü: é\r\nintra_op_num_threads: 8 # ö\r\n", kThreadsFour,
                "\xEF\xBB\xBFü: é\r\nintra_op_num_threads: 4 # ö\r\n"},
        Example{"no_final_newline", "intra_op_num_threads: 8", kThreadsFour, "intra_op_num_threads: 4"},
        Example{"double_quoted", "intra_op_num_threads: \"8\" # x\n", kThreadsFour,
                "intra_op_num_threads: \"4\" # x\n"},
        Example{"single_quoted",
                "execution_mode: 'parallel'\n",
                {{"execution_mode", "sequential"}},
                "execution_mode: 'sequential'\n"},
        Example{"enumerator",
                "execution_mode: ORT_PARALLEL\n",
                {{"execution_mode", "sequential"}},
                "execution_mode: ORT_SEQUENTIAL\n"},
        Example{"scoped_enumerator",
                "graph_optimization_level: ort.GraphOptimizationLevel.ORT_ENABLE_ALL\n",
                {{"graph_optimization_level", "extended"}},
                "graph_optimization_level: ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED\n"},
        Example{"enumerator_number",
                "graph_optimization_level: 99\n",
                {{"graph_optimization_level", "basic"}},
                "graph_optimization_level: 1\n"},
        Example{"upper_case_choice",
                "graph_optimization_level: ALL\n",
                {{"graph_optimization_level", "basic"}},
                "graph_optimization_level: BASIC\n"},
        Example{"yes_no", "enable_mem_pattern: Yes\n", {{"enable_mem_pattern", false}}, "enable_mem_pattern: No\n"},
        Example{"on_off", "enable_mem_pattern: off\n", {{"enable_mem_pattern", true}}, "enable_mem_pattern: on\n"},
        Example{"one_zero",
                "intra_op_allow_spinning: \"1\"\n",
                {{"intra_op_allow_spinning", false}},
                "intra_op_allow_spinning: \"0\"\n"},
        Example{"choice_that_yaml_takes_for_a_boolean",
                "torch_compile: reduce-overhead # x\n",
                {{"torch_compile", "off"}},
                "torch_compile: \"off\" # x\n"},
        Example{"choice_written_as_a_boolean",
                "torch_compile: true\n",
                {{"torch_compile", "off"}},
                "torch_compile: \"off\"\n"},
        Example{"same_choice_written_as_a_boolean",
                "torch_compile: true\n",
                {{"torch_compile", "default"}},
                "torch_compile: true\n"},
        Example{"python_bool",
                "enable_mem_pattern: True\n",
                {{"enable_mem_pattern", false}},
                "enable_mem_pattern: False\n"},
        Example{"same_value_other_spelling",
                "enable_mem_pattern: ON\nintra_op_num_threads: 0x4\n",
                {{"enable_mem_pattern", true}, {"intra_op_num_threads", 4}},
                "enable_mem_pattern: ON\nintra_op_num_threads: 0x4\n"},
        Example{"alias_value", "t: &t 8\nu: *t\nintra_op_num_threads: *t # shared\n", kThreadsFour,
                "t: &t 8\nu: *t\nintra_op_num_threads: 4 # shared\n"},
        Example{"unused_anchor_stays", "intra_op_num_threads: &t 8\n", kThreadsFour, "intra_op_num_threads: &t 4\n"},
        Example{"tag_stays", "intra_op_num_threads: !!int 8 # x\n", kThreadsFour,
                "intra_op_num_threads: !!int 4 # x\n"},
        Example{"tag_and_anchor", "intra_op_num_threads: &t  !!int   \"8\"\n", kThreadsFour,
                "intra_op_num_threads: &t  !!int   \"4\"\n"},
        Example{"empty_value", "intra_op_num_threads:   # unset\nb: 1\n", kThreadsFour,
                "intra_op_num_threads: 4   # unset\nb: 1\n"},
        Example{"null_value", "intra_op_num_threads: ~ # unset\n", kThreadsFour, "intra_op_num_threads: 4 # unset\n"},
        Example{"illegal_value_is_put_right", "intra_op_num_threads: auto\n", kThreadsFour,
                "intra_op_num_threads: 4\n"},
        Example{"flow_empty_value", "{a: 1, intra_op_num_threads: , b: 2}\n", kThreadsFour,
                "{a: 1, intra_op_num_threads: 4 , b: 2}\n"},
        Example{"json",
                "{\n\t\"a\": [1, 2],\n\t\"intra_op_num_threads\": 8,\n\t\"execution_mode\":\"parallel\"\n}\n",
                {{"intra_op_num_threads", 4}, {"execution_mode", "sequential"}},
                "{\n\t\"a\": [1, 2],\n\t\"intra_op_num_threads\": 4,\n\t\"execution_mode\":\"sequential\"\n}\n"},
        Example{"text_in_flow_is_quoted",
                "{intra_op_thread_affinities: 1;2}\n",
                {{"intra_op_thread_affinities", "1,2;3,4"}},
                "{intra_op_thread_affinities: \"1,2;3,4\"}\n"},
        Example{"digits_as_text_are_quoted",
                "intra_op_thread_affinities: 1;2\n",
                {{"intra_op_thread_affinities", "3"}},
                "intra_op_thread_affinities: \"3\"\n"},
        Example{"empty_text",
                "intra_op_thread_affinities: 1;2\n",
                {{"intra_op_thread_affinities", ""}},
                "intra_op_thread_affinities: \"\"\n"},
        Example{"block_scalar",
                "intra_op_thread_affinities: >- # pinned\n  1;\n  2\n\n# next\nb: 1\n",
                {{"intra_op_thread_affinities", "3;4"}},
                "intra_op_thread_affinities: 3;4 # pinned\n\n# next\nb: 1\n"},
        Example{"multi_document", "%YAML 1.1\n---\na: 1\n...\n---\nintra_op_num_threads: 8\n...\n", kThreadsFour,
                "%YAML 1.1\n---\na: 1\n...\n---\nintra_op_num_threads: 4\n...\n"},
        Example{"complex_key", "? intra_op_num_threads\n: 8\n? [a, b]\n: 1\n", kThreadsFour,
                "? intra_op_num_threads\n: 4\n? [a, b]\n: 1\n"},
        Example{"quoted_key", "\"intra_op_num_threads\" : 8\n", kThreadsFour, "\"intra_op_num_threads\" : 4\n"},
        Example{"tab_before_comment", "intra_op_num_threads: 8\t# x\n", kThreadsFour,
                "intra_op_num_threads: 4\t# x\n"}),
    [](const auto& example) { return example.param.name; });

INSTANTIATE_TEST_SUITE_P(
    AddedKeys, ConfigPatchExample,
    testing::Values(
        Example{"beside_siblings",
                "x: 1\nrt:\n    intra_op_num_threads: 4  # n\n    model: m.onnx\ny: 2\n",
                {{"intra_op_num_threads", 4}, {"execution_mode", "parallel"}},
                "x: 1\nrt:\n    intra_op_num_threads: 4  # n\n    execution_mode: parallel\n    model: m.onnx\ny: 2\n"},
        Example{"beside_siblings_without_newline",
                "rt:\n  intra_op_num_threads: 8",
                {{"enable_mem_pattern", false}},
                "rt:\n  intra_op_num_threads: 8\n  enable_mem_pattern: false"},
        Example{"breaks_of_both_kinds",
                "a: 1\r\nrt:\n  intra_op_num_threads: 8\nz: 1\r\n",
                {{"enable_mem_pattern", false}},
                "a: 1\r\nrt:\n  intra_op_num_threads: 8\n  enable_mem_pattern: false\nz: 1\r\n"},
        Example{"explicit_key",
                "rt:\n  ? intra_op_num_threads\n  : 8\nz: 1\n",
                {{"enable_mem_pattern", false}, {"intra_op_num_threads", 4}},
                "rt:\n  ? intra_op_num_threads\n  : 4\n  enable_mem_pattern: false\nz: 1\n"},
        Example{"crlf",
                "rt:\r\n  intra_op_num_threads: 8\r\nz: 1\r\n",
                {{"enable_mem_pattern", false}},
                "rt:\r\n  intra_op_num_threads: 8\r\n  enable_mem_pattern: false\r\nz: 1\r\n"},
        Example{"flow_siblings",
                "rt: {intra_op_num_threads: 8, model: m} # c\n",
                {{"enable_mem_pattern", false}},
                "rt: {intra_op_num_threads: 8, enable_mem_pattern: false, model: m} # c\n"},
        Example{"json_siblings",
                "{\n  \"rt\": {\n    \"intra_op_num_threads\": 8\n  }\n}\n",
                {{"execution_mode", "parallel"}},
                "{\n  \"rt\": {\n    \"intra_op_num_threads\": 8,\n    \"execution_mode\": \"parallel\"\n  }\n}\n"},
        Example{"flow_trailing_comma",
                "rt: {\n  intra_op_num_threads: 8, # c\n}\n",
                {{"enable_mem_pattern", false}},
                "rt: {\n  intra_op_num_threads: 8, # c\n  enable_mem_pattern: false,\n}\n"},
        Example{"new_section", "a:\n    b: 1\n# end\n", kThreadsFour,
                "a:\n    b: 1\n# end\nonnxruntime:\n    intra_op_num_threads: 4\n"},
        Example{"new_section_without_newline", "a: 1", kThreadsFour, "a: 1\nonnxruntime:\n  intra_op_num_threads: 4"},
        Example{"new_section_keeps_blank_lines", "a: 1\n\nb: 2\n", kThreadsFour,
                "a: 1\n\nb: 2\n\nonnxruntime:\n  intra_op_num_threads: 4\n"},
        Example{"new_section_before_document_end", "a: 1\n...\n", kThreadsFour,
                "a: 1\nonnxruntime:\n  intra_op_num_threads: 4\n...\n"},
        Example{"existing_section", "a: 1\nonnxruntime:\n  model: m.onnx # m\nb: 2\n", kThreadsFour,
                "a: 1\nonnxruntime:\n  model: m.onnx # m\n  intra_op_num_threads: 4\nb: 2\n"},
        Example{"nested_section", "app:\n  onnxruntime:\n    model: m.onnx\n", kThreadsFour,
                "app:\n  onnxruntime:\n    model: m.onnx\n    intra_op_num_threads: 4\n"},
        Example{"empty_section", "onnxruntime: # none yet\nb: 2\n", kThreadsFour,
                "onnxruntime: # none yet\n  intra_op_num_threads: 4\nb: 2\n"},
        Example{"null_section", "onnxruntime: null\nb: 2\n", kThreadsFour,
                "onnxruntime: {intra_op_num_threads: 4}\nb: 2\n"},
        Example{"empty_flow_section", "onnxruntime: {}\nb: 2\n", kThreadsFour,
                "onnxruntime: {intra_op_num_threads: 4}\nb: 2\n"},
        Example{"empty_file", "", kThreadsFour, "onnxruntime:\n  intra_op_num_threads: 4\n"},
        Example{"comments_only", "# nothing\r\n", kThreadsFour,
                "# nothing\r\nonnxruntime:\r\n  intra_op_num_threads: 4\r\n"},
        Example{"bom_only", "\xEF\xBB\xBF", kThreadsFour, "\xEF\xBB\xBFonnxruntime:\n  intra_op_num_threads: 4\n"},
        Example{"document_start_only", "---", kThreadsFour, "---\nonnxruntime:\n  intra_op_num_threads: 4"},
        Example{"flow_root",
                "{\"a\": 1}",
                {{"execution_mode", "parallel"}},
                "{\"a\": 1, \"onnxruntime\": {\"execution_mode\": \"parallel\"}}"},
        Example{"after_block_scalar", "onnxruntime:\n  script: |\n    a\n    b\n\n\nc: 1\n", kThreadsFour,
                "onnxruntime:\n  script: |\n    a\n    b\n\n\n  intra_op_num_threads: 4\nc: 1\n"},
        Example{"after_kept_block_scalar", "a: |+\n  x\n\n", kThreadsFour,
                "a: |+\n  x\n\nonnxruntime:\n  intra_op_num_threads: 4\n"},
        Example{"block_scalar_at_the_very_end", "a: 1\nb: |\n  x", kThreadsFour,
                "a: 1\nonnxruntime:\n  intra_op_num_threads: 4\nb: |\n  x"},
        Example{"after_nested_list", "onnxruntime:\n  providers:\n  - cpu\n  - cuda # c\nz: 1\n", kThreadsFour,
                "onnxruntime:\n  providers:\n  - cpu\n  - cuda # c\n  intra_op_num_threads: 4\nz: 1\n"},
        Example{"in_a_list_item",
                "models:\n  - name: a\n    intra_op_num_threads: 4\n  - name: b\n",
                {{"enable_mem_pattern", false}},
                "models:\n  - name: a\n    intra_op_num_threads: 4\n    enable_mem_pattern: false\n  - name: b\n"},
        Example{"batch_size_attracts_no_session_option", "train:\n  batch_size: 64\n", kThreadsFour,
                "train:\n  batch_size: 64\nonnxruntime:\n  intra_op_num_threads: 4\n"},
        Example{
            "override_of_a_merged_default",
            "base: &b {batch_size: 1, intra_op_num_threads: 8}\nonnxruntime:\n  <<: *b\n  model: m\nother: {<<: *b}\n",
            kThreadsFour,
            "base: &b {batch_size: 1, intra_op_num_threads: 8}\nonnxruntime:\n  <<: *b\n  model: m\n  "
            "intra_op_num_threads: 4\n"
            "other: {<<: *b}\n"}),
    [](const auto& example) { return example.param.name; });

TEST(ConfigPatch, leaves_keys_alone_that_are_not_asked_for) {
  const std::string yaml = "intra_op_num_threads: 8\nexecution_mode: parallel\n";
  const auto result = patch_settings(yaml, "config.yaml", {}, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->text, yaml);
  EXPECT_TRUE(result->edits.empty());
}

TEST(ConfigPatch, reports_each_edit_with_its_line_in_the_new_file) {
  const auto result = patch_settings("rt:\n  intra_op_num_threads: '8'\n  execution_mode: parallel\n", "c.yaml",
                                     {{"intra_op_num_threads", 4}, {"enable_mem_pattern", false}}, {});
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->edits.size(), 2U);
  EXPECT_EQ(result->edits[0].path, "rt.intra_op_num_threads");
  EXPECT_EQ(result->edits[0].line, 2);
  EXPECT_EQ(result->edits[0].before, "'8'");
  EXPECT_EQ(result->edits[0].after, "'4'");
  EXPECT_EQ(result->edits[1].key, "enable_mem_pattern");
  EXPECT_EQ(result->edits[1].line, 4);
  EXPECT_FALSE(result->edits[1].before);
}

TEST(ConfigPatch, writes_the_provenance_behind_changed_and_added_values) {
  PatchOptions options;
  options.provenance = "ridgeline run 7";
  EXPECT_EQ(
      patched("intra_op_num_threads: 8\nenable_mem_pattern: true # mine\n",
              {{"intra_op_num_threads", 4}, {"enable_mem_pattern", false}, {"execution_mode", "parallel"}}, options),
      "intra_op_num_threads: 4  # ridgeline run 7\nenable_mem_pattern: false # mine\n"
      "execution_mode: parallel  # ridgeline run 7\n");
}

TEST(ConfigPatch, says_where_the_provenance_found_no_place) {
  PatchOptions options;
  options.provenance = "ridgeline run 7";
  const auto patch = patch_settings(
      "ort: {intra_op_num_threads: 8}\nenable_mem_pattern: true # mine\nexecution_mode: sequential\n", "config.yaml",
      {{"intra_op_num_threads", 4}, {"enable_mem_pattern", false}, {"execution_mode", "parallel"}}, options);
  ASSERT_TRUE(patch) << patch.error().message;
  std::map<std::string, bool> commented;
  for (const auto& edit : patch->edits) commented[edit.key] = edit.commented;
  EXPECT_EQ(commented, (std::map<std::string, bool>{
                           {"intra_op_num_threads", false}, {"enable_mem_pattern", false}, {"execution_mode", true}}));
}

TEST(ConfigPatch, replaces_its_own_stale_provenance) {
  PatchOptions options;
  options.provenance = "ridgeline run 9";
  EXPECT_EQ(patched("intra_op_num_threads: 8  # ridgeline run 7\n", kThreadsFour, options),
            "intra_op_num_threads: 4  # ridgeline run 9\n");
}

TEST(ConfigPatch, mapping_points_elsewhere) {
  PatchOptions options;
  options.mapping = {{"intra_op_num_threads", "serving.ort.threads"}, {"execution_mode", "serving.ort.mode.kind"}};
  EXPECT_EQ(patched("serving:\n  ort:\n    threads: 8\nintra_op_num_threads: 1\n",
                    {{"intra_op_num_threads", 4}, {"execution_mode", "parallel"}}, options),
            "serving:\n  ort:\n    threads: 4\n    mode:\n      kind: parallel\nintra_op_num_threads: 1\n");
}

TEST(ConfigPatch, mapping_reaches_list_items_dotted_keys_and_documents) {
  PatchOptions options;
  options.mapping = {{"intra_op_num_threads", "#2:models.1.session.intra_op.threads"}};
  EXPECT_EQ(patched("models: [1, 2]\n---\nmodels:\n- a: 1\n- session.intra_op.threads: 8\n", kThreadsFour, options),
            "models: [1, 2]\n---\nmodels:\n- a: 1\n- session.intra_op.threads: 4\n");
}

TEST(ConfigPatch, mapping_into_a_merging_section_writes_an_override) {
  PatchOptions options;
  options.mapping = {{"intra_op_num_threads", "prod.intra_op_num_threads"}};
  EXPECT_EQ(patched("base: &b\n  intra_op_num_threads: 8\nprod:\n  <<: *b\ndev:\n  <<: *b\n", kThreadsFour, options),
            "base: &b\n  intra_op_num_threads: 8\nprod:\n  <<: *b\n  intra_op_num_threads: 4\ndev:\n  <<: *b\n");
}

TEST(ConfigPatch, two_mapped_sections_share_their_new_parent) {
  PatchOptions options;
  options.mapping = {{"intra_op_num_threads", "a.b.threads"}, {"execution_mode", "a.c.mode"}};
  EXPECT_EQ(patched("z: 1\n", {{"intra_op_num_threads", 4}, {"execution_mode", "parallel"}}, options),
            "z: 1\na:\n  b:\n    threads: 4\n  c:\n    mode: parallel\n");
}

TEST(ConfigPatch, prefers_the_section_then_siblings_among_several_places) {
  PatchOptions options;
  options.section = "serve";
  EXPECT_EQ(patched("train: {batch_size: 64}\nserve: {batch_size: 1}\n", {{"batch_size", 8}}, options),
            "train: {batch_size: 64}\nserve: {batch_size: 8}\n");
  EXPECT_EQ(patched("train: {batch_size: 64}\nrt: {batch_size: 1, execution_mode: parallel}\n", {{"batch_size", 8}}),
            "train: {batch_size: 64}\nrt: {batch_size: 8, execution_mode: parallel}\n");
}

TEST(ConfigPatch, says_so_when_a_key_is_in_two_equal_places) {
  EXPECT_EQ(patch_error("train:\n  batch_size: 64\nval:\n  batch_size: 32\n", {{"batch_size", 8}}),
            "config.yaml:4:15: batch_size is set in 2 places, line 2 (train.batch_size), line 4 (val.batch_size); "
            "choose with "
            "--config-section, or with mapping: {batch_size: train.batch_size} in the --space file");
}

TEST(ConfigPatch, names_line_and_column_of_a_duplicate_key) {
  EXPECT_EQ(patch_error("a: 1\nb:\n  x: 1\n  y: 2\n  x: 3\n", kThreadsFour),
            "config.yaml:5:3: duplicate key \"x\", already at line 3; keep one of the two");
}

TEST(ConfigPatch, errors_stay_one_line_however_keys_and_values_look) {
  EXPECT_EQ(patch_error("? |\n  a\n: 1\n? |\n  a\n: 2\n", kThreadsFour),
            "config.yaml:4:3: duplicate key \"a\\n\", already at line 1; keep one of the two");
  EXPECT_LT(patch_error(std::string(5000, 'k') + ": 1\n" + std::string(5000, 'k') + ": 2\n", kThreadsFour).size(),
            700U);
}

TEST(ConfigPatch, tells_one_from_quoted_one_as_keys) {
  EXPECT_EQ(patched("1: a\n\"1\": b\nintra_op_num_threads: 8\n", kThreadsFour),
            "1: a\n\"1\": b\nintra_op_num_threads: 4\n");
}

TEST(ConfigPatch, names_line_and_column_of_malformed_yaml) {
  EXPECT_EQ(patch_error("a: 1\n  b: [1\n", kThreadsFour).rfind("config.yaml:2:4: malformed YAML: ", 0), 0U)
      << patch_error("a: 1\n  b: [1\n", kThreadsFour);
  EXPECT_EQ(patch_error("a: \xFF\n", kThreadsFour).rfind("config.yaml:1:4: malformed YAML: ", 0), 0U);
  EXPECT_NE(patch_error("a: *nowhere\n", kThreadsFour).find("config.yaml:1:4: alias *nowhere has no anchor"),
            std::string::npos);
  EXPECT_NE(patch_error(std::string("\xFF\xFE"
                                    "a\0:\0",
                                    6),
                        kThreadsFour)
                .find("UTF-16"),
            std::string::npos);
}

TEST(ConfigPatch, refuses_to_change_what_other_aliases_show) {
  EXPECT_NE(patch_error("intra_op_num_threads: &t 8\nother: *t\n", kThreadsFour).find("&t that line 2 uses too"),
            std::string::npos);
  EXPECT_NE(patch_error("base: &b\n  intra_op_num_threads: 8\nx: *b\ny: *b\n", kThreadsFour)
                .find("&b that line 3, 4 uses too"),
            std::string::npos);
}

TEST(ConfigPatch, a_mapping_into_an_anchored_section_is_taken_at_its_word) {
  PatchOptions options;
  options.mapping = {{"intra_op_num_threads", "base.intra_op_num_threads"}};
  EXPECT_EQ(patched("base: &b\n  intra_op_num_threads: 8\nx: *b\n", kThreadsFour, options),
            "base: &b\n  intra_op_num_threads: 4\nx: *b\n");
}

TEST(ConfigPatch, refuses_values_that_something_else_fills_in) {
  EXPECT_NE(patch_error("intra_op_num_threads: ${THREADS}\n", kThreadsFour)
                .find("config.yaml:1:23: intra_op_num_threads is filled in"),
            std::string::npos);
  EXPECT_NE(patch_error("intra_op_num_threads: !env THREADS\n", kThreadsFour).find("is tagged !env"),
            std::string::npos);
}

TEST(ConfigPatch, refuses_roots_and_sections_that_hold_no_keys) {
  EXPECT_NE(patch_error("- a\n- b\n", kThreadsFour).find("cannot go below the file's top level, which is a sequence"),
            std::string::npos);
  EXPECT_NE(
      patch_error("onnxruntime: fast\n", kThreadsFour).find("cannot go below onnxruntime, which is a single value"),
      std::string::npos);
  EXPECT_NE(patch_error("a: 1\n---\nb: 1\n", kThreadsFour).find("may go into any of 2 documents"), std::string::npos);
}

TEST(ConfigPatch, refuses_unknown_parameters_and_illegal_values) {
  EXPECT_NE(patch_error("a: 1\n", {{"intra_op_num_thread", 4}}).find("intra_op_num_threads"), std::string::npos);
  EXPECT_NE(patch_error("a: 1\n", {{"intra_op_num_threads", -1}}).find("intra_op_num_threads=-1"), std::string::npos);
  PatchOptions options;
  options.section = "a..b";
  EXPECT_NE(patch_error("a: 1\n", kThreadsFour, options).find("config section \"a..b\""), std::string::npos);
}

TEST(PatchSettings, adds_a_section_to_a_file_without_any_setting_only_where_it_was_named) {
  PatchOptions options;
  options.section_named = false;
  const schema::Configuration wanted{{"intra_op_num_threads", 4}};
  for (const auto* foreign : {"a: 1\n", "services:\n  web: {image: x}\n", "batch_size: 4\n", "[1, 2]\n"}) {
    const auto refused = patch_settings(foreign, "f.yaml", wanted, options);
    ASSERT_FALSE(refused) << foreign;
    EXPECT_EQ(refused.error().code, base::ErrorCode::invalid_argument);
    EXPECT_NE(refused.error().message.find("no section onnxruntime"), std::string::npos) << refused.error().message;
    EXPECT_NE(refused.error().hint.find("--config-section onnxruntime"), std::string::npos) << refused.error().hint;
  }
  for (const auto* own : {"", "# notes\n", "a: 1\nonnxruntime:\n", "x: {execution_mode: parallel}\n",
                          "profiles:\n  cpu:\n    intra_op_num_threads: 2\n"})
    EXPECT_TRUE(patch_settings(own, "f.yaml", wanted, options)) << own;
  options.section_named = true;
  EXPECT_EQ(patch_settings("a: 1\n", "f.yaml", wanted, options)->text,
            "a: 1\nonnxruntime:\n  intra_op_num_threads: 4\n");
}

TEST(ReadSettings, finds_values_at_any_depth_with_their_types) {
  const auto found = read_settings(
      "a:\n- b: {intra_op_num_threads: '0x10'}\nexecution_mode: ORT_PARALLEL\nenable_mem_pattern: off\n"
      "intra_op_spin_duration_us: 1_000\nbatch_size:\n",
      "c.yaml", {});
  ASSERT_TRUE(found) << found.error().message;
  std::map<std::string, FoundSetting> by_key;
  for (const auto& setting : *found) by_key[setting.key] = setting;
  ASSERT_EQ(by_key.size(), 4U) << "an empty batch_size is unset";
  EXPECT_EQ(by_key["intra_op_num_threads"].value, schema::Value(16));
  EXPECT_EQ(by_key["intra_op_num_threads"].path, "a.0.b.intra_op_num_threads");
  EXPECT_EQ(by_key["execution_mode"].value, schema::Value("parallel"));
  EXPECT_EQ(by_key["execution_mode"].line, 3);
  EXPECT_EQ(by_key["enable_mem_pattern"].value, schema::Value(false));
  EXPECT_EQ(by_key["intra_op_spin_duration_us"].value, schema::Value(1000));
}

TEST(ReadSettings, follows_aliases_and_merge_keys) {
  PatchOptions options;
  options.mapping = {{"batch_size", "serve.batch_size"}};
  const auto found = read_settings(
      "base: &b {batch_size: 4}\nt: &t 3\nserve:\n  <<: [*b]\n  intra_op_num_threads: *t\n", "c.yaml", options);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(0).value, schema::Value(3));
  EXPECT_EQ(found->at(1).value, schema::Value(4));
}

TEST(ReadSettings, names_line_column_and_what_is_legal) {
  const auto error = [](std::string_view yaml) {
    const auto found = read_settings(yaml, "c.yaml", {});
    return found ? std::string("no error") : base::error_line(found.error());
  };
  EXPECT_EQ(error("a: 1\nexecution_mode: paralel\n"),
            "c.yaml:2:17: execution_mode=paralel is not legal: expected one of sequential, parallel; did you mean "
            "\"parallel\"?");
  EXPECT_EQ(error("intra_op_num_threads: 5000\n"),
            "c.yaml:1:23: intra_op_num_threads=5000 is not legal: expected a whole number in 0..1024");
  EXPECT_EQ(error("intra_op_num_threads: 010\n"),
            "c.yaml:1:23: intra_op_num_threads=010 can be read in two ways; drop the leading zero");
  EXPECT_NE(error("intra_op_num_threads: four\n").find("c.yaml:1:23: "), std::string::npos);
  EXPECT_NE(error("intra_op_num_threads: 99999999999999999999\n").find("c.yaml:1:23: "), std::string::npos);
}

TEST(ReadSettings, a_collection_of_a_parameters_name_is_something_else) {
  const auto found = read_settings("batch_size: [1, 2]\nexecution_mode: {a: 1}\n", "c.yaml", {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->empty());
}

TEST(ReadSettings, deep_nesting_and_self_reference_end_in_an_error_or_nothing) {
  EXPECT_FALSE(read_settings(std::string(5000, '['), "c.yaml", {}));
  PatchOptions options;
  options.mapping = {{"batch_size", "a.x.y"}};
  const auto found = read_settings("a: &a\n  <<: *a\n  b: *a\n", "c.yaml", options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->empty());
}

}  // namespace
}  // namespace ridgeline::config
