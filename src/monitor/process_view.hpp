// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "monitor/snapshot.hpp"

namespace ridgeline::monitor {

enum class SortKey { gpu_memory, sm, cpu, host_memory, pid, user, gpu, name, count };

struct ProcessOrder {
  SortKey key = SortKey::gpu_memory;
  bool descending = true;
  std::string filter;      ///< only processes with it in number, user, container or command; case does not matter
  std::optional<int> gpu;  ///< only those on it
};

/// The rows of the table, in order. Equal ones stay in order of their number, so that lines do not jump.
[[nodiscard]] std::vector<const ProcessReading*> ordered(const std::vector<ProcessReading>& processes,
                                                         const ProcessOrder& order);

}  // namespace ridgeline::monitor

namespace ridgeline::base {
template <>
struct EnumNames<monitor::SortKey> {
  static constexpr std::array names{
      std::pair{monitor::SortKey::gpu_memory, "memory"}, std::pair{monitor::SortKey::sm, "sm"},
      std::pair{monitor::SortKey::cpu, "cpu"},           std::pair{monitor::SortKey::host_memory, "host-memory"},
      std::pair{monitor::SortKey::pid, "pid"},           std::pair{monitor::SortKey::user, "user"},
      std::pair{monitor::SortKey::gpu, "gpu"},           std::pair{monitor::SortKey::name, "name"}};
};
}  // namespace ridgeline::base
