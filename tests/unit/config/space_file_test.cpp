// SPDX-License-Identifier: Apache-2.0
#include "config/space_file.hpp"

#include <gtest/gtest.h>

namespace ridgeline::config {
namespace {

std::string space_error(std::string_view yaml) {
  const auto space = parse_space_file(yaml, "space.yaml");
  return space ? "no error" : base::error_line(space.error());
}

TEST(SpaceFile, reads_every_section) {
  const auto space = parse_space_file(R"(# my space
parameters:
  intra_op_num_threads: [1, 2, 4]
  execution_mode: parallel          # one value needs no list
  enable_mem_pattern: [yes, no]
fixed: {graph_optimization_level: ORT_ENABLE_ALL, batch_size: 8}
exclude:
  - dynamic_block_base
constraints:
  - "intra_op_num_threads * parallel_sessions <= 8"
only_listed: true
mapping:
  intra_op_num_threads: serving.ort.threads
)",
                                      "space.yaml");
  ASSERT_TRUE(space) << space.error().message;
  const auto& request = space->request;
  ASSERT_EQ(request.values.size(), 3U);
  EXPECT_EQ(request.values[0], (schema::Dimension{"intra_op_num_threads", {1, 2, 4}}));
  EXPECT_EQ(request.values[1], (schema::Dimension{"execution_mode", {"parallel"}}));
  EXPECT_EQ(request.values[2], (schema::Dimension{"enable_mem_pattern", {true, false}}));
  EXPECT_EQ(request.fixed, (schema::Configuration{{"graph_optimization_level", "all"}, {"batch_size", 8}}));
  EXPECT_EQ(request.exclude, std::vector<std::string>{"dynamic_block_base"});
  EXPECT_EQ(request.constraints, std::vector<std::string>{"intra_op_num_threads * parallel_sessions <= 8"});
  EXPECT_TRUE(request.only_listed);
  EXPECT_EQ(space->mapping.at("intra_op_num_threads"), "serving.ort.threads");
}

TEST(SpaceFile, empty_files_and_sections_ask_for_nothing) {
  for (const auto* yaml : {"", "# none\n", "---\n", "parameters:\nfixed:\nexclude:\n"}) {
    const auto space = parse_space_file(yaml, "space.yaml");
    ASSERT_TRUE(space) << space.error().message;
    EXPECT_TRUE(space->request.values.empty());
    EXPECT_TRUE(space->request.fixed.empty());
  }
}

TEST(SpaceFile, anchors_serve_as_shorthand) {
  const auto space =
      parse_space_file("parameters: {intra_op_num_threads: &t [1, 2], inter_op_num_threads: *t}\n", "space.yaml");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->request.values[1].values.size(), 2U);
}

TEST(SpaceFile, errors_name_place_and_nearest_name) {
  EXPECT_EQ(space_error("parameter:\n  a: 1\n"),
            "space.yaml:1:1: unknown section \"parameter\"; expected parameters, fixed, "
            "exclude, "
            "constraints, only_listed or mapping; did you mean \"parameters\"?");
  EXPECT_EQ(
      space_error("fixed:\n  intra_op_threads: 4\n").rfind("space.yaml:2:3: unknown parameter \"intra_op_threads\"", 0),
      0U)
      << space_error("fixed:\n  intra_op_threads: 4\n");
  EXPECT_EQ(space_error("parameters:\n  intra_op_num_threads: [1, -2]\n"),
            "space.yaml:2:29: intra_op_num_threads=-2 is not legal: expected a whole number in 0..1024");
  EXPECT_EQ(space_error("parameters:\n  intra_op_num_threads: [1, 1]\n"),
            "space.yaml:2:29: intra_op_num_threads=1 is listed twice; drop one");
  EXPECT_EQ(space_error("parameters:\n  intra_op_num_threads: []\n"),
            "space.yaml:2:25: intra_op_num_threads has an empty list; give it values, or name it under exclude");
  EXPECT_EQ(space_error("fixed: {batch_size: }\n"),
            "space.yaml:1:20: batch_size has no value: expected one, or leave the key out for the default");
  EXPECT_EQ(space_error("only_listed: maybe\n"),
            "space.yaml:1:14: only_listed=maybe is not legal: expected true or false");
  EXPECT_EQ(space_error("exclude: batch_size\n")
                .rfind("space.yaml:1:10: exclude is not what it should be: expected a list", 0),
            0U);
  EXPECT_EQ(space_error("- a\n").rfind("space.yaml:1:1: the space file is not what it should be", 0), 0U);
  EXPECT_EQ(space_error("fixed: {batch_size: 1}\nfixed: {batch_size: 2}\n")
                .rfind("space.yaml:2:1: duplicate key \"fixed\"", 0),
            0U);
  EXPECT_EQ(space_error("fixed: {a: [}\n").rfind("space.yaml:1:13: malformed YAML", 0), 0U)
      << space_error("fixed: {a: [}\n");
  EXPECT_EQ(space_error("parameters: {batch_size: [1, 2]}\nfixed: {batch_size: 1}\n"),
            "space.yaml: batch_size is under parameters and under fixed; keep one of the two");
  EXPECT_NE(space_error("a: 1\n---\nb: 1\n").find("2 YAML documents"), std::string::npos);
  EXPECT_NE(space_error("mapping: {batch_size: [a]}\n").find("expected a path in the config file"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::config
