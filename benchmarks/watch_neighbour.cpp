// SPDX-License-Identifier: Apache-2.0
// What the probes of `ridgeline watch` do to a service on the same device: this program is the service, one inference
// after another with pauses between, and its 99th percentile with a watch beside it stands against that without, phase
// by phase in turned order. The goal is below 0.5 %. On a machine with nothing else to do.
//   cmake --preset bench && cmake --build build/bench --target watch_neighbour ridgeline
//   build/bench/bin/watch_neighbour RIDGELINE MODEL.onnx FOLDER [--provider cuda|cpu] [--ort PATH] [--every 60s]
//                                   [--probe-time 2s] [--phase SECONDS] [--pairs N] [--duty SHARE]
// FOLDER gets what `tune` finds first; --phase is to be a multiple of --every. Takes (2 phases + 10 s) a pair.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/math/distributions/students_t.hpp>

#include "analysis/summary.hpp"
#include "base/clock.hpp"
#include "base/subprocess.hpp"
#include "workload/workload_registry.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr double kGoal = 0.005;
constexpr double kSettleS = 10;  // the watch starts its worker and takes its first probe

[[noreturn]] void give_up(const std::string& reason) {
  fmt::print(stderr, "watch_neighbour: {}\n", reason);
  std::exit(2);
}

base::Subprocess start(std::vector<std::string> argv) {
  base::SubprocessOptions options;
  options.argv = std::move(argv);
  auto child = base::Subprocess::spawn(options);
  if (!child) give_up(child.error().message);
  return std::move(*child);
}

struct Phase {
  double p50_ms = 0;
  double p99_ms = 0;
  std::size_t count = 0;
};

/// Serves for so long; `duty` of the time an inference runs.
Phase serve(workload::Workload& service, double seconds, double duty) {
  const auto& clock = base::system_clock();
  const auto until = clock.now() + base::from_seconds(seconds);
  std::vector<double> latencies;
  while (clock.now() < until) {
    const auto begun = clock.now();
    if (!service.step(0)) give_up(service.last_error(0).message);
    const auto took = clock.now() - begun;
    latencies.push_back(static_cast<double>(took.count()));
    const auto pause = base::Nanoseconds(std::llround(static_cast<double>(took.count()) * (1 / duty - 1)));
    if (pause.count() > 0) clock.sleep_for(std::min<base::Nanoseconds>(pause, std::chrono::milliseconds(100)));
  }
  return {analysis::quantile(latencies, 0.5) * 1e-6, analysis::quantile(latencies, 0.99) * 1e-6, latencies.size()};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::map<std::string, std::string> flags{{"--provider", "cuda"}, {"--ort", ""},     {"--every", "60s"},
                                           {"--probe-time", "2s"}, {"--phase", "60"}, {"--pairs", "4"},
                                           {"--duty", "0.5"}};
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word.rfind("--", 0) != 0)
      words.push_back(word);
    else if (flags.count(word) != 0 && at + 1 < argc)
      flags[word] = argv[++at];
    else
      give_up("unknown flag " + word);
  }
  const double phase_s = std::atof(flags["--phase"].c_str());
  const double duty = std::atof(flags["--duty"].c_str());
  const int pairs = std::atoi(flags["--pairs"].c_str());
  if (words.size() != 3 || phase_s <= 0 || pairs < 2 || duty <= 0 || duty > 1)
    give_up(
        "expected RIDGELINE MODEL.onnx FOLDER [--provider P] [--ort PATH] [--every T] [--probe-time T] [--phase S] "
        "[--pairs N, at least 2] [--duty SHARE]");
  const auto folder = std::filesystem::absolute(words[2]);
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const auto db = (folder / "results.db").string();
  std::vector<std::string> ort;
  if (!flags["--ort"].empty()) ort = {"--ort-library", flags["--ort"]};
  const auto with_ort = [&](std::vector<std::string> argv_of) {
    argv_of.insert(argv_of.end(), ort.begin(), ort.end());
    return argv_of;
  };
  const auto tuned = start(with_ort({words[0], "tune", words[1], "--quick", "--max-time", "40s", "--provider",
                                     flags["--provider"], "--db", db, "-q"}))
                         .wait();
  if (tuned.exit_code.value_or(1) != 0) give_up("ridgeline tune did not work; run it by hand to see why");

  const auto registry = workload::make_default_registry();
  const auto* kind = registry.find("onnx").value();
  schema::TrialSpec spec;
  spec.workload.kind = "onnx";
  spec.workload.location = words[1];
  auto described = kind->inspect({spec.workload, flags["--ort"]});
  if (!described) give_up(described.error().message);
  spec.workload.shapes = described->shapes;
  spec.provider = flags["--provider"];
  spec.runtime.library_path = flags["--ort"];
  auto service = kind->make(spec);
  if (!service) give_up(service.error().message);
  if (const auto prepared = (*service)->prepare(); !prepared) give_up(prepared.error().message);
  (void)serve(**service, 3, duty);

  std::vector<double> ratios;
  fmt::print("| pair | watched | inferences | p50, ms | p99, ms |\n|---:|---|---:|---:|---:|\n");
  for (int pair = 0; pair < pairs; ++pair) {
    double p99[2] = {0, 0};
    for (const bool watched : {pair % 2 != 0, pair % 2 == 0}) {
      std::vector<base::Subprocess> watch;
      if (watched) {
        watch.push_back(start(with_ort({words[0], "watch", "--db", db, "--state", (folder / "state.json").string(),
                                        "--every", flags["--every"], "--probe-time", flags["--probe-time"], "-q"})));
        (void)serve(**service, kSettleS, duty);
      }
      const auto phase = serve(**service, phase_s, duty);
      if (watched && watch.front().poll()) give_up("ridgeline watch ended by itself; run it by hand to see why");
      p99[watched ? 1 : 0] = phase.p99_ms;
      fmt::print("| {} | {} | {} | {:.4f} | {:.4f} |\n", pair + 1, watched ? "yes" : "no", phase.count, phase.p50_ms,
                 phase.p99_ms);
      std::fflush(stdout);
    }
    ratios.push_back(std::log(p99[1] / p99[0]));
  }
  double mean = 0;
  for (const double ratio : ratios) mean += ratio / pairs;
  double squares = 0;
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  const double t = boost::math::quantile(boost::math::students_t(pairs - 1), 0.975);
  const double half = t * std::sqrt(squares / (pairs - 1) / pairs);
  const double slower = std::exp(mean) - 1;
  fmt::print("\np99 with a watch beside it: {:+.2f} % [{:+.2f}, {:+.2f}]; goal below {:.1f} %: {}\n", slower * 100,
             (std::exp(mean - half) - 1) * 100, (std::exp(mean + half) - 1) * 100, kGoal * 100,
             slower < kGoal ? "met" : "missed");
  return slower < kGoal ? 0 : 1;
}
