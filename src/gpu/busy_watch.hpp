// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "gpu/gpm_reader.hpp"
#include "gpu/round_watch.hpp"

namespace ridgeline::gpu {

/// Measures over the timed parts for what share of the time the GPU had any work, with GPM, and hands every call on to
/// another watch. NVML's own utilisation cannot tell a gap of milliseconds from work; GPM counts cycles. It looks
/// between parts only, at their ends once a second, so that the timed thread of the training never waits for a look.
/// One thread.
class BusyWatch final : public RoundWatch {
 public:
  /// Both must outlive this object. For one trial.
  BusyWatch(RoundWatch& inner, GpmReader& gpm, const base::Clock& clock = base::system_clock())
      : inner_(inner), gpm_(gpm), clock_(clock) {}

  void begin_timing() override;
  void begin_part() override;
  [[nodiscard]] RoundReading end_part() override;
  void end_timing(const TimedTotals& totals) override;
  [[nodiscard]] std::optional<int> neighbours() override { return inner_.neighbours(); }

  /// 0 to 1: time with work over the summed length of the parts; between parts the GPU is taken to be idle, as the
  /// device has been waited for. nullopt before end_timing, and when GPM did not answer.
  [[nodiscard]] std::optional<double> busy() const noexcept { return busy_; }

 private:
  void look();

  RoundWatch& inner_;
  GpmReader& gpm_;
  const base::Clock& clock_;
  base::Nanoseconds begun_{0};
  base::Nanoseconds looked_{0};
  bool parts_since_look_ = false;
  double answered_s_ = 0;  ///< of the time between looks, where GPM had a number
  double worked_s_ = 0;
  std::optional<double> busy_;
};

}  // namespace ridgeline::gpu
