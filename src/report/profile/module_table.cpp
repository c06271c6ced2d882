// SPDX-License-Identifier: Apache-2.0
#include "report/profile/module_table.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/inline_text.hpp"
#include "report/profile/bytes_sources.hpp"
#include "report/profile/profile_cells.hpp"
#include "report/profile/profile_figures.hpp"

namespace ridgeline::report {
namespace {

using schema::ProfileModule;
using schema::ProfileRun;

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
  schema::BytesSource bytes_source = schema::BytesSource::unknown;
  std::int64_t tensor_ns = -1;
  std::int64_t tensor_of_ns = 0;
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
    bytes_source = merged(bytes_source, other.bytes_source);
    if (other.tensor_ns >= 0) tensor_ns = std::max<std::int64_t>(tensor_ns, 0) + other.tensor_ns;
    tensor_of_ns += other.tensor_of_ns;
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
  ModuleRows(const schema::MessageRenderer& words, const ProfileRun& run, const ModuleView& view)
      : words_(words), run_(run), view_(view) {
    const auto& rows = run.tables.modules;
    has_gpu_ = !run.tables.devices.empty();
    has_backward_ = any_of(rows, [](const auto& row) { return row.backward_ns > 0; });
    has_bytes_ = any_of(rows, [](const auto& row) { return row.bytes >= 0; });
    peak_ = peak_bytes_per_s(run);
    has_tensor_ = any_of(rows, [](const auto& row) { return row.tensor_ns >= 0; });
    has_sources_ = any_of(rows, [](const auto& row) { return row.bytes_source == schema::BytesSource::mixed; });
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
      if (has_sources_) table_.columns.push_back({"Bytes from", Align::left, true});
    }
    if (has_tensor_) table_.columns.push_back({"Tensor", Align::right, true});
    if (has_flops_) table_.columns.push_back({"GFLOP/s", Align::right});
    if (has_roof(run_)) table_.columns.push_back({"% of roof", Align::right});
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
             row.bytes_source,
             row.tensor_ns,
             std::max<std::int64_t>(0, row.tensor_of_ns),
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
      if (has_sources_) cells.push_back(row->bytes < 0 ? "" : words_.text(bytes_source_name(row->bytes_source)));
    }
    if (has_tensor_)
      cells.push_back(row->tensor_ns < 0 ? std::string(kAbsent) : cell_share(row->tensor_ns, row->tensor_of_ns));
    if (has_flops_) cells.push_back(cell_flops(row->flops, row->flops_ns));
    // Of the same nodes, or it is a share of nothing.
    if (has_roof(run_))
      cells.push_back(cell_roof(run_.roof, row->bytes, row->flops, row->flops_ns == row->bytes_ns ? row->flops_ns : 0));
    if (has_gpu_) cells.push_back(row->host_ns > 0 ? cell_time(row->host_ns) : "");
    const auto tone = row->kind == schema::ModuleKind::unattributed ? Tone::warning : Tone::neutral;
    table_.rows.push_back({std::move(cells), tone, ""});
    add_children(*row, level + 1);
  }

  const schema::MessageRenderer& words_;
  const ProfileRun& run_;
  ModuleView view_;
  ShownModule root_;
  std::int64_t least_ns_ = 1;
  bool has_gpu_ = false;
  bool has_backward_ = false;
  bool has_bytes_ = false;
  bool has_flops_ = false;
  bool has_tensor_ = false;
  bool has_sources_ = false;  ///< not all bytes are of one
  double peak_ = 0;           ///< bytes in a second
  Table table_;
};

}  // namespace

Table module_table(const schema::MessageRenderer& words, const ProfileRun& run, const ModuleView& view) {
  return ModuleRows(words, run, view).table();
}

}  // namespace ridgeline::report
