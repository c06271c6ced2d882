// SPDX-License-Identifier: Apache-2.0
#include "host/load.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace ridgeline::host {
namespace {

/// "user nice system idle iowait irq softirq steal"; guest time, which follows, is in user time already.
CpuTicks parse_ticks(std::string_view text) {
  CpuTicks out;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int field = 0; field < 8; ++field) {
    while (at != end && *at == ' ') ++at;
    std::uint64_t ticks = 0;
    at = std::from_chars(at, end, ticks).ptr;
    (field == 3 || field == 4 ? out.idle : out.busy) += ticks;
    if (field == 7) out.stolen = ticks;
  }
  return out;
}

}  // namespace

std::optional<CpuTimes> read_cpu_times(const SystemFiles& files) {
  const auto text = files.text("proc/stat");
  if (!text || text->rfind("cpu", 0) != 0) return std::nullopt;
  CpuTimes out;
  std::string_view rest(*text);
  while (rest.rfind("cpu", 0) == 0) {  // these lines come first
    const auto line = rest.substr(3, rest.find('\n') - 3);
    int cpu = 0;
    const auto number = std::from_chars(line.data(), line.data() + line.size(), cpu);
    const auto ticks = parse_ticks({number.ptr, static_cast<std::size_t>(line.data() + line.size() - number.ptr)});
    if (number.ptr == line.data())
      out.all = ticks;
    else
      out.cpus.emplace_back(cpu, ticks);
    rest.remove_prefix(std::min(rest.size(), line.size() + 4));
  }
  return out;
}

MemorySize read_memory_size(const SystemFiles& files) {
  const auto bytes = [&](std::string_view key) -> std::optional<std::int64_t> {  // "16384256 kB"
    const auto value = files.field("proc/meminfo", key);
    if (!value) return std::nullopt;
    const auto kib = base::parse_integer(base::split(*value, ' ').front(), key);
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  };
  return {bytes("MemTotal"), bytes("MemAvailable")};
}

std::optional<double> load_average(const SystemFiles& files) {
  const auto load = files.text("proc/loadavg");
  if (!load) return std::nullopt;
  const auto minute = base::parse_number(base::split(*load, ' ').front(), "load average");
  return minute ? std::optional(*minute) : std::nullopt;
}

}  // namespace ridgeline::host
