// SPDX-License-Identifier: Apache-2.0
#include "trace/import/file_kind.hpp"

#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

using FileKindTest = TraceFilesTest;

TEST_F(FileKindTest, is_told_by_content) {
  using enum FileKind;
  for (const auto& [content, kind] : std::vector<std::pair<std::string, FileKind>>{
           {R"( {"traceEvents":[]})", kineto},
           {R"([{"ph":"X","cat":"kernel","name":"\"Session\""}])", kineto},
           {R"([{"cat" : "Session","pid" :1}])", onnxruntime},
           {R"([{"name":"x","cat":"Node"}])", onnxruntime},
           {std::string("SQLite format 3\0rest", 20), nsys},
           {"[rank 0] loss 0.3\n\"ID\",\"Process ID\",\"Kernel Name\"\n", ncu},
           {"==PROF== x\nID,Kernel Name\n", ncu},
           {"\x89RLT\r\n\x1a\nrest", ridgeline},
           {"\x80\x02}.", snapshot},
           {"\x80\x05N.", snapshot}}) {
    const auto found = file_kind(write(content, "some file"));
    ASSERT_TRUE(found) << content << ": " << found.error().message;
    EXPECT_EQ(*found, kind) << content;
  }
}

TEST_F(FileKindTest, what_is_unknown_is_one_line_with_the_way_on) {
  for (const auto& [name, content, words, hint] : std::vector<std::array<std::string, 4>>{
           {"run.ncu-rep", "NVR", "Nsight Compute in its own format", "ncu --import"},
           {"a.txt", "hello", "not a trace that is known", "expected JSON"},
           {"b.txt", "", "empty", "expected JSON"}}) {
    const auto found = file_kind(write(content, name));
    ASSERT_FALSE(found) << name;
    EXPECT_NE(found.error().message.find(words), std::string::npos) << found.error().message;
    EXPECT_NE(found.error().hint.find(hint), std::string::npos) << found.error().hint;
  }
  EXPECT_EQ(file_kind((folder_ / "none").string()).error().code, base::ErrorCode::io);
}

}  // namespace
}  // namespace ridgeline::trace
