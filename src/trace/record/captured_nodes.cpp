// SPDX-License-Identifier: Apache-2.0
#include "trace/record/captured_nodes.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kProfileTick = 1000;  // ns: ONNX Runtime cuts times to microseconds

struct Capture {
  std::string_view ranges;  ///< the path before the time
  std::int64_t at_ns = 0;
  std::int64_t thread = 0;
};

std::optional<Capture> capture_of(std::string_view path) {
  const auto end = path.rfind('\n');
  if (end == std::string_view::npos || path.substr(end + 1, 1) != std::string_view(&kCaptureTime, 1)) return {};
  Capture out{.ranges = path.substr(0, end)};
  const auto* const last = path.data() + path.size();
  const auto [space, wrong] = std::from_chars(path.data() + end + 2, last, out.at_ns);
  if (wrong != std::errc() || space == last || std::from_chars(space + 1, last, out.thread).ec != std::errc())
    return {};
  return out;
}

/// The nodes of a session by thread, in the order of their starts.
class NodesByTime {
 public:
  NodesByTime(const Trace& session, std::int64_t zero_ns) : session_(session), zero_ns_(zero_ns) {
    for (std::size_t i = 0; i < session.nodes.size(); ++i)
      of_thread_[session.thread_lanes[session.nodes.lane[i]].thread].push_back(i);
    for (auto& [thread, nodes] : of_thread_)
      std::stable_sort(nodes.begin(), nodes.end(), [&](auto a, auto b) { return start(a) < start(b); });
  }

  /// The name of the node that ran then, of those within each other the innermost; "": none.
  [[nodiscard]] std::string_view at(std::int64_t thread, std::int64_t time_ns) const {
    const auto found = of_thread_.find(thread);
    if (found == of_thread_.end()) return {};
    const auto& nodes = found->second;
    auto after = std::partition_point(nodes.begin(), nodes.end(), [&](auto node) { return start(node) <= time_ns; });
    for (auto left = kDeepest; after != nodes.begin() && left > 0; --left) {
      const auto node = *--after;
      if (start(node) + session_.nodes.duration_ns[node] + kProfileTick <= time_ns) continue;
      const auto name = session_.strings.text(session_.nodes.name[node]);
      return name.empty() ? session_.strings.text(session_.nodes.operation[node]) : name;
    }
    return {};
  }

 private:
  static constexpr int kDeepest = 64;  // nodes with subgraphs, and the nodes of these before

  [[nodiscard]] std::int64_t start(std::size_t node) const { return zero_ns_ + session_.nodes.start_ns[node]; }

  const Trace& session_;
  const std::int64_t zero_ns_;
  std::map<std::int64_t, std::vector<std::size_t>> of_thread_;
};

}  // namespace

void name_captured_nodes(const Trace& session, std::int64_t process, std::int64_t zero_ns, Trace& trace) {
  const NodesByTime nodes(session, zero_ns);
  for (auto& node : trace.graph_nodes) {
    if (node.process != process) continue;
    const auto capture = capture_of(trace.strings.text(node.path));
    const auto name = capture ? nodes.at(capture->thread, capture->at_ns) : std::string_view();
    if (!name.empty())
      node.path = trace.strings.id(std::string(capture->ranges) + '\n' + kSessionNode + std::string(name));
  }
}

void forget_capture_times(Trace& trace) {
  for (auto& node : trace.graph_nodes)
    if (const auto capture = capture_of(trace.strings.text(node.path)))
      node.path = trace.strings.id(std::string(capture->ranges));
}

}  // namespace ridgeline::trace
