// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "fakes/temporary_folder.hpp"
#include "watch/latency_file.hpp"
#include "watch/latency_socket.hpp"

namespace ridgeline::watch {
namespace {

using Latencies = std::vector<double>;

void append(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

TEST(LatencyWindow, reads_numbers_of_milliseconds_and_json_of_any_unit) {
  LatencyWindow window;
  for (const auto* line : {"12.5", " 3 ", "", "# a remark", R"({"latency_us": 800, "id": 7})", R"({"latency_s": 0.25})",
                           R"({"latency_ns": 42})"})
    window.add_line(line);
  const auto taken = window.take();
  EXPECT_EQ(taken.latency_ns, (Latencies{12.5e6, 3e6, 0.8e6, 250e6, 42}));
  EXPECT_EQ(taken.refused, 0);
}

TEST(LatencyWindow, refuses_what_is_no_latency_and_says_so) {
  LatencyWindow window;
  for (const auto* line : {"GET /", "-1", "0", "nan", "1e300", "{", R"({"time": 3})", R"({"latency_ms": "3"})",
                           R"({"latency_ms": -3})", R"([1])", "\x80\xff"})
    window.add_line(line);
  const auto taken = window.take();
  EXPECT_TRUE(taken.latency_ns.empty());
  EXPECT_EQ(taken.refused, 11);
  EXPECT_EQ(taken.first_refused, "GET /");
  EXPECT_EQ(window.refused(), 0) << "a new window";
}

TEST(LatencyWindow, tells_the_mix_of_shapes) {
  LatencyWindow window;
  for (int i = 0; i < 97; ++i) window.add_line(R"({"latency_ms": 1, "shapes": {"x": [1, 3, 224, 224], "m": [1, 5]}})");
  for (int i = 0; i < 3; ++i) window.add_line(R"({"latency_ms": 1, "shapes": {"x": [8, 3, 224, 224], "m": [1, 5]}})");
  window.add_line(R"({"latency_ms": 1, "shapes": {"x": "big"}})");
  const auto taken = window.take();
  EXPECT_EQ(taken.latency_ns.size(), 101U);
  EXPECT_EQ(taken.shapes.size(), 1U);
  EXPECT_DOUBLE_EQ(taken.shares.at("m:1x5+x:8x3x224x224"), 0.03);
}

TEST(LatencyWindow, keeps_an_even_sample_of_very_many) {
  LatencyWindow window;
  for (int i = 0; i < 300'000; ++i) window.add_line(i < 150'000 ? "1" : "2");
  const auto taken = window.take();
  ASSERT_EQ(taken.latency_ns.size(), LatencyWindow::kKept);
  const auto slow = std::count(taken.latency_ns.begin(), taken.latency_ns.end(), 2e6);
  EXPECT_NEAR(static_cast<double>(slow) / LatencyWindow::kKept, 0.5, 0.02);
}

class LatencyFileTest : public ::testing::Test {
 protected:
  Latencies read(LatencyFile& file) {
    LatencyWindow window;
    const auto done = file.read(window);
    EXPECT_TRUE(done) << done.error().message;
    return window.take().latency_ns;
  }
  LatencyFile open(const base::Json& position = nullptr) {
    auto file = LatencyFile::open(path_, position);
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  }
  static std::uint64_t inode(const std::filesystem::path& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
  }
  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "latency.log";
};

TEST_F(LatencyFileTest, begins_at_the_end_and_follows_whole_lines) {
  append(path_, "1\n2\n");
  auto file = open();
  EXPECT_TRUE(read(file).empty());
  append(path_, "3\n4");
  EXPECT_EQ(read(file), Latencies{3e6});
  append(path_, "5\n6\n");
  EXPECT_EQ(read(file), (Latencies{45e6, 6e6}));
}

TEST_F(LatencyFileTest, a_renamed_file_is_read_to_its_end_before_the_new_one) {
  append(path_, "1\n");
  auto file = open();
  append(path_, "2\n");
  std::filesystem::rename(path_, folder_ / "latency.log.1");
  append(folder_ / "latency.log.1", "3\n");
  append(path_, "4\n");
  EXPECT_EQ(read(file), (Latencies{2e6, 3e6, 4e6}));
  append(path_, "5\n");
  EXPECT_EQ(read(file), Latencies{5e6});
}

TEST_F(LatencyFileTest, a_file_truncated_in_place_is_read_anew) {
  append(path_, "1\n2\n3\n");
  auto file = open();
  std::ofstream(path_, std::ios::trunc) << "7\n";
  EXPECT_EQ(read(file), Latencies{7e6});
}

TEST_F(LatencyFileTest, a_file_that_is_gone_for_a_while_is_an_error_and_then_followed_again) {
  append(path_, "1\n");
  auto file = open();
  append(path_, "2\n");
  std::filesystem::remove(path_);
  LatencyWindow window;
  const auto gone = file.read(window);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, base::ErrorCode::not_found);
  append(path_, "3\n");
  EXPECT_TRUE(file.read(window));
  EXPECT_EQ(window.take().latency_ns, (Latencies{2e6, 3e6}));
}

TEST_F(LatencyFileTest, goes_on_where_an_earlier_life_ended) {
  append(path_, "1\n2\n3");
  auto file = open({{"inode", 0}, {"offset", 0}});
  EXPECT_EQ(read(file), (Latencies{1e6, 2e6})) << "another file: all of it is new";
  const auto position = file.position();
  append(path_, "0\n4\n");
  auto next = open(position);
  EXPECT_EQ(read(next), (Latencies{30e6, 4e6}));
  std::ofstream(path_, std::ios::trunc) << "9\n";
  auto third = open(next.position());
  EXPECT_EQ(read(third), Latencies{9e6});
}

TEST_F(LatencyFileTest, the_rest_of_a_file_renamed_between_two_lives_is_read_before_the_new_one) {
  for (const auto* name : {"latency.log.1", "latency.log-20260101", "latency-20260101.log"}) {
    append(path_, "1\n");
    const auto position = open().position();
    append(path_, "2\n3\n");
    std::filesystem::rename(path_, folder_ / name);
    append(path_, "4\n");
    auto file = open(position);
    EXPECT_EQ(file.position().at("offset"), position.at("offset")) << "nothing is read yet";
    EXPECT_EQ(read(file), (Latencies{2e6, 3e6, 4e6})) << name;
    EXPECT_EQ(file.take_note(), "");
    append(path_, "5\n");
    EXPECT_EQ(read(file), Latencies{5e6});
    auto next = open(file.position());
    EXPECT_TRUE(read(next).empty());
    std::filesystem::remove(path_);
  }
}

TEST_F(LatencyFileTest, a_renamed_file_that_cannot_be_found_is_told_once) {
  append(path_, "1\n");
  const auto position = open().position();
  append(path_, "2\n");
  for (const auto* gone : {"latency.log.1.gz", "other.log"}) {  // compressed; of another service
    std::filesystem::rename(path_, folder_ / gone);
    append(path_, "4\n");
    auto file = open(position);
    EXPECT_EQ(read(file), Latencies{4e6});
    const auto note = file.take_note();
    EXPECT_NE(note.find("lines written before the rotation may be missing"), std::string::npos) << note;
    EXPECT_NE(note.find(path_.string()), std::string::npos) << note;
    EXPECT_EQ(file.take_note(), "");
    std::filesystem::rename(folder_ / gone, path_);
  }
}

TEST_F(LatencyFileTest, a_remembered_file_that_became_shorter_is_not_gone_on_with) {
  append(path_, "1\n2\n3\n");
  const auto position = open().position();
  std::filesystem::rename(path_, folder_ / "latency.log.1");
  std::ofstream(folder_ / "latency.log.1", std::ios::trunc) << "7\n";
  append(path_, "4\n");
  auto file = open(position);
  EXPECT_EQ(read(file), Latencies{4e6});
  EXPECT_NE(file.take_note().find("may be missing"), std::string::npos);
}

TEST_F(LatencyFileTest, another_file_with_the_number_of_a_removed_one_is_not_taken_for_it) {
  append(path_, "1\n");
  auto position = open().position();
  if (position.at("born") == 0) GTEST_SKIP() << "the file system tells no birth";
  position["born"] = position.at("born").get<std::int64_t>() - 1;
  append(path_, "2\n");
  auto file = open(position);
  EXPECT_EQ(read(file), (Latencies{1e6, 2e6}));
  EXPECT_NE(file.take_note().find("written before the rotation may be missing"), std::string::npos);
  std::filesystem::rename(path_, folder_ / "latency.log.1");
  append(path_, "3\n");
  auto next = open(position);
  EXPECT_EQ(read(next), Latencies{3e6});
  position.erase("born");
  auto old = open(position);
  EXPECT_EQ(read(old), (Latencies{2e6, 3e6})) << "a state of an earlier version";
}

TEST_F(LatencyFileTest, a_truncation_and_a_file_between_two_rotations_are_told) {
  append(path_, "1\n2\n");
  auto file = open();
  std::ofstream(path_, std::ios::trunc) << "3\n";
  EXPECT_EQ(read(file), Latencies{3e6});
  EXPECT_NE(file.take_note().find("lines written before that may be missing"), std::string::npos);
  const auto position = file.position();
  std::ofstream(path_, std::ios::trunc) << "";
  EXPECT_NE(open(position).take_note().find("lines written before that may be missing"), std::string::npos);

  append(path_, "4\n");
  std::filesystem::rename(path_, folder_ / "latency.log.2");
  append(folder_ / "latency.log.1", "5\n");  // a whole file that nobody looked at
  append(path_, "6\n");
  const auto begun = std::filesystem::last_write_time(folder_ / "latency.log.2");
  std::filesystem::last_write_time(folder_ / "latency.log.1", begun + std::chrono::hours(1));
  append(folder_ / "latency.log.3", "0\n");
  std::filesystem::last_write_time(folder_ / "latency.log.3", begun - std::chrono::hours(1));
  auto next = open({{"inode", inode(folder_ / "latency.log.2")}, {"offset", 0}});
  EXPECT_EQ(read(next), (Latencies{4e6, 6e6}));
  EXPECT_NE(next.take_note().find("rotated more than once"), std::string::npos);
}

TEST_F(LatencyFileTest, what_is_no_file_is_refused) {
  EXPECT_EQ(LatencyFile::open(folder_ / "none", nullptr).error().code, base::ErrorCode::not_found);
  const auto none = base::error_line(LatencyFile::open(folder_ / "none", nullptr).error());
  EXPECT_NE(none.find("No such file or directory; expected the file that the service appends"), std::string::npos);
  EXPECT_NE(none.find("--latency-file FILE"), std::string::npos) << none;
  const auto folder = LatencyFile::open(folder_.path(), nullptr);
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("no regular file"), std::string::npos);
}

void send(const std::filesystem::path& path, const std::string& text) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int out = ::socket(AF_UNIX, SOCK_DGRAM, 0);
  EXPECT_EQ(::sendto(out, text.data(), text.size(), 0, reinterpret_cast<sockaddr*>(&address), sizeof address),
            static_cast<ssize_t>(text.size()));
  ::close(out);
}

TEST(LatencySocket, takes_more_datagrams_than_a_queue_holds) {
  fakes::TemporaryFolder folder;
  const auto path = folder / "socket";
  auto socket = LatencySocket::open(path);
  ASSERT_TRUE(socket) << socket.error().message;
  for (int i = 0; i < 2000; ++i) send(path, "1\n2");
  Latencies all;
  for (int i = 0; i < 200 && all.size() < 4000; ++i) {
    LatencyWindow window;
    ASSERT_TRUE((*socket)->read(window));
    const auto taken = window.take().latency_ns;
    all.insert(all.end(), taken.begin(), taken.end());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(all.size(), 4000U);
  socket->reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(LatencySocket, replaces_one_left_behind_and_nothing_else) {
  fakes::TemporaryFolder folder;
  const auto path = folder / "socket";
  {
    auto first = LatencySocket::open(path);
    ASSERT_TRUE(first);
    EXPECT_EQ(LatencySocket::open(path).error().code, base::ErrorCode::unavailable);
    std::filesystem::create_hard_link(path, folder / "left");
  }
  EXPECT_TRUE(LatencySocket::open(folder / "left"));
  append(folder / "file", "precious");
  EXPECT_NE(LatencySocket::open(folder / "file").error().message.find("something else"), std::string::npos);
  EXPECT_EQ(LatencySocket::open(std::string(200, 'x')).error().code, base::ErrorCode::invalid_argument);
  const auto nowhere = base::error_line(LatencySocket::open(folder / "none/socket").error());
  EXPECT_NE(nowhere.find("No such file or directory; expected a path in a folder"), std::string::npos) << nowhere;
  EXPECT_NE(nowhere.find("--latency-socket PATH"), std::string::npos) << nowhere;
}

}  // namespace
}  // namespace ridgeline::watch
