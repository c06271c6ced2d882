// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/tensor_folder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "unit/workload/temp_folder.hpp"
#include "workload/onnx/npy_file.hpp"

namespace ridgeline::workload {
namespace {

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(TensorFolder, writes_every_type_that_numpy_has) {
  TempFolder temporary;
  const auto folder = TensorFolder::create(temporary / "t", {"y"});
  ASSERT_TRUE(folder) << folder.error().message;
  const std::vector<std::vector<std::int64_t>> shapes{{}, {3}, {2, 0}, {1, 2, 3, 4}};
  for (int number = 1; number <= 22; ++number)
    for (const auto& dims : shapes) {
      const auto type = static_cast<ElementType>(number);
      const auto size = tensor_bytes(type, dims);
      const std::string bytes(size ? static_cast<std::size_t>(*size) : 8, 'x');
      const auto written = folder->write(0, 7, 0, type, dims, bytes);
      if (type == ElementType::string || number >= 17) {
        EXPECT_FALSE(written) << number;
        continue;
      }
      ASSERT_TRUE(written) << written.error().message;
      const auto tensor = read_npy(temporary / "t" / "0-7.y.npy");
      ASSERT_TRUE(tensor) << tensor.error().message;
      EXPECT_EQ(tensor->type, type);
      EXPECT_EQ(tensor->dims, dims);
      EXPECT_EQ(tensor->bytes, bytes);
    }
}

TEST(TensorFolder, names_are_those_of_files_and_differ) {
  TempFolder temporary;
  const auto folder = TensorFolder::create(temporary.path(), {"a/b", "a:b", "", std::string(400, 'x')});
  ASSERT_TRUE(folder) << folder.error().message;
  const std::vector<std::int64_t> none;
  for (std::size_t output = 0; output < 4; ++output)
    ASSERT_TRUE(folder->write(1, 2, output, ElementType::uint8, none, "x"));
  EXPECT_TRUE(std::filesystem::exists(temporary / "1-2.a_b.npy"));
  EXPECT_TRUE(std::filesystem::exists(temporary / "1-2.a_b-2.npy"));
  EXPECT_TRUE(std::filesystem::exists(temporary / "1-2.output.npy"));
  EXPECT_EQ(files_in(temporary.path()), 4U);
}

TEST(TensorFolder, leaves_nothing_of_a_file_that_there_is_no_room_for) {
  TempFolder temporary;
  const auto folder = TensorFolder::create(temporary.path(), {"y"});
  ASSERT_TRUE(folder);
  // A file that may not grow ends a write as a full disk does.
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{4096, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<std::int64_t> dims{10000};
  const auto written = folder->write(0, 1, 0, ElementType::uint8, dims, std::string(10000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, base::ErrorCode::io);
  EXPECT_EQ(written.error().message, "cannot write " + (temporary / "0-1.y.npy").string() + ": File too large");
  EXPECT_EQ(files_in(temporary.path()), 0U);
}

TEST(TensorFolder, needs_a_place) {
  TempFolder temporary;
  EXPECT_FALSE(TensorFolder::create("/proc/tensors", {}));
  EXPECT_FALSE(TensorFolder::create("/dev/null/tensors", {}));
}

}  // namespace
}  // namespace ridgeline::workload
