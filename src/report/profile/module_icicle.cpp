// SPDX-License-Identifier: Apache-2.0
// The data of an icicle: "rows", parents before children, each [parent, name, kind, time, self, calls, bytes, backward
// time, time that the bytes are of] with times in nanoseconds, the parent of the root and unknown bytes -1, and the
// kind a schema::ModuleKind; "root", its title; "folded", how many rows are part of those above them; "has_backward".
#include "report/profile/module_icicle.hpp"

#include <algorithm>
#include <numeric>

#include "report/inline_text.hpp"
#include "report/messages.hpp"
#include "report/profile/profile_figures.hpp"
#include "report/profile/profile_memory.hpp"

namespace ridgeline::report {
namespace {

using base::Json;
using schema::ProfileModule;
using schema::ProfileRun;

constexpr std::size_t kMostIcicleRows = 5000;

/// The rows with most time whose parents are among them as well.
std::vector<bool> longest_rows(const ProfileRun& run) {
  const auto& rows = run.tables.modules;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](auto a, auto b) { return row_ns(run, rows[a]) > row_ns(run, rows[b]); });
  std::vector<bool> out(rows.size());
  std::size_t kept = 0;
  for (const auto i : order) {
    if (kept == kMostIcicleRows) break;
    const auto parent = rows[i].parent;
    if (parent >= 0 && !out[static_cast<std::size_t>(parent)]) continue;
    out[i] = true;
    ++kept;
  }
  return out;
}

/// Where most time is: down from the root as long as one row has nearly all of its parent's.
const ProfileModule* main_row(const ProfileRun& run) {
  const auto& rows = run.tables.modules;
  std::vector<std::size_t> longest_child(rows.size(), 0);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    auto& longest = longest_child[static_cast<std::size_t>(std::max(0, rows[i].parent))];
    if (rows[i].kind != schema::ModuleKind::unattributed &&
        (longest == 0 || row_ns(run, rows[i]) > row_ns(run, rows[longest])))
      longest = i;
  }
  if (rows.empty() || longest_child[0] == 0) return nullptr;
  auto at = longest_child[0];
  while (longest_child[at] != 0 && row_ns(run, rows[longest_child[at]]) * 10 > row_ns(run, rows[at]) * 9)
    at = longest_child[at];
  return &rows[at];
}

}  // namespace

std::optional<Icicle> module_icicle(const schema::MessageRenderer& words, const ProfileRun& run) {
  const auto& rows = run.tables.modules;
  const auto* main = main_row(run);
  if (main == nullptr || row_ns(run, *main) <= 0) return std::nullopt;
  const bool has_gpu = !run.tables.devices.empty();
  const auto kept = longest_rows(run);
  std::vector<std::int64_t> places(rows.size(), -1);
  std::size_t folded = 0;
  bool has_backward = false;
  auto out = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto time = row_ns(run, row);
    const auto parent = row.parent < 0 ? -1 : places[static_cast<std::size_t>(row.parent)];
    if (!kept[i]) {
      ++folded;
      auto self_of = row.parent;
      while (!kept[static_cast<std::size_t>(self_of)]) self_of = rows[static_cast<std::size_t>(self_of)].parent;
      auto& above = out[static_cast<std::size_t>(places[static_cast<std::size_t>(self_of)])];
      above[4] = above[4].get<std::int64_t>() + std::max<std::int64_t>(0, has_gpu ? row.gpu_self_ns : row.host_self_ns);
      continue;
    }
    places[i] = static_cast<std::int64_t>(out.size());
    has_backward = has_backward || row.backward_ns > 0;
    out.push_back(
        Json::array({parent, row.name, static_cast<int>(row.kind), time, has_gpu ? row.gpu_self_ns : row.host_self_ns,
                     row.calls, row.bytes, row.backward_ns, rated_ns(run, row)}));
  }
  Icicle icicle;
  icicle.id = "module-tree";
  icicle.title = words.text(messages::chart_modules(has_gpu));
  const auto whole = static_cast<double>(whole_ns(run));
  icicle.alternative =
      words.text(messages::chart_module({.module = plain_text(main->path),
                                         .share = static_cast<double>(row_ns(run, *main)) / std::max(1.0, whole),
                                         .whole = whole}));
  icicle.data = {{"rows", std::move(out)},
                 {"root", has_gpu             ? "all work of the GPU"
                          : is_host_only(run) ? "all calls"
                                              : "all nodes"},
                 {"folded", folded},
                 {"has_backward", has_backward}};
  return icicle;
}

}  // namespace ridgeline::report
