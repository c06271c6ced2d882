// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "host/processes.hpp"
#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

/// Looks processes up in /proc and derives their share of the CPU from two looks. Forgets those that ended, so its
/// memory is bounded by the processes alive. Not thread-safe.
class ProcessReader {
 public:
  explicit ProcessReader(host::Processes processes = host::Processes()) : processes_(std::move(processes)) {}

  /// Fills in what /proc tells of `process.pid`; leaves it as it is when that process is not visible.
  void describe(ProcessReading& process, base::Nanoseconds now);

  /// Forgets every process that was not described since the last call.
  void end_look();

 private:
  struct Known {
    std::uint64_t started = 0;  ///< clock ticks after boot; another one: the number was used again
    std::string name;
    std::string command;
    std::string user;
    std::string container;
    std::uint64_t cpu_ticks = 0;
    base::Nanoseconds at{};
    std::optional<double> cpu_percent;
    bool seen = false;
  };
  [[nodiscard]] Known first_look(pid_t pid, const host::ProcessStat& stat);
  [[nodiscard]] std::string user_of(pid_t pid);

  host::Processes processes_;
  std::map<std::int64_t, Known> known_;
  std::map<std::uint32_t, std::string> users_;
};

}  // namespace ridgeline::monitor
