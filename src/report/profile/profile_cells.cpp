// SPDX-License-Identifier: Apache-2.0
#include "report/profile/profile_cells.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/format.hpp"

namespace ridgeline::report {

std::string cell_time(std::int64_t ns) { return base::format_duration(static_cast<double>(ns)); }

std::string cell_share(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return std::string(kAbsent);
  const auto share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}f} %", share, share < 9.95 ? 1 : 0);
}

std::string cell_bytes(std::int64_t bytes) {
  return bytes < 0 ? std::string(kAbsent) : base::format_bytes(static_cast<double>(bytes));
}

std::string cell_rate(std::int64_t bytes, std::int64_t ns) {
  if (bytes < 0 || ns <= 0) return std::string(kAbsent);
  const auto rate = static_cast<double>(bytes) / static_cast<double>(ns);
  return fmt::format("{:.{}f}", rate, rate < 9.95 ? 1 : 0);
}

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

std::string cell_roof(const schema::ProfileRoof& roof, std::int64_t bytes, std::int64_t flops, std::int64_t ns) {
  const auto share = roof.share(bytes, flops, ns);
  return share && *share <= kWholeRoof ? fmt::format("{:.0f} %", 100 * *share) : std::string(kAbsent);
}

std::string_view kernel_words(std::int64_t kernels, std::int64_t graph_launches) {
  if (graph_launches == 0) return "kernels";
  return kernels == 0 ? "graph launches" : "kernels and graph launches";
}

std::string cell_peak(double peak, std::int64_t bytes, std::int64_t ns) {
  if (bytes < 0 || ns <= 0 || is_beyond(peak, bytes, ns)) return std::string(kAbsent);
  return fmt::format("{:.0f} %", 100 * static_cast<double>(bytes) * 1e9 / static_cast<double>(ns) / peak);
}

bool has_roof(const schema::ProfileRun& run) { return run.roof.bytes_per_s > 0 || run.roof.flops_per_s > 0; }

}  // namespace ridgeline::report
