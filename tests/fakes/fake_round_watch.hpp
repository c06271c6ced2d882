// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "gpu/round_watch.hpp"

namespace ridgeline::fakes {

/// A GPU's observer that says what a function of the part's number (from 0) says.
class FakeRoundWatch final : public gpu::RoundWatch {
 public:
  explicit FakeRoundWatch(std::function<gpu::RoundReading(int part)> script) : script_(std::move(script)) {}

  void begin_timing() override { ++begun; }
  void begin_part() override { open = true; }
  [[nodiscard]] gpu::RoundReading end_part() override {
    open = false;
    return script_(parts++);
  }
  void end_timing(const gpu::TimedTotals& given) override { totals.push_back(given); }
  [[nodiscard]] std::optional<int> neighbours() override { return others; }

  int begun = 0;
  int parts = 0;
  bool open = false;
  std::optional<int> others = 0;
  std::vector<gpu::TimedTotals> totals;

 private:
  std::function<gpu::RoundReading(int part)> script_;
};

}  // namespace ridgeline::fakes
