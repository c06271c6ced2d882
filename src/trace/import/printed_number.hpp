// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ridgeline::trace {

/// A number as a profiler prints it for people, of any locale: "2,000,000", "13,973.33", "9,00", "1.234,56". A single
/// comma before three digits groups thousands. nullopt: "n/a", "(nan)", and what else is no number.
[[nodiscard]] std::optional<double> printed_number(std::string_view text);

/// A unit of ncu, as what it is a multiple of.
struct Unit {
  std::string base;  ///< "ns", "byte", "byte/s", "byte/block", "hz"; the unit itself where it is none of those
  double factor = 1;
};
/// "usecond", "us", "Mbyte", "Gbyte/second", "Ghz", "%".
[[nodiscard]] Unit unit_of(std::string_view text);

}  // namespace ridgeline::trace
