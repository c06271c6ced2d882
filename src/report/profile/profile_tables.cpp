// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/profile/profile_memory.hpp"
#include "schema/execution_provider.hpp"
#include "schema/kernel_name.hpp"
#include "stats/mean.hpp"
#include "stats/quantile.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileModule;
using schema::ProfileRun;

std::string cell_time(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

std::string cell_share(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::string(kAbsent);
  const auto share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}f} %", share, share < 9.95 ? 1 : 0);
}

std::string cell_bytes(std::int64_t bytes) {
  return bytes < 0 ? std::string(kAbsent) : base::format_bytes(static_cast<double>(bytes));
}

/// Bytes in nanoseconds are GB in seconds.
std::string cell_rate(std::int64_t bytes, std::int64_t ns) {
  if (bytes < 0 || ns <= 0) return std::string(kAbsent);
  const auto rate = static_cast<double>(bytes) / static_cast<double>(ns);
  return fmt::format("{:.{}f}", rate, rate < 9.95 ? 1 : 0);
}

/// What bytes and time that are not of the same work make: memory is never that fast. `peak` in bytes per second, 0:
/// unknown.
bool is_beyond(double peak, std::int64_t bytes, std::int64_t ns) {
  return peak > 0 && bytes > 0 && ns > 0 &&
         static_cast<double>(bytes) * 1e9 / static_cast<double>(ns) > kMostOfPeak * peak;
}

std::string cell_rate(double peak, std::int64_t bytes, std::int64_t ns) {
  return is_beyond(peak, bytes, ns) ? std::string(kAbsent) : cell_rate(bytes, ns);
}

std::string cell_flops(std::int64_t flops, std::int64_t ns) {
  if (flops == 0) return "";
  if (flops < 0 || ns <= 0) return std::string(kAbsent);
  const auto rate = static_cast<double>(flops) / static_cast<double>(ns);
  return fmt::format("{:.{}f}", rate, rate < 9.95 ? 1 : 0);
}

constexpr double kWholeRoof = 1.005;  // 100 %, rounded

/// How near to what the device reaches at best. Nothing goes beyond that: a larger share is none (rate_notes).
std::string cell_roof(const schema::ProfileRoof& roof, std::int64_t bytes, std::int64_t flops, std::int64_t ns) {
  const auto share = roof.share(bytes, flops, ns);
  return share && *share <= kWholeRoof ? fmt::format("{:.0f} %", 100 * *share) : std::string(kAbsent);
}

/// What times of nodes are a share of: on a GPU the rows of the module tree have other times.
std::int64_t whole_of_nodes(const ProfileRun& run) {
  if (run.tables.devices.empty()) return whole_ns(run);
  std::int64_t sum = 0;
  for (const auto& node : run.tables.nodes) sum += node.total_ns;
  return sum;
}

/// What stands among the kernels: graphs that were recorded as a whole, too.
std::string_view kernel_words(std::int64_t kernels, std::int64_t graph_launches) {
  if (graph_launches == 0) return "kernels";
  return kernels == 0 ? "graph launches" : "kernels and graph launches";
}

bool has_roof(const ProfileRun& run) { return run.roof.bytes_per_s > 0 || run.roof.flops_per_s > 0; }

std::string cell_peak(double peak, std::int64_t bytes, std::int64_t ns) {
  if (bytes < 0 || ns <= 0 || is_beyond(peak, bytes, ns)) return std::string(kAbsent);
  return fmt::format("{:.0f} %", 100 * static_cast<double>(bytes) * 1e9 / static_cast<double>(ns) / peak);
}

/// Of any row: a column without a number is left out.
bool any_of(const std::vector<ProfileModule>& rows, const std::function<bool(const ProfileModule&)>& has) {
  return std::any_of(rows.begin(), rows.end(), has);
}

/// A row as it is shown: of one module, or of several that are alike and stand beside each other.
struct ShownModule {
  std::string name;
  schema::ModuleKind kind = schema::ModuleKind::module;
  std::int64_t modules = 1;
  std::int64_t calls = 0;
  std::int64_t time_ns = 0;
  std::int64_t self_ns = 0;
  std::int64_t backward_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t kernels = 0;
  std::int64_t bytes = -1;
  std::int64_t bytes_ns = 0;  ///< that they are of
  std::int64_t flops = -1;
  std::int64_t flops_ns = 0;  ///< that they are of
  std::vector<ShownModule> children;

  void add(ShownModule other) {
    modules += other.modules;
    calls += other.calls;
    time_ns += other.time_ns;
    self_ns += other.self_ns;
    backward_ns += other.backward_ns;
    host_ns += other.host_ns;
    kernels += other.kernels;
    if (other.bytes >= 0) bytes = std::max<std::int64_t>(bytes, 0) + other.bytes;
    bytes_ns += other.bytes_ns;
    if (other.flops >= 0) flops = std::max<std::int64_t>(flops, 0) + other.flops;
    flops_ns += other.flops_ns;
    children.insert(children.end(), std::make_move_iterator(other.children.begin()),
                    std::make_move_iterator(other.children.end()));
  }
};

/// A name that is a place in a container, "model.7", says nothing of what the module is.
bool is_place_in_container(std::string_view class_name) { return class_name == "#" || class_name.ends_with(".#"); }

/// "Block" of "Block_#".
std::string class_title(std::string_view name) {
  auto title = schema::module_class(name);
  if (is_place_in_container(title)) return title;
  while (!title.empty() && std::string_view("#._- ").find(title.back()) != std::string_view::npos) title.pop_back();
  return title.empty() ? std::string(name) : title;
}

class ModuleRows {
 public:
  ModuleRows(const ProfileRun& run, const ModuleView& view) : run_(run), view_(view) {
    const auto& rows = run.tables.modules;
    has_gpu_ = !run.tables.devices.empty();
    has_backward_ = any_of(rows, [](const auto& row) { return row.backward_ns > 0; });
    has_bytes_ = any_of(rows, [](const auto& row) { return row.bytes >= 0; });
    peak_ = peak_bytes_per_s(run);
    has_flops_ = any_of(rows, [](const auto& row) { return row.flops > 0; });
    root_ = read_tree();
    if (view.depth == 0) {
      merge_alike(root_);
      find_least();
    }
    sort_rows(root_);
  }

  Table table() {
    table_.columns = {
        {"Module", Align::left}, {"Calls", Align::right, true}, {"Time", Align::right}, {"Share", Align::right}};
    table_.columns.push_back({"Self", Align::right, true});
    if (has_backward_) table_.columns.push_back({"Backward", Align::right, true});
    if (has_gpu_) table_.columns.push_back({"Kernels", Align::right, true});
    if (has_bytes_) {
      table_.columns.push_back({"Bytes", Align::right});
      table_.columns.push_back({"GB/s", Align::right});
      if (peak_ > 0) table_.columns.push_back({"Share of peak", Align::right});
    }
    if (has_flops_) table_.columns.push_back({"GFLOP/s", Align::right});
    if (has_roof(run_)) table_.columns.push_back({"Of roof", Align::right});
    if (has_gpu_) table_.columns.push_back({"Host", Align::right, true});
    add_children(root_, 0);
    return std::move(table_);
  }

 private:
  [[nodiscard]] ShownModule read_tree() const {
    const auto& rows = run_.tables.modules;
    std::vector<ShownModule> shown(rows.size());
    for (auto i = rows.size(); i-- > 0;) {
      const auto& row = rows[i];
      auto& own = shown[i];
      std::reverse(own.children.begin(), own.children.end());
      auto children = std::move(own.children);
      own = {row.name,
             row.kind,
             1,
             row.calls,
             row_ns(run_, row),
             has_gpu_ ? row.gpu_self_ns : row.host_self_ns,
             row.backward_ns,
             row.host_total_ns,
             row.kernels,
             row.bytes,
             rated_ns(run_, row),
             row.flops,
             row.flops_ns < 0 ? row_ns(run_, row) : row.flops_ns,
             std::move(children)};
      if (row.parent >= 0) shown[static_cast<std::size_t>(row.parent)].children.push_back(std::move(own));
    }
    return shown.empty() ? ShownModule() : std::move(shown.front());
  }

  /// What modules have in common that are shown as one: their class, or in a container what they are made of.
  static std::string likeness(const ShownModule& row) {
    auto out = schema::module_class(row.name);
    if (!is_place_in_container(out)) return out;
    std::set<std::string> parts;
    for (const auto& child : row.children)
      if (child.kind == schema::ModuleKind::module) parts.insert(schema::module_class(child.name));
    return fmt::format("{} of {}", out, fmt::join(parts, "/"));
  }

  /// Modules of one class beside each other are one row: the 24 layers of a network.
  static void merge_alike(ShownModule& of) {
    std::map<std::pair<std::string, schema::ModuleKind>, std::size_t> places;
    std::vector<ShownModule> merged;
    for (auto& child : of.children) {
      const auto [found, is_new] = places.try_emplace({likeness(child), child.kind}, merged.size());
      if (is_new)
        merged.push_back(std::move(child));
      else
        merged[found->second].add(std::move(child));
    }
    for (auto& row : merged)
      if (row.modules > 1) row.name = class_title(row.name);
    of.children = std::move(merged);
    for (auto& child : of.children) merge_alike(child);
  }

  void sort_rows(ShownModule& of) const {
    std::stable_sort(of.children.begin(), of.children.end(), [&](const auto& a, const auto& b) {
      switch (view_.order) {
        case ModuleOrder::time: return a.time_ns > b.time_ns;
        case ModuleOrder::calls: return a.calls > b.calls;
        case ModuleOrder::bytes: return a.bytes > b.bytes;
        case ModuleOrder::name: return a.name < b.name;
      }
      return false;
    });
    for (auto& child : of.children) sort_rows(child);
  }

  /// The share that lets through no more rows than are wanted.
  void find_least() {
    std::vector<std::int64_t> times;
    const std::function<void(const ShownModule&)> see = [&](const ShownModule& row) {
      for (const auto& child : row.children) {
        times.push_back(child.time_ns);
        see(child);
      }
    };
    see(root_);
    least_ns_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(view_.least * static_cast<double>(whole_ns(run_))));
    if (times.size() <= view_.most) return;
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(view_.most);
    std::nth_element(times.begin(), at, times.end(), std::greater<>());
    least_ns_ = std::max(least_ns_, *at + 1);
  }

  [[nodiscard]] bool shows(const ShownModule& row, int level) const {
    return view_.depth > 0 ? level < view_.depth && row.time_ns > 0 : row.time_ns >= least_ns_;
  }

  void add_children(const ShownModule& of, int level) {
    std::int64_t hidden = 0;
    std::int64_t hidden_ns = 0;
    std::size_t shown = 0;
    for (const auto& child : of.children) {
      if (shows(child, level)) {
        add(child, level);
        ++shown;
      } else {
        hidden += child.modules;
        hidden_ns += child.time_ns;
      }
    }
    if (shown > 0 && (hidden_ns > 0 || (hidden > 0 && view_.depth > 0))) add_rest(hidden, hidden_ns, level);
  }

  [[nodiscard]] static std::string indented(std::string name, int level) {
    std::string out;
    for (int i = 0; i < level; ++i) out += "\u00a0\u00a0";  // a blank would be collapsed in a page
    return out + name;
  }

  void add_rest(std::int64_t hidden, std::int64_t ns, int level) {
    std::vector<std::string> cells(table_.columns.size(), "");
    cells[0] = indented(fmt::format("({} more{})", hidden, ns > 0 ? "" : " without time"), level);
    if (ns > 0) {
      cells[2] = cell_time(ns);
      cells[3] = cell_share(ns, whole_ns(run_));
    }
    table_.rows.push_back({std::move(cells), Tone::neutral, ""});
  }

  /// A row whose only child has all its time is one line with it: "encoder/layers".
  void add(const ShownModule& first, int level) {
    const auto* row = &first;
    const auto name_of = [](const ShownModule& one) {
      return one.modules > 1 ? fmt::format("{} x {}", one.modules, one.name) : one.name;
    };
    auto name = name_of(*row);
    while (view_.depth == 0 && row->children.size() == 1 && row->kind == schema::ModuleKind::module &&
           row->children.front().time_ns == row->time_ns) {
      const auto above = row->modules;
      row = &row->children.front();
      name += "/" + (row->modules == above ? row->name : name_of(*row));
    }
    std::vector<std::string> cells{
        indented(plain_text(name), level), row->calls > 0 ? fmt::format("{}", row->calls) : "", cell_time(row->time_ns),
        cell_share(row->time_ns, whole_ns(run_)), row->self_ns > 0 ? cell_time(row->self_ns) : ""};
    if (has_backward_) cells.push_back(row->backward_ns > 0 ? cell_time(row->backward_ns) : "");
    if (has_gpu_) cells.push_back(fmt::format("{}", row->kernels));
    if (has_bytes_) {
      cells.push_back(cell_bytes(row->bytes));
      cells.push_back(cell_rate(peak_, row->bytes, row->bytes_ns));
      if (peak_ > 0) cells.push_back(cell_peak(peak_, row->bytes, row->bytes_ns));
    }
    if (has_flops_) cells.push_back(cell_flops(row->flops, row->flops_ns));
    // Of the same nodes, or it is a share of nothing.
    if (has_roof(run_))
      cells.push_back(cell_roof(run_.roof, row->bytes, row->flops, row->flops_ns == row->bytes_ns ? row->flops_ns : 0));
    if (has_gpu_) cells.push_back(row->host_ns > 0 ? cell_time(row->host_ns) : "");
    const auto tone = row->kind == schema::ModuleKind::unattributed ? Tone::warning : Tone::neutral;
    table_.rows.push_back({std::move(cells), tone, ""});
    add_children(*row, level + 1);
  }

  const ProfileRun& run_;
  ModuleView view_;
  ShownModule root_;
  std::int64_t least_ns_ = 1;
  bool has_gpu_ = false;
  bool has_backward_ = false;
  bool has_bytes_ = false;
  bool has_flops_ = false;
  double peak_ = 0;  ///< bytes in a second
  Table table_;
};

/// `peak` 0: of no use for this work.
Table named_work(const std::vector<schema::ProfileKernel>& work, std::int64_t whole, std::size_t most,
                 std::string_view title, double peak) {
  Table table;
  const bool has_bytes = std::any_of(work.begin(), work.end(), [](const auto& row) { return row.bytes >= 0; });
  const bool has_modules = std::any_of(work.begin(), work.end(), [](const auto& row) { return !row.module.empty(); });
  table.columns = {{std::string(title), Align::left},
                   {"Calls", Align::right},
                   {"Time", Align::right},
                   {"Share", Align::right},
                   {"Mean", Align::right, true}};
  if (has_bytes) {
    table.columns.push_back({"Bytes", Align::right});
    table.columns.push_back({"GB/s", Align::right});
    if (peak > 0) table.columns.push_back({"Share of peak", Align::right});
  }
  if (has_modules) table.columns.push_back({"Mostly in", Align::left, true, true});
  for (std::size_t i = 0; i < std::min(most, work.size()); ++i) {
    const auto& row = work[i];
    std::vector<std::string> cells{code_mark(schema::short_kernel_name(row.name)), fmt::format("{}", row.calls),
                                   cell_time(row.total_ns), cell_share(row.total_ns, whole),
                                   cell_time(row.total_ns / std::max<std::int64_t>(1, row.calls))};
    if (has_bytes) {
      cells.push_back(cell_bytes(row.bytes));
      cells.push_back(cell_rate(peak, row.bytes, row.rated_ns()));
      if (peak > 0) cells.push_back(cell_peak(peak, row.bytes, row.rated_ns()));
    }
    if (has_modules) cells.push_back(plain_text(row.module));
    table.rows.push_back({std::move(cells), Tone::neutral, ""});
  }
  return table;
}

}  // namespace

bool tells_rate(const ProfileRun& run, std::int64_t calls, std::int64_t ns) {
  return !run.cost || static_cast<double>(ns) > static_cast<double>(calls) * run.cost->event_ns;
}

std::vector<std::string> rate_notes(const ProfileRun& run) {
  const auto& all = run.tables.nodes;
  std::size_t short_ones = 0;
  std::size_t beyond = 0;
  double most = 0;
  for (const auto& node : all) {
    if (!tells_rate(run, node.calls, node.total_ns)) {
      ++short_ones;
      continue;
    }
    const auto share = run.roof.share(node.bytes, node.flops, node.total_ns).value_or(0);
    if (share <= kWholeRoof) continue;
    ++beyond;
    most = std::max(most, share);
  }
  std::vector<std::string> out;
  if (short_ones > 0)
    out.push_back(fmt::format("no rates of {} of {} nodes: they take less than the {} that the profiler takes for one",
                              short_ones, all.size(), base::format_duration(run.cost->event_ns)));
  if (beyond > 0)
    out.push_back(fmt::format(
        "{} of {} nodes would reach more than that, up to {:.0f} %: what they move is in caches, which no roof was "
        "measured of, or their time or the roof was measured wrongly; their shares are not given",
        beyond, all.size(), 100 * most));
  const auto peak = peak_bytes_per_s(run);
  std::size_t kernels = 0;
  double fastest = 0;
  for (const auto& kernel : run.tables.kernels) {
    if (!is_beyond(peak, kernel.bytes, kernel.rated_ns())) continue;
    ++kernels;
    fastest = std::max(fastest, static_cast<double>(kernel.bytes) / static_cast<double>(kernel.rated_ns()));
  }
  if (kernels > 0)
    out.push_back(fmt::format(
        "{} of {} kernels would move more than the memory's {:.0f} GB/s, up to {:.0f}: their bytes and times are not "
        "of the same work, or the trace has another peak than the GPU; their GB/s are not given",
        kernels, run.tables.kernels.size(), peak / 1e9, fastest));
  return out;
}

ProfileRun per_run(ProfileRun run) {
  const auto runs = run.tables.runs;
  if (runs <= 1) return run;
  const auto divide = [&](std::int64_t& value) { value = value < 0 ? value : (value + runs / 2) / runs; };
  for (auto& node : run.tables.nodes)
    for (auto* value : {&node.calls, &node.total_ns, &node.bytes, &node.flops, &node.bytes_ns}) divide(*value);
  for (auto& row : run.tables.modules)
    for (auto* value :
         {&row.calls, &row.host_self_ns, &row.host_total_ns, &row.bytes, &row.flops, &row.bytes_ns, &row.flops_ns})
      divide(*value);
  for (auto& finding : run.findings) divide(finding.saving_ns);
  run.tables.runs = 1;
  return run;
}

std::int64_t whole_ns(const ProfileRun& run) {
  return run.tables.modules.empty() ? 0 : row_ns(run, run.tables.modules.front());
}

std::int64_t row_ns(const ProfileRun& run, const ProfileModule& row) {
  return run.tables.devices.empty() ? row.host_total_ns : row.gpu_total_ns;
}

std::int64_t rated_ns(const ProfileRun& run, const ProfileModule& row) {
  if (row.bytes < 0) return 0;
  return row.bytes_ns < 0 ? row_ns(run, row) : row.bytes_ns;  // of runs that were stored before it was counted
}

std::string_view cause_text(schema::IdleCause cause) noexcept {
  switch (cause) {
    case schema::IdleCause::launch: return "idle: launch-bound, the host is behind";
    case schema::IdleCause::host_work: return "idle: other work on the host";
    case schema::IdleCause::host_unrecorded: return "idle: host, not recorded";
    case schema::IdleCause::sync: return "idle: after a synchronization";
    case schema::IdleCause::data_loading: return "idle: waiting for data";
    case schema::IdleCause::allocation: return "idle: memory allocation";
    case schema::IdleCause::compilation: return "idle: compiling or loading code";
    case schema::IdleCause::profiler: return "idle: profiler overhead";
    case schema::IdleCause::queue: return "idle: between queued kernels";
    case schema::IdleCause::unknown: return "idle: the trace does not show why";
  }
  return "";
}

double peak_bytes_per_s(const ProfileRun& run) {
  const auto& devices = run.tables.devices;
  if (devices.empty()) return 0;
  const auto peak = devices.front().memory_bytes_per_s;
  const bool alike = std::all_of(devices.begin(), devices.end(),
                                 [&](const auto& device) { return device.memory_bytes_per_s == peak; });
  return alike ? static_cast<double>(peak) : 0;
}

Table time_table(const ProfileRun& run) {
  Table table;
  const auto& devices = run.tables.devices;
  if (devices.empty()) return table;
  table.columns = {{"GPU", Align::left}, {"What it did", Align::left}, {"Time", Align::right}, {"Share", Align::right}};
  const bool several = std::any_of(devices.begin(), devices.end(),
                                   [&](const auto& one) { return one.process != devices.front().process; });
  for (const auto& device : devices) {
    const auto name =
        fmt::format("{}{}", device.device, several ? fmt::format(" (process {})", device.process) : std::string());
    const auto add = [&](std::string_view what, std::int64_t ns, Tone tone) {
      if (ns > 0)
        table.rows.push_back({{name, std::string(what), cell_time(ns), cell_share(ns, device.span_ns)}, tone, ""});
    };
    add(kernel_words(device.kernels, device.graph_launches), device.kernel_ns, Tone::good);
    add("copies and memsets without kernels", device.copy_ns - device.both_ns, Tone::neutral);
    for (const auto& idle : device.idle) add(cause_text(idle.cause), idle.total_ns, Tone::warning);
  }
  return table;
}

Table module_table(const ProfileRun& run, const ModuleView& view) { return ModuleRows(run, view).table(); }

std::string kernels_title(const ProfileRun& run) {
  std::int64_t kernels = 0;
  std::int64_t graph_launches = 0;
  for (const auto& device : run.tables.devices) {
    kernels += device.kernels;
    graph_launches += device.graph_launches;
  }
  std::string title(kernel_words(kernels, graph_launches));
  title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

Table kernels_table(const ProfileRun& run, std::size_t most) {
  return named_work(run.tables.kernels, whole_ns(run), most, "Kernel", peak_bytes_per_s(run));
}

Table copies_table(const ProfileRun& run, std::size_t most) {
  return named_work(run.tables.copies, whole_ns(run), most, "Copy", 0);
}

Table nodes_table(const ProfileRun& run, std::size_t most) {
  Table table;
  table.columns = {{"Node", Align::left},         {"Operation", Align::left}, {"Provider", Align::left, true},
                   {"Calls", Align::right, true}, {"Time", Align::right},     {"Share", Align::right},
                   {"Bytes", Align::right},       {"GB/s", Align::right},     {"GFLOP/s", Align::right}};
  if (has_roof(run)) table.columns.push_back({"Of roof", Align::right});
  const auto& nodes = run.tables.nodes;
  for (std::size_t i = 0; i < std::min(most, nodes.size()); ++i) {
    const auto& node = nodes[i];
    const auto* row = schema::find_provider_named(node.provider);
    const auto provider = row == nullptr ? node.provider : row->title;
    const auto told_ns = tells_rate(run, node.calls, node.total_ns) ? node.total_ns : 0;
    table.rows.push_back({{code_mark(node.name.empty() ? "(no name)" : node.name), node.operation, provider,
                           fmt::format("{}", node.calls), cell_time(node.total_ns),
                           cell_share(node.total_ns, whole_of_nodes(run)), cell_bytes(node.bytes),
                           cell_rate(node.bytes, told_ns > 0 ? node.rated_ns() : 0), cell_flops(node.flops, told_ns)},
                          Tone::neutral,
                          ""});
    if (has_roof(run)) table.rows.back().cells.push_back(cell_roof(run.roof, node.bytes, node.flops, told_ns));
  }
  return table;
}

Table operations_table(const ProfileRun& run, std::size_t most) {
  struct Sum {
    std::int64_t nodes = 0;
    std::int64_t calls = 0;
    std::int64_t total_ns = 0;
    std::int64_t bytes = 0;
    std::int64_t flops = 0;
    std::int64_t bytes_ns = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& node : run.tables.nodes) {
    auto& sum = sums[node.operation];
    ++sum.nodes;
    sum.calls += node.calls;
    sum.total_ns += node.total_ns;
    sum.bytes = node.bytes < 0 || sum.bytes < 0 ? -1 : sum.bytes + node.bytes;
    sum.bytes_ns += node.rated_ns();
    sum.flops = node.flops < 0 || sum.flops < 0 ? -1 : sum.flops + node.flops;
  }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.total_ns > b.second.total_ns; });
  Table table;
  table.columns = {{"Operation", Align::left}, {"Nodes", Align::right}, {"Time", Align::right},
                   {"Share", Align::right},    {"Bytes", Align::right}, {"GB/s", Align::right},
                   {"GFLOP/s", Align::right}};
  if (has_roof(run)) table.columns.push_back({"Of roof", Align::right});
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
    const auto& [name, sum] = sorted[i];
    const auto told_ns = tells_rate(run, sum.calls, sum.total_ns) ? sum.total_ns : 0;
    table.rows.push_back(
        {{name, fmt::format("{}", sum.nodes), cell_time(sum.total_ns), cell_share(sum.total_ns, whole_of_nodes(run)),
          cell_bytes(sum.bytes), cell_rate(sum.bytes, told_ns > 0 ? sum.bytes_ns : 0), cell_flops(sum.flops, told_ns)},
         Tone::neutral,
         ""});
    if (has_roof(run)) table.rows.back().cells.push_back(cell_roof(run.roof, sum.bytes, sum.flops, told_ns));
  }
  return table;
}

Table steps_table(const ProfileRun& run) {
  Table table;
  const auto& steps = run.tables.steps;
  if (steps.empty()) return table;
  const bool has_gpu = !run.tables.devices.empty();
  std::vector<double> durations;
  std::vector<double> work;
  for (const auto& step : steps) {
    durations.push_back(static_cast<double>(step.duration_ns));
    work.push_back(static_cast<double>(step.work_ns));
  }
  table.columns = {{"Of a " + plain_text(run.tables.step_name), Align::left},
                   {"Median", Align::right},
                   {"Least", Align::right},
                   {"Most", Align::right},
                   {"Spread", Align::right}};
  const auto add = [&](const std::string& name, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto middle = stats::quantile(values, 0.5);
    const auto spread = values.size() < 2 || middle <= 0
                            ? std::string(kAbsent)
                            : fmt::format("{:.1f} %", 100 * std::sqrt(stats::variance(values)) / middle);
    table.rows.push_back({{name, base::format_duration(middle), base::format_duration(values.front()),
                           base::format_duration(values.back()), spread},
                          Tone::neutral,
                          ""});
  };
  add("time on the host", durations);
  if (!is_host_only(run)) add(has_gpu ? "work on the GPU" : "time of its nodes", work);
  return table;
}

Table idle_table(const ProfileRun& run) {
  Table table;
  table.columns = {{"GPU", Align::left},      {"Cause", Align::left},
                   {"Gaps", Align::right},    {"Time", Align::right},
                   {"Longest", Align::right}, {"Where the program was", Align::left, false, true}};
  for (const auto& device : run.tables.devices)
    for (const auto& idle : device.idle) {
      std::string places;
      for (const auto& [place, ns] : idle.places)
        places += fmt::format("{}{} ({})", places.empty() ? "" : ", ", place, cell_time(ns));
      table.rows.push_back(
          {{fmt::format("{}", device.device), std::string(cause_text(idle.cause)), fmt::format("{}", idle.gaps),
            cell_time(idle.total_ns), cell_time(idle.longest_ns), plain_text(places)},
           Tone::neutral,
           ""});
    }
  return table;
}

}  // namespace ridgeline::report
