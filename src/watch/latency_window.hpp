// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "schema/workload_ref.hpp"

namespace ridgeline::watch {

/// Latencies that a service wrote since the last look. A line is a number of milliseconds, or a JSON object with one of
/// latency_ns, latency_us, latency_ms, latency_s and, if it likes, "shapes": {"x": [1, 3, 224, 224]}. Empty lines and
/// those that begin with # are passed over. Beyond kKept latencies an even sample of them is kept. Not thread-safe.
class LatencyWindow {
 public:
  static constexpr std::size_t kKept = 100'000;
  static constexpr std::size_t kLeast = 20;  ///< with fewer the window goes on

  void add_line(std::string_view line);

  struct Taken {
    std::vector<double> latency_ns;
    std::vector<schema::ShapeSet> shapes;  ///< those with a share of at least 5 %; empty when lines told none
    std::map<std::string, double> shares;  ///< by analysis::shape_text
    std::int64_t refused = 0;              ///< lines that were no latency
    std::string first_refused;
  };
  [[nodiscard]] bool enough() const noexcept { return latency_ns_.size() >= kLeast; }
  /// Lines refused so far, without ending the window.
  [[nodiscard]] std::int64_t refused() const noexcept { return refused_; }
  /// Ends the window and begins the next.
  [[nodiscard]] Taken take();

 private:
  struct Shape {
    schema::ShapeSet set;
    std::int64_t count = 0;
  };
  void add(double latency_ns);
  void refuse(std::string_view line);

  std::vector<double> latency_ns_;
  std::int64_t seen_ = 0;
  std::map<std::string, Shape> shapes_;
  std::int64_t refused_ = 0;
  std::string first_refused_;
  base::Random random_{1};
};

}  // namespace ridgeline::watch
