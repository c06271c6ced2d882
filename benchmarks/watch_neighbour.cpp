// SPDX-License-Identifier: Apache-2.0
// What the probes of `ridgeline watch` do to a service on the same device: this program is the service, one inference
// after another with pauses between, and the 99th percentile of all its latencies stands against that of the inferences
// that no probe touched. Both are of the same minutes, so that a machine's own ups and downs are in both. The goal is
// below 0.5 %.
//   cmake --preset bench && cmake --build build/bench --target watch_neighbour ridgeline
//   build/bench/bin/watch_neighbour RIDGELINE MODEL.onnx FOLDER [--provider cuda|cpu] [--ort PATH] [--every 60s]
//                                   [--as-every 60s] [--probe-time 2s] [--probes N] [--duty SHARE]
//                                   [--isolation pooled|trial]
// FOLDER gets what `tune` finds first. Takes N times --every. With --as-every, a whole multiple of --every, inferences
// that no probe touched count that many times: more probes in the same time, weighed as if they were that far apart.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "analysis/summary.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"
#include "stats/interval.hpp"
#include "stats/quantile.hpp"
#include "workload/workload_registry.hpp"

namespace {

using namespace ridgeline;  // a program, not a library

constexpr double kGoal = 0.005;
constexpr base::Nanoseconds kMargin =
    std::chrono::milliseconds(50);  // around a probe: its figure is judged and reported

[[noreturn]] void give_up(const std::string& reason) {
  fmt::print(stderr, "watch_neighbour: {}\n", reason);
  std::exit(2);
}

double seconds_of(std::map<std::string, std::string>& flags, const std::string& name) {
  const auto time = base::parse_duration(flags[name], name);
  if (!time) give_up(time.error().message);
  return base::to_seconds(*time);
}

base::Subprocess start(std::vector<std::string> argv, bool capture) {
  base::SubprocessOptions options;
  options.argv = std::move(argv);
  options.capture_output = capture;
  auto child = base::Subprocess::spawn(options);
  if (!child) give_up(child.error().message);
  return std::move(*child);
}

/// When something took place, by the system clock.
struct Span {
  base::Nanoseconds begin;
  base::Nanoseconds end;
};

/// Reads what `watch -v` says: a line "...; took 0.62 s" ends a probe.
class ProbeLog {
 public:
  explicit ProbeLog(int fd) : thread_([this, fd](const std::stop_token& stop) { read(stop, fd); }) {}
  [[nodiscard]] std::vector<Span> probes() const {
    const std::lock_guard lock(mutex_);
    return probes_;
  }
  [[nodiscard]] std::string last_line() const {
    const std::lock_guard lock(mutex_);
    return last_line_;
  }

 private:
  void read(const std::stop_token& stop, int fd) {
    std::string text;
    char part[4096];
    while (!stop.stop_requested()) {
      pollfd wait{fd, POLLIN, 0};
      if (::poll(&wait, 1, 100) <= 0) continue;
      const auto got = ::read(fd, part, sizeof part);
      const auto now = base::system_clock().now();
      if (got <= 0) return;
      text.append(part, static_cast<std::size_t>(got));
      for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        take(text.substr(0, end), now);
        text.erase(0, end + 1);
      }
    }
  }
  void take(const std::string& line, base::Nanoseconds now) {
    const std::lock_guard lock(mutex_);
    last_line_ = line;
    const auto at = line.rfind("; took ");
    if (at != std::string::npos) probes_.push_back({now - base::from_seconds(std::atof(line.c_str() + at + 7)), now});
  }

  mutable std::mutex mutex_;
  std::vector<Span> probes_;
  std::string last_line_;
  std::jthread thread_;
};

struct Inference {
  Span span;
  double ms = 0;
};

/// Serves until `done` says so; `duty` of the time an inference runs.
template <class Done>
std::vector<Inference> serve(workload::Workload& service, double duty, Done done) {
  const auto& clock = base::system_clock();
  std::vector<Inference> inferences;
  while (!done()) {
    const auto begun = clock.now();
    if (!service.step(0)) give_up(service.last_error(0).message);
    const auto now = clock.now();
    inferences.push_back({{begun, now}, base::to_seconds(now - begun) * 1e3});
    const auto pause = base::Nanoseconds(std::llround(static_cast<double>((now - begun).count()) * (1 / duty - 1)));
    if (pause.count() > 0) clock.sleep_for(std::min<base::Nanoseconds>(pause, std::chrono::milliseconds(100)));
  }
  return inferences;
}

/// The latencies of one stretch from the end of a probe to that of the next, and which of them a probe touched.
struct Cycle {
  std::vector<double> touched;
  std::vector<double> alone;
};

std::vector<Cycle> cycles_of(const std::vector<Inference>& inferences, const std::vector<Span>& probes) {
  std::vector<Cycle> cycles(probes.empty() ? 0 : probes.size() - 1);
  std::size_t at = 0;
  for (const auto& inference : inferences) {
    while (at < probes.size() && inference.span.begin > probes[at].end + kMargin) ++at;
    if (at == 0 || at >= probes.size())
      continue;  // before the first probe's end, which starts the worker, or after the last
    auto& cycle = cycles[at - 1];
    (inference.span.end >= probes[at].begin - kMargin ? cycle.touched : cycle.alone).push_back(inference.ms);
  }
  return cycles;
}

/// p99 of all over p99 of those that no probe touched, less 1; the latter count `weight` times.
double added(const std::vector<const Cycle*>& cycles, int weight) {
  std::vector<double> all;
  for (const auto* cycle : cycles)
    for (int i = 0; i < weight; ++i) all.insert(all.end(), cycle->alone.begin(), cycle->alone.end());
  const double alone = stats::quantile(all, 0.99);
  for (const auto* cycle : cycles) all.insert(all.end(), cycle->touched.begin(), cycle->touched.end());
  return stats::quantile(all, 0.99) / alone - 1;
}

/// 95 % interval: whole cycles drawn with replacement.
stats::Interval interval_of(const std::vector<const Cycle*>& cycles, int weight) {
  base::Random random(1);
  std::vector<double> drawn;
  for (int i = 0; i < 400; ++i) {
    std::vector<const Cycle*> sample;
    for (std::size_t k = 0; k < cycles.size(); ++k) sample.push_back(cycles[random.below(cycles.size())]);
    drawn.push_back(added(sample, weight));
  }
  return {stats::quantile(drawn, 0.025), stats::quantile(drawn, 0.975)};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  std::map<std::string, std::string> flags{{"--provider", "cuda"},    {"--ort", ""},      {"--every", "60s"},
                                           {"--probe-time", "2s"},    {"--probes", "10"}, {"--duty", "0.5"},
                                           {"--isolation", "pooled"}, {"--as-every", ""}};
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word.rfind("--", 0) != 0)
      words.push_back(word);
    else if (flags.count(word) != 0 && at + 1 < argc)
      flags[word] = argv[++at];
    else
      give_up("unknown flag " + word);
  }
  const double duty = std::atof(flags["--duty"].c_str());
  const int wanted = std::atoi(flags["--probes"].c_str());
  const double every_s = seconds_of(flags, "--every");
  const double as_every_s = flags["--as-every"].empty() ? every_s : seconds_of(flags, "--as-every");
  const auto weight = static_cast<int>(std::lround(as_every_s / every_s));
  if (words.size() != 3 || wanted < 2 || duty <= 0 || duty > 1 || weight < 1 ||
      std::abs(weight * every_s - as_every_s) > 1e-9)
    give_up(
        "expected RIDGELINE MODEL.onnx FOLDER [--provider P] [--ort PATH] [--every T] [--as-every T, a multiple of it] "
        "[--probe-time T] [--probes N, at least 2] [--duty SHARE] [--isolation pooled|trial]");
  const auto folder = std::filesystem::absolute(words[2]);
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  const auto db = (folder / "results.db").string();
  const auto with_ort = [&](std::vector<std::string> argv_of) {
    if (!flags["--ort"].empty()) argv_of.insert(argv_of.end(), {"--ort-library", flags["--ort"]});
    return argv_of;
  };
  const auto tuned = start(with_ort({words[0], "tune", words[1], "--quick", "--max-time", "40s", "--provider",
                                     flags["--provider"], "--db", db, "-q"}),
                           false)
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

  auto watch =
      start(with_ort({words[0], "watch", "--db", db, "--state", (folder / "state.json").string(), "--every",
                      flags["--every"], "--time", flags["--probe-time"], "--isolation", flags["--isolation"], "-v"}),
            true);
  const ProbeLog log(watch.output_fd());
  // One more: nothing counts before the first has ended, which starts the worker.
  const auto inferences = serve(**service, duty, [&] {
    if (watch.poll()) give_up(fmt::format("ridgeline watch ended by itself: {}", log.last_line()));
    return log.probes().size() > static_cast<std::size_t>(wanted);
  });
  const auto probes = log.probes();
  const auto cycles = cycles_of(inferences, probes);

  fmt::print(
      "| probe | took, s | inferences | touched | p50 alone, ms | p50 touched, ms | p99 alone, ms "
      "|\n|---:|---:|---:|---:|---:|---:|---:|\n");
  std::vector<const Cycle*> all;
  std::size_t touched = 0;
  std::size_t count = 0;  // as weighed
  for (std::size_t i = 0; i < cycles.size(); ++i) {
    const auto& cycle = cycles[i];
    all.push_back(&cycle);
    touched += cycle.touched.size();
    count += cycle.touched.size() + cycle.alone.size() * static_cast<std::size_t>(weight);
    fmt::print("| {} | {:.2f} | {} | {} | {:.4f} | {:.4f} | {:.4f} |\n", i + 1,
               base::to_seconds(probes[i + 1].end - probes[i + 1].begin), cycle.touched.size() + cycle.alone.size(),
               cycle.touched.size(), stats::quantile(cycle.alone, 0.5), stats::quantile(cycle.touched, 0.5),
               stats::quantile(cycle.alone, 0.99));
  }
  const double more = added(all, weight);
  const auto interval = interval_of(all, weight);
  fmt::print(
      "\np99 with the {:.2f} % of inferences that a probe touched: {:+.2f} % [{:+.2f}, {:+.2f}]; goal below {:.1f} %: "
      "{}\n",
      100.0 * static_cast<double>(touched) / static_cast<double>(std::max<std::size_t>(count, 1)), more * 100,
      interval.low * 100, interval.high * 100, kGoal * 100, more < kGoal ? "met" : "missed");
  return more < kGoal ? 0 : 1;
}
