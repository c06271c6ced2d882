// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/node_paths.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kLongestBlock = 64;    // nodes
constexpr std::size_t kLeastRepeated = 4;    // nodes that a repetition covers
constexpr std::size_t kNamedOperations = 4;  // of a block, in its name

NodePath path_of_name(std::string_view name) {
  NodePath path;
  for (auto& part : base::split(name, '/'))
    if (!part.empty()) path.modules.push_back(std::move(part));
  if (path.modules.empty()) return {{}, std::string(name)};
  path.leaf = std::move(path.modules.back());
  path.modules.pop_back();
  return path;
}

/// Nodes that follow each other: `period` of them, that many times.
struct Repetition {
  std::size_t period = 1;
  std::size_t times = 1;
  [[nodiscard]] std::size_t covered() const { return period * times; }
};

/// That begins at `from` and covers most; of equal ones the shortest block. Single ones do not count.
Repetition longest_repetition(const std::vector<NameId>& operations, std::size_t from) {
  Repetition best;
  for (std::size_t period = 2; period <= kLongestBlock && from + 2 * period <= operations.size(); ++period) {
    const auto equal = [&](std::size_t block) {
      return std::equal(operations.begin() + static_cast<std::ptrdiff_t>(from),
                        operations.begin() + static_cast<std::ptrdiff_t>(from + period),
                        operations.begin() + static_cast<std::ptrdiff_t>(from + block * period));
    };
    std::size_t times = 1;
    while (from + (times + 1) * period <= operations.size() && equal(times)) ++times;
    if (times >= 2 && period * times > best.covered()) best = {period, times};
  }
  return best.covered() >= kLeastRepeated ? best : Repetition{};
}

class Blocks {
 public:
  Blocks(const Trace& trace, const std::vector<std::size_t>& order) : trace_(trace), order_(order) {
    for (const auto node : order) operations_.push_back(trace.nodes.operation[node]);
  }

  void name(std::unordered_map<NameId, NodePath>& paths) {
    std::size_t single = 0;  // first node of those that repeat nothing
    for (std::size_t at = 0; at < order_.size();) {
      const auto found = longest_repetition(operations_, at);
      if (found.times < 2) {
        ++at;
        continue;
      }
      add(single, at - single, 1, paths);
      add(at, found.period, found.times, paths);
      at += found.covered();
      single = at;
    }
    add(single, order_.size() - single, 1, paths);
  }

 private:
  void add(std::size_t from, std::size_t period, std::size_t times, std::unordered_map<NameId, NodePath>& paths) {
    if (period == 0) return;
    std::string block;
    for (std::size_t i = 0; i < std::min(period, kNamedOperations); ++i)
      block += (i > 0 ? " " : "") + std::string(trace_.strings.text(operations_[from + i]));
    if (period > kNamedOperations) block += " ...";
    // Numbers within words: parts are not alike because they differ by their number.
    const auto part = times > 1 ? fmt::format("part{}: ({}) x{}", ++parts_, block, times)
                                : fmt::format("part{}: {}", ++parts_, block);
    for (std::size_t i = from; i < from + period * times; ++i) {
      const auto name = trace_.nodes.name[order_[i]];
      auto leaf = std::string(trace_.strings.text(name));
      if (leaf.empty()) leaf = fmt::format("{} {}", trace_.strings.text(operations_[i]), i + 1);
      paths[name] = {{part}, std::move(leaf)};
    }
  }

  const Trace& trace_;
  const std::vector<std::size_t>& order_;
  std::vector<NameId> operations_;
  std::size_t parts_ = 0;
};

}  // namespace

NodePaths::NodePaths(const Trace& trace) {
  std::vector<std::size_t> order;  // of the first run: each name once
  std::size_t with_path = 0;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    const auto name = trace.nodes.name[i];
    const auto text = trace.strings.text(name);
    if (!paths_.try_emplace(name, path_of_name(text)).second) continue;
    names_.emplace(text, name);
    order.push_back(i);
    with_path += text.find('/') != std::string_view::npos ? 1U : 0U;
  }
  if (with_path * 2 < order.size()) Blocks(trace, order).name(paths_);
}

NodePath NodePaths::of(std::string_view name) const {
  const auto found = names_.find(name);
  return found != names_.end() ? paths_.at(found->second) : path_of_name(name);
}

}  // namespace ridgeline::trace
