// SPDX-License-Identifier: Apache-2.0
#include "monitor/metrics_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace ridgeline::monitor {
namespace {

int port_of(const std::string& url) { return std::stoi(url.substr(url.rfind(':') + 1)); }

int connected(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return socket;
}

std::string answer_to(int port, const std::string& request) {
  const int socket = connected(port);
  EXPECT_EQ(::send(socket, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::recv(socket, buffer, sizeof buffer, 0)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(got));
  ::close(socket);
  return answer;
}

class MetricsServerTest : public ::testing::Test {
 protected:
  std::atomic<int> calls_ = 0;
  base::Result<MetricsServer> start(const std::string& address) {
    return MetricsServer::start(address, [this] { return "up " + std::to_string(++calls_) + "\n"; });
  }
};

TEST_F(MetricsServerTest, serves_a_fresh_text_to_each_request) {
  const auto server = start(":0");
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_EQ(server->url().rfind("http://127.0.0.1:", 0), 0U);
  const int port = port_of(server->url());
  EXPECT_EQ(calls_, 0);
  const auto first = answer_to(port, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(first.rfind("HTTP/1.1 200 OK\r\n", 0), 0U) << first;
  EXPECT_NE(first.find("Content-Type: text/plain; version=0.0.4"), std::string::npos);
  EXPECT_EQ(first.substr(first.find("\r\n\r\n") + 4), "up 1\n");
  EXPECT_NE(answer_to(port, "GET /metrics?x=1 HTTP/1.0\r\n\r\n").find("up 2\n"), std::string::npos);
}

TEST_F(MetricsServerTest, answers_what_it_does_not_have) {
  const auto server = start("127.0.0.1:0");
  ASSERT_TRUE(server);
  const int port = port_of(server->url());
  EXPECT_NE(answer_to(port, "GET / HTTP/1.1\r\n\r\n").find("200 OK"), std::string::npos);
  EXPECT_NE(answer_to(port, "GET /etc/passwd HTTP/1.1\r\n\r\n").find("404 Not Found"), std::string::npos);
  EXPECT_NE(answer_to(port, "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n").find("405"), std::string::npos);
  const auto head = answer_to(port, "HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 5"), std::string::npos);
  EXPECT_EQ(head.substr(head.size() - 4), "\r\n\r\n");
}

TEST_F(MetricsServerTest, drops_rubbish_and_goes_on) {
  const auto server = start(":0");
  ASSERT_TRUE(server);
  const int port = port_of(server->url());
  EXPECT_EQ(answer_to(port, std::string("\x16\x03\x01 no http\r\n\r\n")), "");
  EXPECT_EQ(answer_to(port, "GET / HTTP/1.1\r\nX: " + std::string(8000, 'a') + std::string(8000, 'b')), "");
  EXPECT_NE(answer_to(port, "GET /metrics HTTP/1.1\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST_F(MetricsServerTest, serves_others_while_a_client_says_nothing) {
  const auto server = start(":0");
  ASSERT_TRUE(server);
  const int port = port_of(server->url());
  const int silent = connected(port);
  EXPECT_NE(answer_to(port, "GET /metrics HTTP/1.1\r\n\r\n").find("200 OK"), std::string::npos);
  ::close(silent);
}

TEST_F(MetricsServerTest, says_why_it_cannot_listen) {
  const auto first = start(":0");
  ASSERT_TRUE(first);
  const auto address = fmt::format("127.0.0.1:{}", port_of(first->url()));
  const auto second = start(address);
  ASSERT_FALSE(second);
  EXPECT_EQ(
      base::error_line(second.error()),
      fmt::format("--prometheus {}: cannot listen: Address already in use; name another address or port", address));
  for (const auto* wrong : {"", "localhost", "localhost:", "1.2.3.4:70000", ":-1", "::x"})
    EXPECT_EQ(start(wrong).error().code, base::ErrorCode::invalid_argument) << wrong;
}

TEST_F(MetricsServerTest, frees_its_port_when_it_goes) {
  int port = 0;
  {
    const auto server = start(":0");
    ASSERT_TRUE(server);
    port = port_of(server->url());
  }
  EXPECT_TRUE(start(fmt::format(":{}", port)));
}

}  // namespace
}  // namespace ridgeline::monitor
