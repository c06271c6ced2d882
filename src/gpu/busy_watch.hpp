// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "gpu/gpm_reader.hpp"
#include "gpu/round_watch.hpp"

namespace ridgeline::gpu {

/// Measures over the timed parts for what share of the time the GPU had any work, with GPM, and hands every call on to
/// another watch. NVML's own utilisation cannot tell a gap of milliseconds from work; GPM counts cycles. It looks
/// between parts only, at their ends once a second, so that the timed thread never waits for a look. What a look shows
/// lags behind (kLag), so the first is that much into the timing, unless the same work went on before it, and the last
/// has to be kLeast after the first. One thread.
class BusyWatch final : public RoundWatch {
 public:
  /// An H200's counters move once in 100 ms and show nothing of the last 110 to 150 ms: of a load of 100 ms after a
  /// pause a look at its end saw nothing, of one of a second 85 to 89 %, and of any after half a second of the same 94
  /// to 98 %.
  static constexpr auto kLag = std::chrono::milliseconds(150);
  static constexpr auto kLeast = std::chrono::milliseconds(200);

  enum class Before { pause, same_work };

  /// Both must outlive this object. For one trial. `before`: what the GPU does for kLag before the timing.
  BusyWatch(RoundWatch& inner, GpmReader& gpm, Before before, const base::Clock& clock = base::system_clock())
      : inner_(inner), gpm_(gpm), lag_(before == Before::pause ? kLag : base::Nanoseconds{0}), clock_(clock) {}

  void begin_timing() override;
  void begin_part() override;
  [[nodiscard]] RoundReading end_part() override;
  void end_timing(const TimedTotals& totals) override;
  [[nodiscard]] std::optional<int> neighbours() override { return inner_.neighbours(); }

  /// 0 to 1: time with work over the summed length of the parts; between parts the GPU is taken to be idle, as the
  /// device has been waited for. nullopt before end_timing, for less than kLag and kLeast of timing, and when GPM did
  /// not answer.
  [[nodiscard]] std::optional<double> busy() const noexcept { return busy_; }

 private:
  void look();

  RoundWatch& inner_;
  GpmReader& gpm_;
  const base::Nanoseconds lag_;
  const base::Clock& clock_;
  base::Nanoseconds begun_{0};   ///< of the timing
  base::Nanoseconds first_{0};   ///< look; 0: none yet
  base::Nanoseconds looked_{0};  ///< last
  bool parts_since_look_ = false;
  double answered_s_ = 0;  ///< of the time between looks, where GPM had a number
  double worked_s_ = 0;
  std::optional<double> busy_;
};

}  // namespace ridgeline::gpu
