// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_comparison_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/comparison_text.hpp"
#include "base/text.hpp"
#include "report/format.hpp"
#include "report/utf8.hpp"
#include "schema/kernel_name.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kMostModules = 12;
constexpr std::size_t kNameColumns = 70;
constexpr std::size_t kShownKernelChanges = 6;
constexpr std::size_t kMostChanged = 12;

std::string change_ns_text(double ns) { return base::format_duration(ns); }

template <typename Row, typename Text>
void add_some(std::vector<std::string>& lines, const std::vector<Row>& rows, std::size_t most, const std::string& title,
              Text text) {
  if (rows.empty()) return;
  lines.push_back(title);
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) lines.push_back("  " + text(rows[i]));
  if (rows.size() > most) lines.push_back(fmt::format("  and {} more (--json has all)", rows.size() - most));
}

/// All of them: who asks what one side alone has wants to know every one.
void add_names(std::vector<std::string>& lines, const std::vector<analysis::CallsChange>& rows,
               const std::string& title) {
  if (rows.empty()) return;
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(fmt::format("{} ({})", row.name, std::max(row.a, row.b)));
  lines.push_back(fmt::format("{}: {}", title, fmt::join(names, ", ")));
}

}  // namespace

std::vector<std::string> profile_comparison_lines(const schema::MessageRenderer& words,
                                                  const analysis::ProfileComparison& found) {
  auto lines = words.texts(found.remarks);
  for (const auto& device : found.devices)
    lines.push_back(fmt::format("{} busy {:.0f} %, {} busy {:.0f} %", device.a, 100 * device.busy_a, device.b,
                                100 * device.busy_b));
  add_some(lines, found.times, kMostModules,
           "modules whose time differs (Holm's correction over all modules):", [](const auto& row) {
             return fmt::format("{}: {} -> {}, {}", row.path, change_ns_text(row.a), change_ns_text(row.b),
                                stats::is_too_wide(row.ratio.low, row.ratio.high)
                                    ? std::string(analysis::kTooFewMeasurements)
                                    : fmt::format("{} [{}, {}]", change_text(row.ratio.ratio),
                                                  change_text(row.ratio.low), change_text(row.ratio.high)));
           });
  add_some(lines, found.bytes, kMostModules, "modules whose bytes differ:", [](const auto& row) {
    return fmt::format("{}: {} -> {}, {}", row.path, base::format_bytes(row.a), base::format_bytes(row.b),
                       change_text(row.ratio.ratio));
  });
  add_some(lines, found.kernels, kShownKernelChanges, "kernels by the difference of their time:", [](const auto& row) {
    return fmt::format("{}: {} -> {} in {} -> {} calls", shorten(schema::short_kernel_name(row.name), kNameColumns),
                       change_ns_text(static_cast<double>(row.a_ns)), change_ns_text(static_cast<double>(row.b_ns)),
                       row.a, row.b);
  });
  add_some(lines, found.changed, kMostChanged,
           fmt::format("{} operations with another number of calls:", found.changed.size()),
           [](const auto& row) { return fmt::format("{}: {} -> {}", row.name, row.a, row.b); });
  add_names(lines, found.only_a, fmt::format("{} operations only in A", found.only_a.size()));
  add_names(lines, found.only_b, fmt::format("{} operations only in B", found.only_b.size()));
  return lines;
}

}  // namespace ridgeline::report
