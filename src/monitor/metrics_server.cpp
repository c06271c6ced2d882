// SPDX-License-Identifier: Apache-2.0
#include "monitor/metrics_server.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "base/text.hpp"

namespace ridgeline::monitor {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using base::ErrorCode;
using base::Result;
using boost::system::error_code;

constexpr auto kPatience = std::chrono::seconds(5);
constexpr unsigned kLongestHeader = 8192;
constexpr int kMostClients = 32;

using Text = std::function<std::string()>;

/// One request and its answer; lives as long as an operation of it is pending.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const Text& text, int& clients)
      : stream_(std::move(socket)), text_(text), clients_(clients) {
    ++clients_;
    parser_.header_limit(kLongestHeader);
    parser_.body_limit(kLongestHeader);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { --clients_; }

  void run() {
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](error_code failed, std::size_t) {
      if (!failed) self->answer();
    });
  }

 private:
  void answer() {
    const auto& request = parser_.get();
    const bool reads = request.method() == http::verb::get || request.method() == http::verb::head;
    const auto path = std::string(request.target().substr(0, request.target().find('?')));
    response_.version(request.version());
    response_.set(http::field::server, "ridgeline");
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.keep_alive(false);
    if (!reads) {
      response_.result(http::status::method_not_allowed);
      response_.set(http::field::allow, "GET, HEAD");
      response_.body() = "only GET and HEAD\n";
    } else if (path == "/metrics") {
      response_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
      response_.body() = text_();
    } else if (path == "/") {
      response_.body() = "Ridgeline monitor: metrics are at /metrics\n";
    } else {
      response_.result(http::status::not_found);
      response_.body() = "not here: metrics are at /metrics\n";
    }
    response_.prepare_payload();
    if (request.method() == http::verb::head) response_.body().clear();
    stream_.expires_after(kPatience);
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  const Text& text_;
  int& clients_;
  beast::flat_buffer buffer_{kLongestHeader * 2};
  http::request_parser<http::string_body> parser_;
  http::response<http::string_body> response_;
};

struct Address {
  std::string host;
  std::string port;
};

Result<Address> parse_address(const std::string& text) {
  Address address;
  const auto colon = text.rfind(':');
  address.host = colon == std::string::npos ? "" : text.substr(0, colon);
  address.port = colon == std::string::npos ? text : text.substr(colon + 1);
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty()) address.host = "127.0.0.1";
  const auto port = base::parse_integer(address.port, "port");
  if (!port || *port < 0 || *port > 65535)
    return base::fail(ErrorCode::invalid_argument, "--prometheus {}: expected HOST:PORT with a port of 0 to 65535",
                      text)
        .hint("for example :9090");
  return address;
}

}  // namespace

struct MetricsServer::Impl {
  explicit Impl(Text to_serve) : text(std::move(to_serve)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    context.stop();
    if (thread.joinable()) thread.join();
  }

  error_code listen(const tcp::endpoint& endpoint) {
    error_code failed;
    acceptor.open(endpoint.protocol(), failed);
    if (!failed) acceptor.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor.bind(endpoint, failed);
    if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) {
      error_code ignored;
      acceptor.close(ignored);
    }
    return failed;
  }

  void accept() {
    acceptor.async_accept([this](error_code failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (!failed && clients < kMostClients) {
        std::make_shared<Session>(std::move(socket), text, clients)->run();
        accept();
        return;
      }
      // Too many clients or out of descriptors: a short rest instead of a busy loop.
      rest.expires_after(std::chrono::milliseconds(100));
      rest.async_wait([this](error_code stopped) {
        if (!stopped) accept();
      });
    });
  }

  Text text;
  int clients = 0;  // before the context: sessions that it still holds count down when it goes
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer rest{context};
  std::string url;
  std::thread thread;
};

Result<MetricsServer> MetricsServer::start(const std::string& address, Text text) {
  RL_TRY_ASSIGN(const auto parsed, parse_address(address));
  auto impl = std::make_unique<Impl>(std::move(text));
  error_code failed;
  tcp::resolver resolver(impl->context);
  const auto found =
      resolver.resolve(parsed.host, parsed.port, tcp::resolver::passive | tcp::resolver::numeric_service, failed);
  if (failed || found.empty())
    return base::fail(ErrorCode::invalid_argument,
                      "--prometheus {}: no such host: {}; expected a name or an address of this machine", address,
                      failed.message());
  for (const auto& entry : found)
    if (failed = impl->listen(entry.endpoint()); !failed) break;
  if (failed)
    return base::fail(ErrorCode::unavailable, "--prometheus {}: cannot listen: {}", address, failed.message())
        .hint("name another address or port");
  const auto local = impl->acceptor.local_endpoint(failed);
  const auto host = local.address().is_v6() ? "[" + local.address().to_string() + "]" : local.address().to_string();
  impl->url = fmt::format("http://{}:{}/metrics", host, local.port());
  impl->accept();
  impl->thread = std::thread([running = impl.get()] {
    error_code ignored;
    running->context.run(ignored);
  });
  return MetricsServer(std::move(impl));
}

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::MetricsServer(MetricsServer&&) noexcept = default;
MetricsServer& MetricsServer::operator=(MetricsServer&&) noexcept = default;
MetricsServer::~MetricsServer() = default;

const std::string& MetricsServer::url() const noexcept { return impl_->url; }

}  // namespace ridgeline::monitor
