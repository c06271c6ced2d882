// SPDX-License-Identifier: Apache-2.0
#include "monitor/host_probe.hpp"

#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"

namespace ridgeline::monitor {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (auto& word : base::split(line, ' '))
    if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::optional<double> number(std::string_view text) {
  const auto value = base::parse_number(base::trim(text), "number");
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> number_in(const std::filesystem::path& path) {
  const auto text = base::read_file(path);
  return text ? number(*text) : std::nullopt;
}

}  // namespace

HostReading HostProbe::read() {
  HostReading host;
  read_cpu(host);
  read_memory(host);
  read_limits(host);
  if (const auto load = base::read_file(proc_ / "loadavg")) host.load_1m = number(load->substr(0, load->find(' ')));
  return host;
}

void HostProbe::read_cpu(HostReading& host) {
  const auto text = base::read_file(proc_ / "stat");
  if (!text) return;
  for (const auto& line : base::split(*text, '\n')) {
    if (line.rfind("cpu", 0) != 0) break;  // these lines come first
    if (line.rfind("cpu ", 0) != 0) {
      ++host.cpus;
      continue;
    }
    const auto words = words_of(line);
    std::uint64_t all = 0;
    std::uint64_t idle = 0;
    for (std::size_t i = 1; i < words.size() && i <= 8; ++i) {  // guest time is in user time already
      const auto ticks = static_cast<std::uint64_t>(number(words[i]).value_or(0));
      all += ticks;
      if (i == 4 || i == 5) idle += ticks;  // idle and waiting for a disk
    }
    const auto busy = all - idle;
    if (busy_before_ && all > all_before_ && busy >= *busy_before_)
      host.cpu_percent = 100.0 * static_cast<double>(busy - *busy_before_) / static_cast<double>(all - all_before_);
    busy_before_ = busy;
    all_before_ = all;
  }
}

void HostProbe::read_memory(HostReading& host) const {
  const auto text = base::read_file(proc_ / "meminfo");
  if (!text) return;
  std::optional<double> available;
  for (const auto& line : base::split(*text, '\n')) {
    const auto words = words_of(line);
    if (words.size() < 2) continue;
    if (words[0] == "MemTotal:")
      host.memory_total_bytes = number(words[1]).value_or(0) * 1024;
    else if (words[0] == "MemAvailable:")
      available = number(words[1]).value_or(0) * 1024;
    if (host.memory_total_bytes && available) break;
  }
  if (host.memory_total_bytes && available) host.memory_used_bytes = *host.memory_total_bytes - *available;
}

void HostProbe::read_limits(HostReading& host) const {
  const auto group = sysfs_ / "fs/cgroup";
  if (const auto limit = number_in(group / "memory.max")) {  // "max" without a limit
    host.cgroup_memory_limit_bytes = limit;
    host.cgroup_memory_used_bytes = number_in(group / "memory.current");
  }
  if (const auto quota = base::read_file(group / "cpu.max")) {
    const auto words = words_of(*quota);
    if (words.size() == 2)
      if (const auto allowed = number(words[0]), period = number(words[1]); allowed && period && *period > 0)
        host.cgroup_cpus = *allowed / *period;
  }
}

}  // namespace ridgeline::monitor
