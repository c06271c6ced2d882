// SPDX-License-Identifier: Apache-2.0
#include "watch/latency_sender.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "watch/latency_socket.hpp"

namespace ridgeline::watch {
namespace {

TEST(LatencySender, what_it_sends_is_what_the_socket_reads) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("rl_sender_{}", ::getpid());
  auto sender = LatencySender::open(path);
  ASSERT_TRUE(sender);
  sender->add(1);
  sender->flush();
  EXPECT_EQ(sender->lost(), 1) << "nobody listened yet";
  {
    const auto socket = LatencySocket::open(path);
    ASSERT_TRUE(socket);
    for (int i = 0; i < 30; ++i) sender->add(31.25);
    sender->flush();
    EXPECT_EQ(sender->sent(), 30);
    LatencyWindow window;
    for (int i = 0; i < 200 && !window.enough(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ASSERT_TRUE((*socket)->read(window));
    }
    const auto taken = window.take();
    ASSERT_EQ(taken.latency_ns.size(), 30U);
    EXPECT_EQ(taken.latency_ns.front(), 31.25e6);
    EXPECT_EQ(taken.refused, 0);
  }
  sender->add(2);
  sender->flush();
  EXPECT_EQ(sender->lost(), 2) << "nobody listens any more";
}

TEST(LatencySender, refuses_a_path_that_no_socket_can_have) {
  EXPECT_FALSE(LatencySender::open(std::string(200, 'x')));
}

}  // namespace
}  // namespace ridgeline::watch
