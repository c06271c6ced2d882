// SPDX-License-Identifier: Apache-2.0
#include "trace/import/far_records.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "trace/import/left_out.hpp"
#include "trace/messages.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;

/// Whether so many of all records are an accident, rather than what the file is like.
bool are_few(std::size_t count, std::size_t all) { return count < all && count <= std::max<std::size_t>(3, all / 10); }

/// The largest set of times without an hour between two of them; none where others are many.
Period main_period(std::vector<std::int64_t>& starts) {
  std::sort(starts.begin(), starts.end());
  std::size_t begin = 0;
  std::size_t best = 0;
  std::size_t most = 0;
  for (std::size_t i = 1; i <= starts.size(); ++i) {
    if (i < starts.size() && difference(starts[i], starts[i - 1]) <= kHour) continue;
    if (i - begin > most) {
      most = i - begin;
      best = begin;
    }
    begin = i;
  }
  const auto others = starts.size() - most;
  if (others >= most || others > std::max<std::size_t>(3, starts.size() / 10)) return {};
  return {starts[best], starts[best + most - 1]};
}

void leave_out_far_starts(Trace& trace) {
  Period all;
  each_spans(trace, [&](auto& table) {
    for (const auto start : table.start_ns) all.add(start);
  });
  if (!all.any() || all.length() <= kHour) return;
  std::vector<std::int64_t> starts;
  each_spans(trace, [&](auto& table) { starts.insert(starts.end(), table.start_ns.begin(), table.start_ns.end()); });
  const auto main = main_period(starts);
  // What lies as far away as the rest is long may be another part of the program.
  if (!main.any()) return;
  const auto least = main.reach(kHour);
  const auto is_far = [&](std::int64_t start) {
    return start < main.first ? difference(main.first, start) > least
                              : start > main.last && difference(start, main.last) > least;
  };
  if (!is_far(all.first) && !is_far(all.last)) return;
  LeftOut left_out(trace);
  std::int64_t distance = 0;
  each_spans(trace, [&](auto& table) {
    Marks marks(table.size());
    bool any = false;
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (!is_far(table.start_ns[i])) continue;
      const auto start = table.start_ns[i];
      distance = std::max(distance, start < main.first ? difference(main.first, start) : difference(start, main.last));
      marks[i] = any = true;
    }
    if (any) left_out.remove(table, marks);
  });
  trace.notes.push_back(messages::far_records(
      {.count = left_out.count(), .name = left_out.name(), .distance = static_cast<double>(distance)}));
}

/// Those that end hours from where all others begin.
void leave_out_overlong(Trace& trace) {
  Period starts;
  std::size_t all = 0;
  std::size_t count = 0;
  const auto each_overlong = [&](std::int64_t longest, auto visit) {
    each_spans(trace, [&](auto& table) {
      for (std::size_t i = 0; i < table.size(); ++i)
        if (table.duration_ns[i] > longest) visit(table, i);
    });
  };
  each_overlong(kHour, [&](auto&, std::size_t) { ++count; });
  if (count == 0) return;
  each_spans(trace, [&](auto& table) {
    all += table.size();
    for (const auto start : table.start_ns) starts.add(start);
  });
  const auto longest = starts.reach(kHour);
  count = 0;
  std::int64_t duration = 0;
  each_overlong(longest, [&](auto& table, std::size_t i) {
    ++count;
    duration = std::max(duration, table.duration_ns[i]);
  });
  if (count == 0 || !are_few(count, all)) return;
  LeftOut left_out(trace);
  each_spans(trace, [&](auto& table) {
    Marks marks(table.size());
    bool any = false;
    for (std::size_t i = 0; i < table.size(); ++i)
      if (table.duration_ns[i] > longest) marks[i] = any = true;
    if (any) left_out.remove(table, marks);
  });
  trace.notes.push_back(messages::overlong_records(
      {.count = left_out.count(), .name = left_out.name(), .duration = static_cast<double>(duration)}));
}

}  // namespace

void leave_out_far_records(Trace& trace) {
  leave_out_far_starts(trace);
  leave_out_overlong(trace);
}

void leave_out_lone_work(Trace& trace) {
  Period host;
  const auto add_all = [](Period& to, const Spans& spans) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      to.add(spans.start_ns[i]);
      to.add(spans.start_ns[i] + spans.duration_ns[i]);
    }
  };
  for (const Spans* spans : {static_cast<const Spans*>(&trace.calls), static_cast<const Spans*>(&trace.ranges),
                             static_cast<const Spans*>(&trace.nodes), static_cast<const Spans*>(&trace.syncs)})
    add_all(host, *spans);
  if (!host.any()) return;
  const auto reach = host.reach(kSecond);
  auto rest = host;
  std::size_t all = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> behind;  // begin and end
  std::vector<std::pair<std::int64_t, std::int64_t>> before;  // end and begin
  each_work(trace, [&](auto& table) {
    all += table.size();
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto start = table.start_ns[i];
      const auto end = start + table.duration_ns[i];
      if (start > host.last && difference(start, host.last) > reach) {
        behind.emplace_back(start, end);
      } else if (end < host.first && difference(host.first, end) > reach) {
        before.emplace_back(end, start);
      } else {
        rest.add(start);
        rest.add(end);
      }
    }
  });
  if (behind.size() + before.size() == 0 || !are_few(behind.size() + before.size(), all)) return;
  std::sort(behind.begin(), behind.end());
  std::sort(before.rbegin(), before.rend());
  // What goes on from one to the next is a long queue.
  std::optional<std::int64_t> lone_behind;  // from there on
  for (const auto& [start, end] : behind) {
    if (difference(start, rest.last) > rest.reach(kSecond)) {
      lone_behind = start;
      break;
    }
    rest.add(end);
  }
  std::optional<std::int64_t> lone_before;  // up to there
  for (const auto& [end, start] : before) {
    if (difference(rest.first, end) > rest.reach(kSecond)) {
      lone_before = end;
      break;
    }
    rest.add(start);
  }
  if (!lone_behind && !lone_before) return;
  std::int64_t farthest = 0;
  LeftOut left_out(trace);
  each_work(trace, [&](auto& table) {
    Marks marks(table.size());
    bool any = false;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto start = table.start_ns[i];
      const auto end = start + table.duration_ns[i];
      const bool is_behind = lone_behind && start >= *lone_behind;
      if (!is_behind && (!lone_before || end > *lone_before)) continue;
      farthest = std::max(farthest, is_behind ? difference(start, rest.last) : difference(rest.first, end));
      marks[i] = any = true;
    }
    if (any) left_out.remove(table, marks);
  });
  trace.notes.push_back(messages::lone_work(
      {.count = left_out.count(), .name = left_out.name(), .distance = static_cast<double>(farthest)}));
}

}  // namespace ridgeline::trace
