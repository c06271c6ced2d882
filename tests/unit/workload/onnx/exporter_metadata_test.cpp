// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/exporter_metadata.hpp"

#include <string>

#include <gtest/gtest.h>

#include "fakes/words.hpp"
#include "workload/onnx/python_literal.hpp"

namespace ridgeline::workload {
namespace {

TEST(PythonLiteral, reads_what_exporters_write) {
  EXPECT_EQ(parse_python_literal(R"({0: 'person', 1: "it's", 2: 'a\'b\u00e9\n'})")->dump(),
            R"({"0":"person","1":"it's","2":"a'bé\n"})");
  EXPECT_EQ(parse_python_literal(" [640, (1.5, -2), True, None, {'nms': False},] ")->dump(),
            R"([640,[1.5,-2],true,null,{"nms":false}])");
  EXPECT_EQ(parse_python_literal(R"({"0": "cat", "1": null})")->dump(), R"({"0":"cat","1":null})");
  EXPECT_EQ(parse_python_literal("{}")->dump(), "{}");
}

TEST(PythonLiteral, refuses_anything_else) {
  for (const auto* text :
       {"", "person", "{0: 'a'", "[1 2]", "'open", "{0 'a'}", "[1] x", "'\\u12'", "{0: }", "datetime.now()"})
    EXPECT_FALSE(parse_python_literal(text)) << text;
  EXPECT_FALSE(parse_python_literal(std::string(100'000, '[')));
}

TEST(ExporterMetadata, reads_what_ultralytics_writes) {
  const auto metadata = read_exporter_metadata({{"author", "Ultralytics"},
                                                {"task", "pose"},
                                                {"names", "{0: 'person', 1: 'dog'}"},
                                                {"imgsz", "[384, 640]"},
                                                {"stride", "32"},
                                                {"kpt_shape", "[17, 3]"},
                                                {"args", "{'batch': 1, 'nms': True}"}});
  EXPECT_EQ(metadata.task, "pose");
  EXPECT_EQ(metadata.names, (std::vector<std::string>{"person", "dog"}));
  EXPECT_EQ(metadata.width, 640);
  EXPECT_EQ(metadata.height, 384);
  EXPECT_EQ(metadata.stride, 32);
  EXPECT_EQ(metadata.keypoints->count, 17U);
  EXPECT_TRUE(metadata.is_final);
  EXPECT_EQ(fakes::texts_of(metadata.messages()), (std::vector<std::string>{"task pose", "2 names", "imgsz 640x384",
                                                                            "stride 32", "kpt_shape 17x3", "end2end"}));
  EXPECT_TRUE(metadata.unreadable.empty());
}

TEST(ExporterMetadata, names_what_it_cannot_read) {
  const auto metadata = read_exporter_metadata({{"names", "{0: 'a', 7: 'b'}"},
                                                {"imgsz", "[640, 0]"},
                                                {"stride", "thirty-two"},
                                                {"kpt_shape", "[17]"},
                                                {"end2end", "maybe"}});
  EXPECT_EQ(metadata.unreadable, (std::vector<std::string>{"names", "imgsz", "stride", "kpt_shape", "end2end"}));
  EXPECT_TRUE(metadata.messages().empty());
  EXPECT_EQ(metadata.width, 0);
  EXPECT_TRUE(read_exporter_metadata({}).messages().empty());
  EXPECT_EQ(fakes::texts_of(read_exporter_metadata({{"names", "['a', 'b']"}, {"imgsz", "320"}}).messages()),
            (std::vector<std::string>{"2 names", "imgsz 320x320"}));
}

}  // namespace
}  // namespace ridgeline::workload
