// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/counter_join.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "schema/kernel_name.hpp"

namespace ridgeline::trace {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// "4u", "64ul" -> "4", "64": template arguments that are numbers.
std::string without_suffixes(const std::string& name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    const bool begins = std::isdigit(static_cast<unsigned char>(name[at])) != 0 && (at == 0 || !is_name(name[at - 1]));
    if (!begins) {
      out += name[at++];
      continue;
    }
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) out += name[at++];
    auto behind = at;
    while (behind < name.size() &&
           (name[behind] == 'u' || name[behind] == 'l' || name[behind] == 'U' || name[behind] == 'L'))
      ++behind;
    if (behind == name.size() || !is_name(name[behind])) at = behind;
  }
  return out;
}

/// "(int)4" -> "4".
void drop_casts(std::string& name) {
  for (const std::string_view cast :
       {"(int)", "(unsignedint)", "(long)", "(unsignedlong)", "(short)", "(unsignedshort)", "(char)", "(signedchar)",
        "(unsignedchar)", "(longlong)", "(unsignedlonglong)"})
    for (auto at = name.find(cast); at != std::string::npos; at = name.find(cast, at)) {
      const auto behind = at + cast.size();
      const bool is_number =
          behind < name.size() && (std::isdigit(static_cast<unsigned char>(name[behind])) != 0 || name[behind] == '-');
      if (is_number)
        name.erase(at, cast.size());
      else
        ++at;
    }
}

using Launch = std::tuple<std::string, std::array<std::int32_t, 3>, std::array<std::int32_t, 3>>;

std::array<std::int32_t, 3> numbers(const Dim3& extent) { return {extent.x, extent.y, extent.z}; }

std::string launch_text(const Launch& launch, std::size_t count) {
  const auto& [name, grid, block] = launch;
  return fmt::format("{} x {}, grid ({}), block ({})", count, name, fmt::join(grid, ", "), fmt::join(block, ", "));
}

constexpr double kMostDramBytes = 0x1p58;  // what sums of 64 bits hold by far

/// Of a row: read and written, or both in one.
double dram_bytes_of(const KernelCounters& counters, Place row) {
  const auto value = [&](std::string_view name) {
    const auto* metric = counters.find(name);
    return metric == nullptr ? std::numeric_limits<double>::quiet_NaN() : metric->values[row];
  };
  for (const auto& [read, write] : {std::pair{"dram__bytes_read.sum", "dram__bytes_write.sum"},
                                    std::pair{"dram__bytes_op_read.sum", "dram__bytes_op_write.sum"}})
    if (const auto sum = value(read) + value(write); !std::isnan(sum)) return sum;
  return value("dram__bytes.sum");
}

}  // namespace

std::string plain_kernel_name(std::string_view name) {
  std::string out(schema::without_parameters(name));
  if (out.starts_with("void ")) out.erase(0, 5);
  out.erase(std::remove(out.begin(), out.end(), ' '), out.end());
  replace_all(out, "<unnamed>", "(anonymousnamespace)");
  replace_all(out, "(anonymousnamespace)::", "");
  replace_all(out, "(bool)1", "true");
  replace_all(out, "(bool)0", "false");
  drop_casts(out);
  return without_suffixes(out);
}

CounterJoin join_counters(const Trace& trace, const KernelCounters& counters) {
  const auto& kernels = trace.kernels;
  std::map<NameId, std::string> plain;
  std::map<Launch, std::vector<Place>> in_trace;
  std::vector<Place> order(kernels.size());
  std::iota(order.begin(), order.end(), Place{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Place a, Place b) { return kernels.start_ns[a] < kernels.start_ns[b]; });
  for (const auto kernel : order) {
    auto& name = plain[kernels.name[kernel]];
    if (name.empty()) name = plain_kernel_name(trace.strings.text(kernels.name[kernel]));
    in_trace[{name, numbers(kernels.grid[kernel]), numbers(kernels.block[kernel])}].push_back(kernel);
  }
  std::map<Launch, std::vector<Place>> in_counters;
  for (Place row = 0; row < counters.size(); ++row)
    in_counters[{plain_kernel_name(counters.strings.text(counters.name[row])), numbers(counters.grid[row]),
                 numbers(counters.block[row])}]
        .push_back(row);
  CounterJoin out;
  out.row.assign(kernels.size(), kNowhere);
  for (const auto& [launch, rows] : in_counters) {
    const auto found = in_trace.find(launch);
    if (found == in_trace.end()) {
      out.only_counters.push_back(launch_text(launch, rows.size()));
      continue;
    }
    const auto& launches = found->second;
    const bool repeats = launches.size() % rows.size() == 0;
    for (std::size_t i = 0; i < launches.size(); ++i)
      if (i < rows.size() || repeats) out.row[launches[i]] = rows[i % rows.size()];
    out.matched += std::min(rows.size(), launches.size());
    if (rows.size() > launches.size())
      out.only_counters.push_back(launch_text(launch, rows.size() - launches.size()));
    else if (!repeats)
      out.only_trace.push_back(launch_text(launch, launches.size() - rows.size()));
  }
  for (const auto& [launch, launches] : in_trace)
    if (!in_counters.contains(launch)) out.only_trace.push_back(launch_text(launch, launches.size()));
  return out;
}

std::vector<double> dram_bytes(const KernelCounters& counters, const CounterJoin& join) {
  std::vector<double> out(join.row.size(), std::numeric_limits<double>::quiet_NaN());
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (join.row[i] == kNowhere) continue;
    const auto bytes = dram_bytes_of(counters, join.row[i]);
    if (!(bytes >= 0 && bytes <= kMostDramBytes - sum)) continue;
    out[i] = bytes;
    sum += bytes;
  }
  return out;
}

std::vector<double> launch_waves(const KernelCounters& counters, const CounterJoin& join) {
  std::vector<double> out(join.row.size(), std::numeric_limits<double>::quiet_NaN());
  const auto* waves = counters.find("launch__waves_per_multiprocessor");
  if (waves == nullptr) waves = counters.find("Waves Per SM");
  for (std::size_t i = 0; waves != nullptr && i < out.size(); ++i)
    if (join.row[i] != kNowhere) out[i] = waves->values[join.row[i]];
  return out;
}

}  // namespace ridgeline::trace
