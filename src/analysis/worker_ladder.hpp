// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "analysis/bench_evidence.hpp"
#include "schema/training_run.hpp"

namespace ridgeline::analysis {

struct DiagnosisInput;

/// A number of workers that was tried, and what it gave.
struct WorkerRung {
  int workers = 0;
  BenchEvidence evidence;
};

/// Numbers of workers, each twice the one before, as far as they bring something.
struct WorkerLadder {
  std::vector<WorkerRung> climbed;    ///< each clearly faster than the one before; the base is not among them
  std::optional<WorkerRung> stopped;  ///< tried, and no faster than the one before
  std::optional<int> next;            ///< worth a trial
  schema::Message end;                ///< why nothing is tried beyond; empty while there is a next
};

constexpr int kMostTriedWorkers = 64;

/// Twice as many workers; in place of none a few, as far as the CPUs go.
[[nodiscard]] int more_workers(int workers, double cores);

/// Whether steps wait for their batches for a share of their time that is worth a finding. Workers bring batches in
/// bursts, so that the median step may wait for none: what all steps took beyond the median's own work counts as well.
[[nodiscard]] bool waits_for_batches(const BenchEvidence& known, const schema::TrainingSettings& settings);

/// From `input.base` upwards, by the loader trials of the run. Up to twice the CPUs are tried once in any case; beyond
/// that, and further than one doubling, only workers that wait and do not compute, as long as steps wait for their
/// batches and the host's memory has room for as many again. `least`: gain that a doubling has to bring.
[[nodiscard]] WorkerLadder climb_workers(const schema::BenchRun& run, const DiagnosisInput& input, double least);

}  // namespace ridgeline::analysis
