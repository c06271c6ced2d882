// SPDX-License-Identifier: Apache-2.0
// What watching a GPU does to the inferences that are timed on it: one session, blocks with the sampler at work and
// blocks without, A B B A; the goal is a difference below 0.5 %.
//   cmake --preset bench && cmake --build build/bench --target sampler_disturbance
//   build/bench/bin/sampler_disturbance MODEL.onnx GPU-UUID [--ort FOLDER] [--abba-rounds N]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "analysis/comparison.hpp"
#include "gpu/telemetry_sampler.hpp"
#include "workload/workload_registry.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr double kBlockS = 0.25;
constexpr double kGoal = 0.005;

[[noreturn]] void give_up(const std::string& reason) {
  fmt::print(stderr, "sampler_disturbance: {}\n", reason);
  std::exit(2);
}

schema::PairedBlock block(workload::Workload& workload, gpu::TelemetrySampler* sampler) {
  schema::PairedBlock timed;
  timed.arm = sampler != nullptr ? 'B' : 'A';
  if (sampler != nullptr) {
    sampler->begin_trial();
    sampler->begin_timing();
    sampler->begin_part();
  }
  const auto& clock = base::system_clock();
  const auto begun = clock.now();
  const auto until = begun + base::from_seconds(kBlockS);
  auto now = begun;
  while (now < until) {
    if (!workload.step(0)) give_up(workload.last_error(0).message);
    const auto after = clock.now();
    timed.latency_ns.push_back(static_cast<double>((after - now).count()));
    now = after;
  }
  timed.wall_ns = static_cast<double>((now - begun).count());
  if (sampler != nullptr) {
    (void)sampler->end_part();
    sampler->end_timing({});
    (void)sampler->end_trial();
  }
  return timed;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::string ort;
  int abba_rounds = 40;
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    if (word == "--ort" && at + 1 < argc)
      ort = argv[++at];
    else if (word == "--abba-rounds" && at + 1 < argc)
      abba_rounds = std::max(2, std::atoi(argv[++at]));
    else
      words.emplace_back(word);
  }
  if (words.size() != 2) give_up("expected MODEL.onnx GPU-UUID [--ort FOLDER] [--abba-rounds N]");
  auto api = gpu::NvmlApi::load();
  if (!api) give_up(api.error().message);
  // Before the process touches CUDA, as a worker does.
  auto sampler = gpu::TelemetrySampler::make(*api, words[1]);
  if (!sampler) give_up(sampler.error().message);

  const auto registry = workload::make_default_registry();
  const auto* kind = registry.find("onnx").value();
  schema::TrialSpec spec;
  spec.workload.kind = "onnx";
  spec.workload.location = words[0];
  auto described = kind->inspect({spec.workload, ort});
  if (!described) give_up(described.error().message);
  spec.workload.shapes = described->shapes;
  spec.provider = "cuda";
  spec.runtime.library_path = ort;
  spec.configuration = {{"io_binding", "stream"}, {"enable_cuda_graph", true}};
  auto made = kind->make(spec);
  if (!made) give_up(made.error().message);
  if (const auto prepared = (*made)->prepare(); !prepared) give_up(prepared.error().message);

  for (int warm = 0; warm < 4; ++warm) (void)block(**made, nullptr);
  schema::PairedMeasurement measured;
  for (int abba_round = 0; abba_round < abba_rounds; ++abba_round)
    for (const bool watched : {false, true, true, false})
      measured.blocks.push_back(block(**made, watched ? sampler->get() : nullptr));
  const auto comparison = analysis::compare_paired(measured, schema::Objective::latency, 0.02);
  const double slower = 1 / comparison.ratio - 1;
  const double most = 1 / comparison.low - 1;
  fmt::print(
      "{} ABBA rounds of {} ms blocks: watched inferences take {:+.3f} % [{:+.3f}, {:+.3f}]; goal below {:.1f} %: {}\n",
      abba_rounds, kBlockS * 1e3, slower * 100, (1 / comparison.high - 1) * 100, most * 100, kGoal * 100,
      most < kGoal ? "met" : "missed");
  return most < kGoal ? 0 : 1;
}
