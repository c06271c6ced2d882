// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/wait_notes.hpp"

#include <algorithm>

#include "campaign/messages.hpp"
#include "schema/messages.hpp"

namespace ridgeline::campaign {

RL_DEFINE_JSON(WaitPlace, place, kind, share)
RL_DEFINE_JSON(WorkerWaits, workers, samples_per_s, waits, places)

namespace {

constexpr double kNoFaster = 1.3;     ///< times the samples/s of one worker, up to which several are no faster
constexpr double kWaits = 0.3;        ///< of a sample's time, from which it mostly waits
constexpr double kLockShare = 0.15;   ///< of the waits, from which a lock is what holds workers up
constexpr double kOftenEnough = 0.5;  ///< calls per step, from which they are those of a step

/// Where workers that wait for one another do so: at a lock if there is one, else where they wait longest.
const WaitPlace* shared_place(const WorkerWaits& several) {
  const auto is_lock = [](const WaitPlace& one) {
    return (one.kind == WaitKind::lock || one.kind == WaitKind::file_lock) && one.share >= kLockShare;
  };
  const auto lock = std::find_if(several.places.begin(), several.places.end(), is_lock);
  if (lock != several.places.end()) return &*lock;
  return several.places.empty() ? nullptr : &several.places.front();
}

schema::Message wait_of(const WaitPlace* place) {
  using Kind = messages::BenchWaitKind;
  if (place == nullptr) return messages::bench_wait({.kind = Kind::other});
  const auto kind = [&] {
    switch (place->kind) {
      case WaitKind::lock: return Kind::lock;
      case WaitKind::file_lock: return Kind::file_lock;
      case WaitKind::read: return Kind::read;
      case WaitKind::sleep: return Kind::sleep;
      case WaitKind::network: return Kind::network;
      case WaitKind::other: break;
    }
    return Kind::other;
  }();
  return messages::bench_wait({.kind = kind, .place = place->place});
}

}  // namespace

schema::Message workers_note(const WorkerWaits& one, const WorkerWaits& several) {
  const double times = one.samples_per_s > 0 ? several.samples_per_s / one.samples_per_s : 0;
  if (several.waits < kWaits)
    return messages::bench_workers_compute({.workers = several.workers, .times = times, .computes = 1 - several.waits});
  if (times > kNoFaster)
    return messages::bench_workers_wait_alone(
        {.workers = several.workers,
         .times = times,
         .waits = several.waits,
         .wait = wait_of(several.places.empty() ? nullptr : &several.places.front())});
  return messages::bench_workers_wait_together({.workers = several.workers,
                                                .several = several.samples_per_s,
                                                .one = one.samples_per_s,
                                                .waits = several.waits,
                                                .wait = wait_of(shared_place(several))});
}

std::optional<schema::Message> host_reads_note(const schema::TrainingMeasurement& measurement, bool on_cpu) {
  std::vector<schema::Message> calls;
  for (const auto& read : measurement.resources.host_reads.value_or(std::vector<schema::HostRead>()))
    if (read.per_step >= kOftenEnough)
      calls.push_back(
          messages::bench_host_read({.call = read.call,
                                     .count = read.per_step,
                                     .place = read.place,
                                     .ms = read.ms_per_step > 0 ? std::optional(read.ms_per_step) : std::nullopt}));
  if (calls.empty()) return std::nullopt;
  return messages::bench_host_reads(
      {.calls = std::move(calls), .gpu = !on_cpu, .step_ms = measurement.phases.wall_ms.value});
}

}  // namespace ridgeline::campaign
