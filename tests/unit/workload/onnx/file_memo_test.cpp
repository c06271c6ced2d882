// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/file_memo.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "unit/workload/temp_folder.hpp"

namespace ridgeline::workload {
namespace {

class FileMemoTest : public ::testing::Test {
 protected:
  std::string ask(const FileMemo& memo, const std::string& what = "length") {
    return memo
        .get(file_, what,
             [this]() -> base::Result<std::string> {
               ++computed_;
               return std::to_string(std::filesystem::file_size(file_));
             })
        .value();
  }
  void SetUp() override { ASSERT_TRUE(base::write_file_atomically(file_, "four")); }

  TempFolder folder_;
  std::filesystem::path file_ = folder_.path() / "library.so";
  int computed_ = 0;
};

TEST_F(FileMemoTest, the_second_answer_is_remembered_also_by_another_process) {
  EXPECT_EQ(ask(FileMemo(folder_.path() / "memo")), "4");
  EXPECT_EQ(ask(FileMemo(folder_.path() / "memo")), "4");
  EXPECT_EQ(computed_, 1);
}

TEST_F(FileMemoTest, another_question_is_asked_anew) {
  const FileMemo memo(folder_.path() / "memo");
  EXPECT_EQ(ask(memo), "4");
  EXPECT_EQ(ask(memo, "size"), "4");
  EXPECT_EQ(computed_, 2);
}

TEST_F(FileMemoTest, a_changed_file_is_asked_anew) {
  const FileMemo memo(folder_.path() / "memo");
  EXPECT_EQ(ask(memo), "4");
  ASSERT_TRUE(base::write_file_atomically(file_, "longer"));
  EXPECT_EQ(ask(memo), "6");
}

TEST_F(FileMemoTest, a_folder_that_cannot_be_made_is_no_error) {
  EXPECT_EQ(ask(FileMemo(file_ / "memo")), "4");
  EXPECT_EQ(ask(FileMemo(file_ / "memo")), "4");
  EXPECT_EQ(computed_, 2);
}

TEST_F(FileMemoTest, a_failure_is_passed_on_and_not_remembered) {
  const FileMemo memo(folder_.path() / "memo");
  const auto failed = memo.get(
      file_, "length", []() -> base::Result<std::string> { return base::fail(base::ErrorCode::io, "cannot read it"); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(ask(memo), "4");
  EXPECT_EQ(computed_, 1);
}

}  // namespace
}  // namespace ridgeline::workload
