// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/analysis/nesting.hpp"
#include "trace/trace.hpp"

namespace ridgeline::trace {

/// Which call launched work of a GPU.
class Launches {
 public:
  explicit Launches(const Trace& trace);

  /// Into Trace::calls: of the same correlation in the same process, or in any where the file does not tell the process
  /// of GPU work; kNowhere: not in the trace.
  [[nodiscard]] Place call_of(std::int64_t process, std::int64_t correlation) const;
  /// One for each of the spans, which are of GPU lanes.
  [[nodiscard]] std::vector<Place> calls_of(const Spans& spans) const;

 private:
  struct Key {
    std::int64_t process;
    std::int64_t correlation;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::int64_t>()(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(key.correlation) * 0x9E3779B97F4A7C15ULL +
                                    static_cast<std::uint64_t>(key.process)));
    }
  };

  const Trace& trace_;
  std::unordered_map<Key, Place, Hash> launched_;
};

}  // namespace ridgeline::trace
