// SPDX-License-Identifier: Apache-2.0
#include "trace/export/output_file.hpp"

#include <sys/resource.h>
#include <zlib.h>

#include <csignal>
#include <cstdint>

#include "base/file.hpp"
#include "trace_files.hpp"

namespace ridgeline::trace {
namespace {

class OutputFileTest : public TraceFilesTest {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }
};

/// A disk that is full after that many bytes of a file.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit now{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*old_handler_)(int);
  rlimit old_{};
};

std::string lines(int count) {
  std::string out;
  for (std::int64_t i = 0; i < count; ++i) out += fmt::format("line {}\n", i * 7919 % 100'003);
  return out;
}

TEST_F(OutputFileTest, has_its_name_only_when_it_is_complete) {
  const auto text = lines(500'000);
  for (const auto* name : {"plain.json", "packed.json.gz"}) {
    auto file = OutputFile::create(path(name));
    ASSERT_TRUE(file) << file.error().message;
    for (std::size_t at = 0; at < text.size(); at += 1000) file->write(std::string_view(text).substr(at, 1000));
    EXPECT_FALSE(std::filesystem::exists(path(name)));
    ASSERT_TRUE(file->finish());
    auto* read = ::gzopen(path(name).c_str(), "rb");
    std::string back(text.size() + 1, '\0');
    back.resize(static_cast<std::size_t>(::gzread(read, back.data(), static_cast<unsigned>(back.size()))));
    ::gzclose(read);
    EXPECT_TRUE(back == text) << name;
  }
  EXPECT_LT(std::filesystem::file_size(path("packed.json.gz")), text.size() / 2);
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFileTest, a_full_disk_is_an_error_and_leaves_the_old_file) {
  for (const auto* name : {"trace.json", "trace.json.gz"}) {
    write("old", name);
    {
      const FullDisk disk(100'000);
      auto file = OutputFile::create(path(name));
      ASSERT_TRUE(file);
      for (int i = 0; i < 100; ++i) file->write(lines(20'000));
      EXPECT_TRUE(file->failed());
      const auto done = file->finish();
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, base::ErrorCode::io);
      EXPECT_NE(done.error().message.find(path(name)), std::string::npos) << done.error().message;
      EXPECT_NE(done.error().hint.find("free some space"), std::string::npos);
    }
    EXPECT_EQ(base::read_file(path(name)), "old");
  }
  EXPECT_EQ(files(), 2) << "no temporary file stays";
}

TEST_F(OutputFileTest, a_file_that_was_given_up_leaves_nothing) {
  {
    auto file = OutputFile::create(path("x"));
    ASSERT_TRUE(file);
    file->write("half");
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(OutputFileTest, says_what_to_do_where_there_is_no_folder) {
  const auto file = OutputFile::create(path("no/trace.json"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, base::ErrorCode::not_found);
  EXPECT_NE(file.error().message.find(path("no")), std::string::npos);
  EXPECT_NE(file.error().hint.find("folder"), std::string::npos);
}

}  // namespace
}  // namespace ridgeline::trace
