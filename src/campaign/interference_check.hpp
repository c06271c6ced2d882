// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "schema/message.hpp"

namespace ridgeline::campaign {

/// Which slots may measure side by side.
struct Interference {
  static constexpr double kMost = 0.03;  ///< of the objective's value

  std::vector<std::size_t> slots{0};  ///< always with slot 0, first
  schema::Message note;               ///< what was found
};

/// How a check measures.
struct InterferenceProbe {
  std::vector<std::string> devices;     ///< by slot, as the note calls them
  std::vector<schema::Message> unlike;  ///< by slot: why it is left out untimed, empty: it is not
  /// Times the same work once on each of these slots, at the same time: its cost (lower is better) in their order,
  /// nullopt where it failed. `keep`: the next call with these slots measures the same sessions, where there are such.
  std::function<base::Result<std::vector<std::optional<double>>>(const std::vector<std::size_t>& slots, bool keep)>
      time;
  std::function<double()> left_s;  ///< of the run's time limit; infinite without one
  const base::Clock* clock = &base::system_clock();
};

/// Times the work alone on every slot, then on all at once, each with the session that it had alone. A slot whose own
/// pace differs from slot 0's by more than Interference::kMost is left out, since its figures cannot stand beside the
/// others; when any of the rest is slowed down by more than that by the others, only slot 0 is left. What is past the
/// limit is looked at again with new sessions, as these differ by as much among themselves: three that agree decide, or
/// the median of up to seven; where a quarter of `left_s` is used up, that of those so far. No session is left behind.
/// Errors: those of `time`.
[[nodiscard]] base::Result<Interference> check_interference(const InterferenceProbe& probe);

}  // namespace ridgeline::campaign
