// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_comparison_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/messages.hpp"
#include "report/utf8.hpp"
#include "schema/kernel_name.hpp"

namespace ridgeline::report {
namespace {

constexpr std::size_t kMostModules = 12;
constexpr std::size_t kNameColumns = 70;
constexpr std::size_t kShownKernelChanges = 6;
constexpr std::size_t kMostChanged = 12;

template <typename Row, typename Text>
void add_some(const schema::MessageRenderer& words, std::vector<std::string>& lines, const std::vector<Row>& rows,
              std::size_t most, const schema::Message& title, Text text) {
  if (rows.empty()) return;
  lines.push_back(words.text(title));
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) lines.push_back("  " + text(rows[i]));
  if (rows.size() > most)
    lines.push_back("  " + words.text(messages::profile_more_changes(static_cast<std::int64_t>(rows.size() - most))));
}

/// All of them: who asks what one side alone has wants to know every one.
void add_names(const schema::MessageRenderer& words, std::vector<std::string>& lines,
               const std::vector<analysis::CallsChange>& rows, const char* side) {
  if (rows.empty()) return;
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(fmt::format("{} ({})", row.name, std::max(row.a, row.b)));
  lines.push_back(
      words.text(messages::profile_only_in({.operations = std::ssize(rows), .side = side, .names = names})));
}

}  // namespace

std::vector<std::string> profile_comparison_lines(const schema::MessageRenderer& words,
                                                  const analysis::ProfileComparison& found) {
  auto lines = words.texts(found.remarks);
  for (const auto& device : found.devices)
    lines.push_back(words.text(messages::profile_busy_of_both(
        {.a = device.a, .busy_a = device.busy_a, .b = device.b, .busy_b = device.busy_b})));
  add_some(words, lines, found.times, kMostModules, messages::profile_times_differ(), [&](const auto& row) {
    const bool is_known = !stats::is_too_wide(row.ratio.low, row.ratio.high);
    return words.text(
        messages::profile_time_differs({.module = row.path,
                                        .a = row.a,
                                        .b = row.b,
                                        .change = is_known ? std::optional(row.ratio.ratio - 1) : std::nullopt,
                                        .low = row.ratio.low - 1,
                                        .high = row.ratio.high - 1}));
  });
  add_some(words, lines, found.bytes, kMostModules, messages::profile_bytes_differ(), [&](const auto& row) {
    return words.text(
        messages::profile_bytes_change({.module = row.path, .a = row.a, .b = row.b, .change = row.ratio.ratio - 1}));
  });
  add_some(words, lines, found.kernels, kShownKernelChanges, messages::profile_kernels_differ(found.per_step),
           [&](const auto& row) {
             return words.text(
                 messages::profile_kernel_change({.kernel = shorten(schema::short_kernel_name(row.name), kNameColumns),
                                                  .a = static_cast<double>(row.a_ns),
                                                  .b = static_cast<double>(row.b_ns),
                                                  .calls_a = row.a,
                                                  .calls_b = row.b}));
           });
  add_some(words, lines, found.changed, kMostChanged,
           messages::profile_calls_differ({.operations = std::ssize(found.changed), .per_step = found.per_step}),
           [](const auto& row) { return fmt::format("{}: {} -> {}", row.name, row.a, row.b); });
  add_names(words, lines, found.only_a, "A");
  add_names(words, lines, found.only_b, "B");
  return lines;
}

}  // namespace ridgeline::report
