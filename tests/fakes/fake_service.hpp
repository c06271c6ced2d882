// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "fakes/words.hpp"
#include "watch/watch_loop.hpp"

namespace ridgeline::fakes {

/// A service whose probes take `median_ms` times exp(noise * N(0, 1)); what it consists of is `state`.
class FakeService final : public watch::ProbeSource {
 public:
  explicit FakeService(std::uint64_t seed = 1) : random_(seed) {}

  double median_ms = 4;
  double noise = 0.01;
  std::string problem;  ///< the next probes fail with this
  bool idle = false;    ///< nothing to judge
  analysis::ServiceState state;
  std::function<void(analysis::ServiceState&)> closer = [](auto&) {};
  int looks = 0;
  int resets = 0;
  std::vector<std::string> baselines;  ///< names set

  base::Result<watch::Observation> look() override {
    ++looks;
    watch::Observation seen;
    seen.state = state;
    if (!problem.empty()) seen.problem = legacy(problem);
    if (!problem.empty() || idle) return seen;
    auto& figure = seen.figure.emplace();
    figure.count = 500;
    figure.median_ns = median_ms * 1e6 * std::exp(noise * random_.normal());
    figure.p90_ns = figure.p95_ns = figure.p99_ns = 1.1 * figure.median_ns;
    figure.ns_per_item = figure.median_ns;
    return seen;
  }
  void look_closer(analysis::ServiceState& seen) override { closer(seen); }
  void reset() override { ++resets; }
  void set_baseline(const watch::Baseline& baseline) override { baselines.push_back(baseline.name); }

 private:
  base::Random random_;
};

/// Keeps what the loop tells.
class HeardEvents final : public watch::WatchObserver {
 public:
  void event(const watch::WatchEvent& event) override { events.push_back(event); }
  void note(std::string_view line) override { notes.emplace_back(line); }

  [[nodiscard]] int count(watch::WatchEventKind kind) const {
    int number = 0;
    for (const auto& event : events) number += event.kind == kind;
    return number;
  }
  [[nodiscard]] const watch::WatchEvent* last(watch::WatchEventKind kind) const {
    for (auto at = events.rbegin(); at != events.rend(); ++at)
      if (at->kind == kind) return &*at;
    return nullptr;
  }

  std::vector<watch::WatchEvent> events;
  std::vector<std::string> notes;
};

/// 4 ms, measured on a GPU of an otherwise empty machine.
inline watch::Baseline fake_baseline(const std::string& name = "run/7") {
  watch::Baseline baseline;
  baseline.name = name;
  baseline.run.id = name.substr(0, name.find('/'));
  baseline.run.model.path = "model.onnx";
  baseline.spec.device = "gpu:GPU-1";
  baseline.spec.configuration = {{"intra_op_num_threads", 4}};
  baseline.figure = {2000, 4e6, 4.2e6, 4.3e6, 4.4e6, 4e6};
  auto& state = baseline.state;
  state.environment.usable_cpus = 16;
  state.environment.memory_bytes = 128LL << 30;
  state.environment.memory_available_bytes = 100LL << 30;
  state.environment.load_average = 1;
  auto& card = state.environment.gpus.emplace_back();
  card.uuid = "GPU-1";
  card.memory_bytes = 140LL << 30;
  card.driver_version = "580.159";
  state.runtime.name = "onnxruntime";
  state.runtime.version = "1.29.0";
  state.model_sha256 = std::string(64, 'a');
  state.shapes = {{{"x", {1, 3, 224, 224}}}};
  state.configuration = baseline.spec.configuration;
  auto& gpu = state.gpu.emplace();
  gpu.uuid = "GPU-1";
  gpu.timed_to_s = 2;
  gpu.sm_clock_mhz = 1980;
  gpu.throttle_ns = {{"power", 0}, {"thermal", 0}};
  gpu.memory_free_before_bytes = 130LL << 30;
  gpu.device_used_before_bytes = 1LL << 30;
  return baseline;
}

}  // namespace ridgeline::fakes
