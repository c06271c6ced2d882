// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "context_profiler.hpp"
#include "counter_failure.hpp"
#include "cupti_library.hpp"
#include "host_metrics.hpp"
#include "launch_calls.hpp"
#include "launch_counters.hpp"
#include "subscription.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// Which launch is which range: CUPTI calls for each launch in their order, and a context's ranges have the same one.
/// Where both differ in number, nothing is taken.
///
/// Locks are not held while CUPTI or the driver is called, as these call back on any thread. Who switches takes the
/// phase `switches` instead, and launches of other threads make that window invalid.
class RangeCounters final : public LaunchCounters, private SubscriberClient {
 public:
  RangeCounters(CuptiLibrary& cupti, Subscription& subscription, LaunchPlaces& places)
      : cupti_(cupti), subscription_(subscription), places_(places) {}

  void watch() override;
  [[nodiscard]] std::size_t watched_launches() const override { return watched_launches_; }
  [[nodiscard]] bool open(std::size_t launches) override;
  void open_with_launches() override;
  void close() override;
  void close_with_launches() override;
  [[nodiscard]] bool is_open() const override;
  void capture(bool begins) override;
  [[nodiscard]] bool is_capturing() const override;
  void set_step(std::int64_t step, bool keeps) override {
    step_ = step;
    keeps_ = keeps;
  }
  [[nodiscard]] bool is_over() const override;
  [[nodiscard]] std::vector<CountedLaunch> take() override;
  [[nodiscard]] CounterOutcome outcome() const override;

 private:
  enum class Phase : std::uint8_t { closed, waits, switches, counts };
  struct Launch {
    CountedLaunch it;
    bool kept = true;
    bool failed = false;     ///< the call did not launch anything
    bool uncertain = false;  ///< another thread launched at the same time: either may be the first
  };
  /// Launches of a context between switching on and off.
  struct Batch {
    Batch(CUcontext where, const RangeProfilerFunctions& functions, HostMetrics& metrics,
          ContextProfiler::Ranges ranges)
        : context(where), profiler(functions, metrics, ranges) {}
    CUcontext context;
    ContextProfiler profiler;
    std::uint32_t device = 0;
    std::uint64_t first_serial = 0;
    std::vector<Launch> launches;
    std::vector<std::size_t> in_flight;  ///< launches whose calls have not returned
    bool disturbed = false;              ///< with launches while it was switched on or off
  };

  void called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) override;
  void enter(CUpti_CallbackId id, LaunchKind kind, const CUpti_CallbackData& data);
  void leave(const CUpti_CallbackData& data);
  /// Before the launch of this thread. Whether it is to be counted.
  [[nodiscard]] bool ready_for(CUcontext context, LaunchKind kind);
  [[nodiscard]] std::uint64_t push(const LaunchCall& call, const CUpti_CallbackData& data);
  /// Around the call of a launch whose range CUPTI does not make itself.
  void begin_range(CUcontext context, std::uint64_t serial);
  void end_range(CUcontext context, std::uint64_t serial);

  [[nodiscard]] bool prepare();
  [[nodiscard]] bool subscribe();
  /// Whether this thread may switch now; it calls `settle` afterwards.
  [[nodiscard]] bool take_switch(Phase from);
  void settle(Phase to);
  /// Launches of other threads into it count as strays from now on.
  void watch_strays(CUcontext context);
  [[nodiscard]] bool start(CUcontext context);
  [[nodiscard]] CuptiFailure start_profiler(CUcontext context, std::shared_ptr<Batch>& batch);
  void stop(std::shared_ptr<Batch> batch);
  void stop_all();
  void pause_for_capture();
  /// Ends what this window counts, on a thread that launches.
  void end(CounterState state, std::string why);
  void match(Batch& batch);
  void problem(CounterState state, std::string why);
  void problem(const CuptiFailure& failure);
  // With the lock:
  [[nodiscard]] Batch* batch_of(CUcontext context);
  [[nodiscard]] std::shared_ptr<Batch> take_batch(CUcontext context);
  // Without it:
  /// The one that has the launch with that number; nullptr: none.
  [[nodiscard]] std::shared_ptr<Batch> shared_batch(CUcontext context, std::uint64_t serial) const;
  [[nodiscard]] bool has_batches() const;

  CuptiLibrary& cupti_;
  Subscription& subscription_;
  LaunchPlaces& places_;
  std::atomic<std::int64_t> step_ = 0;
  std::atomic<bool> keeps_ = true;

  std::atomic<bool> watches_ = false;
  std::atomic<std::size_t> watched_launches_ = 0;
  std::atomic<bool> has_graphs_ = false;  ///< were launched: ranges begin and end with the calls

  // Of the thread that switches.
  std::size_t room_ = 0;  ///< of the next batch, in ranges
  bool initialized_ = false;
  std::map<std::uint32_t, std::unique_ptr<HostMetrics>> metrics_;  ///< of devices

  mutable std::mutex mutex_;  ///< of what follows
  Phase phase_ = Phase::closed;
  bool with_launches_ = false;  ///< any thread's launch may open a context
  bool closes_ = false;         ///< with the next launch
  bool over_ = false;           ///< it cannot or must not go on
  int captures_ = 0;
  std::thread::id owner_;
  CUcontext switching_ = nullptr;
  bool has_strays_ = false;  ///< of that context
  std::uint64_t last_serial_ = 0;
  std::size_t launches_ = 0;  ///< of this window
  std::vector<std::shared_ptr<Batch>> batches_;
  std::vector<CountedLaunch> done_;
  CounterOutcome outcome_;
};

}  // namespace ridgeline::inject::RL_CUPTI
