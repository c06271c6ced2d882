// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/range_paths.hpp"

#include <algorithm>
#include <limits>

#include "schema/profile.hpp"
#include "trace/analysis/range_names.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::uint32_t kUnread = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void each_part(std::string_view path, const std::function<void(RangeKind, std::string_view)>& visit) {
  while (!path.empty()) {
    const auto end = std::min(path.find('\n'), path.size());
    const auto part = path.substr(0, end);
    const bool is_range = !part.empty() && part.front() >= '0' && part.front() <= '9';
    if (is_range) visit(static_cast<RangeKind>(part.front() - '0'), part.substr(1));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
}

std::string_view session_node(std::string_view path) {
  path.remove_prefix(path.rfind('\n') + 1);
  return path.starts_with(kSessionNode) ? path.substr(1) : std::string_view();
}

RangePaths::RangePaths(const Trace& trace, const Nesting& nesting, Names names)
    : trace_(trace), nesting_(nesting), kind_of_names_(names), of_range_(trace.ranges.size(), kUnread) {
  for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
    const auto [found, is_new] = name_of_string_.try_emplace(trace.ranges.name[i], 0);
    if (is_new) found->second = name_of(trace.strings.text(trace.ranges.name[i]));
    know(trace.ranges.kind[i], found->second);
  }
  for (const auto& node : trace.graph_nodes)
    if (of_text_.try_emplace(node.path, kUnread).second)
      each_part(trace.strings.text(node.path),
                [&](RangeKind kind, std::string_view name) { know(kind, name_of(name)); });
}

NameId RangePaths::name_of(std::string_view text) {
  return kind_of_names_ == Names::exact ? names_.id(text) : names_.id(schema::module_class(text));
}

void RangePaths::know(RangeKind kind, NameId name) {
  if (name >= known_.size()) known_.resize(std::size_t{name} + 1);
  known_[name] |= 1U << static_cast<unsigned>(kind) % 32;
}

std::uint32_t RangePaths::below(std::uint32_t parent, RangeKind kind, NameId name) {
  return below_.try_emplace({parent, kind, name}, static_cast<std::uint32_t>(below_.size() + 1)).first->second;
}

std::uint32_t RangePaths::of_range(Place range) {
  std::vector<Place> unread;
  auto at = range;
  for (; at != kNowhere && of_range_[at] == kUnread; at = nesting_.parent_of_range[at]) unread.push_back(at);
  auto path = at == kNowhere ? kNone : of_range_[at];
  while (!unread.empty()) {
    at = unread.back();
    unread.pop_back();
    const auto name = trace_.ranges.name[at];
    // Which step it is, no launch that was counted outside of recorded steps knows.
    const bool numbers_step =
        trace_.ranges.kind[at] == RangeKind::annotation && is_profiler_step(trace_.strings.text(name));
    if (!numbers_step) path = below(path, trace_.ranges.kind[at], name_of_string_.at(name));
    of_range_[at] = path;
  }
  return path;
}

std::uint32_t RangePaths::of_text(NameId path) {
  auto& out = of_text_.try_emplace(path, kUnread).first->second;
  if (out != kUnread) return out;
  out = kNone;
  each_part(trace_.strings.text(path), [&](RangeKind kind, std::string_view text) {
    const auto name = name_of(text);
    const bool is_known = name < known_.size() && (known_[name] >> static_cast<unsigned>(kind) % 32 & 1U) != 0;
    if (out != kNone || is_known) out = below(out, kind, name);
  });
  return out;
}

}  // namespace ridgeline::trace
