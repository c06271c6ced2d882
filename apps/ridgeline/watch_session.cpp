// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/watch_session.hpp"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/file.hpp"
#include "execute/local_environment.hpp"
#include "report/messages.hpp"
#include "report/simulated.hpp"
#include "ridgeline/inject_library.hpp"
#include "ridgeline/python_packages.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/watch_display.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"
#include "schema/workload_name.hpp"
#include "watch/command_responder.hpp"
#include "watch/latency_file.hpp"
#include "watch/latency_socket.hpp"
#include "watch/latency_source.hpp"
#include "watch/messages.hpp"
#include "watch/profile_responder.hpp"
#include "watch/recorded_service.hpp"
#include "watch/retune_responder.hpp"
#include "watch/watch_loop.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;
using watch::Baseline;
using watch::WatchEventKind;

constexpr std::string_view kGpu = "gpu:";
constexpr int kOpinions = 3;  // looks at a doubtful figure, spread over the time from probe to probe

std::atomic<bool> reload_requested{false};

/// Elsewhere SIGHUP ends the program; a service that keeps watching reads its files again.
void install_reload_signal() {
  struct sigaction action {};
  action.sa_handler = [](int) { reload_requested.store(true, std::memory_order_relaxed); };
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGHUP, &action, nullptr);
}

/// Returns early for a signal.
void rest_until_or_reload(base::Nanoseconds moment) {
  while (!base::cancel_requested() && !reload_requested.load(std::memory_order_relaxed)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(moment - base::system_clock().now());
    if (left.count() <= 0) return;
    // In slices: a signal between the check and poll would else be seen a whole pause later.
    ::poll(nullptr, 0, static_cast<int>(std::min<std::int64_t>(left.count(), 500)));
  }
}

/// The machine as the watched device sees it: of GPUs only the one that is watched.
schema::Environment environment_of(const std::string& device) {
  auto environment = execute::local_environment();
  if (device.rfind(kGpu, 0) != 0) return environment;
  auto& gpus = environment.gpus;
  gpus.erase(
      std::remove_if(gpus.begin(), gpus.end(), [&](const auto& gpu) { return gpu.uuid != device.substr(kGpu.size()); }),
      gpus.end());
  return environment;
}

std::function<std::unique_ptr<execute::Executor>()> executors_for(const std::string& device,
                                                                  execute::Isolation isolation) {
  execute::GpuGroup gpus;
  if (device.rfind(kGpu, 0) == 0) gpus = environment_of(device).gpus;
  return [gpus, isolation] { return make_executor(isolation, gpus, {}); };
}

/// One `ridgeline watch`.
class WatchSession {
 public:
  WatchSession(const WatchFlags& flags, WatchPlan plan, const Context& context)
      : flags_(flags),
        plan_(std::move(plan)),
        context_(context),
        display_(flags.quiet     ? WatchDisplay::Words::none
                 : flags.verbose ? WatchDisplay::Words::probes
                                 : WatchDisplay::Words::events,
                 inspect_terminal(stdout), inspect_terminal(stderr)) {}

  Result<int> run() {
    RL_TRY_ASSIGN(auto baseline, choose_baseline());
    if (schema::is_simulated(baseline.run))
      display_.note(fmt::format("baseline {}: {}", baseline.name, words().text(report::messages::simulated())));
    const auto options = loop_options(baseline);
    RL_TRY_ASSIGN(auto file, watch::WatchStateFile::open(plan_.state));
    auto loaded = file.load(watch::WatchLoop::question(options, baseline));
    if (!loaded.note.empty()) display_.note(loaded.note);
    RL_TRY(check_model(baseline, loaded.known));
    RL_TRY(file.save(loaded.state));
    RL_TRY(make_source(baseline, loaded.state.source));
    RL_TRY(make_responders(baseline));
    std::vector<watch::Responder*> responders;
    for (const auto& responder : responders_) responders.push_back(responder.get());
    watch::WatchLoop loop(options, std::move(baseline), *source_, responders, base::system_clock(), display_,
                          std::move(loaded.state));
    return watch(loop, file);
  }

 private:
  /// A baseline is only read, so a file that cannot be written will do; opened anew each time, since such a one shows
  /// nothing that is written later. Only a retune or a profile has to write: that it cannot is reported at the start.
  Result<void> open_store() {
    const bool writes = plan_.retune || plan_.profile_s;
    if (store_ && writes) return {};
    auto opened = context_.open_store(writes ? store::Access::write : store::Access::read);
    if (!opened && writes)
      return tl::unexpected(
          std::move(opened.error()).in(plan_.retune ? "--on-degrade retune" : "--on-degrade profile"));
    if (!opened) return tl::unexpected(std::move(opened.error()));
    store_ = std::move(*opened);
    return {};
  }

  Result<Baseline> choose_baseline() {
    RL_TRY(open_store());
    const auto environment = execute::local_environment();
    RL_TRY_ASSIGN(auto baseline, watch::find_baseline(*store_, {plan_.run, flags_.model, flags_.config}, environment));
    if (!flags_.model.empty()) baseline.run.workload.location = schema::workload_named(flags_.model).location;
    return baseline;
  }

  watch::WatchLoop::Options loop_options(const Baseline& baseline) const {
    watch::WatchLoop::Options options;
    options.drift.threshold = plan_.threshold;
    options.drift.confidence = plan_.confidence;
    options.drift.horizon_probes = analysis::horizon_probes(base::to_seconds(plan_.every));
    options.objective = baseline.run.request.objective;
    options.learn = plan_.learn;
    options.config = flags_.config;
    options.source = plan_.source;
    // What the service writes comes at its own pace, and with --once there is a single look.
    if (plan_.source == "probe" && !plan_.count) options.opinions = kOpinions;
    return options;
  }

  watch::ServiceInspector make_inspector(const Baseline& baseline) const {
    const auto device = baseline.spec.device;
    watch::ServiceInspector::Options options;
    options.workload = baseline.run.workload;
    options.provider = baseline.run.provider;
    options.ort_library = flags_.ort_library;
    options.device = device;
    options.config = flags_.config;
    options.patch = plan_.patch;
    options.recommended = baseline.spec.configuration;
    options.make_executor = executors_for(device, execute::Isolation::pooled);
    options.environment = [device] { return environment_of(device); };
    return watch::ServiceInspector(std::move(options));
  }

  /// Another model than the baseline's is a mistake, unless it was exchanged while we watched.
  Result<void> check_model(const Baseline& baseline, bool known) const {
    auto inspector = make_inspector(baseline);
    // A simulated model needs no library; one that is named has to be one all the same.
    if (!flags_.ort_library.empty() && baseline.run.workload.kind == "synthetic")
      RL_TRY(execute::probe(inspector.executor(), "onnx", flags_.ort_library));
    analysis::ServiceState state;
    if (auto found = inspector.inspect(state); !found) {
      if (known) return {};  // a cause to be reported, not a mistake
      return tl::unexpected(std::move(found.error()).in(fmt::format("baseline {}", baseline.name)));
    }
    if (known || state.model_sha256 == baseline.state.model_sha256) return {};
    return base::fail(ErrorCode::invalid_argument,
                      "baseline {} was measured with different content of {} (SHA-256 {} then, {} now)", baseline.name,
                      baseline.run.workload.location, baseline.state.model_sha256.substr(0, 12),
                      state.model_sha256.substr(0, 12))
        .hint("tune the new model, or name the file with --model");
  }

  Result<void> make_source(const Baseline& baseline, const base::Json& position) {
    const auto& device = baseline.spec.device;
    watch::GpuSampler sampler(device.rfind(kGpu, 0) == 0 ? device.substr(kGpu.size()) : "", base::system_clock());
    if (!flags_.latency_file.empty() || !flags_.latency_socket.empty()) {
      std::unique_ptr<watch::LatencyInput> input;
      if (!flags_.latency_file.empty()) {
        RL_TRY_ASSIGN(auto file, watch::LatencyFile::open(flags_.latency_file, position));
        input = std::make_unique<watch::LatencyFile>(std::move(file));
      } else {
        RL_TRY_ASSIGN(input, watch::LatencySocket::open(flags_.latency_socket));
      }
      source_ = std::make_unique<watch::LatencySource>(std::move(input), make_inspector(baseline), std::move(sampler));
      return {};
    }
    watch::WorkerProbe::Options options;
    options.baseline = baseline;
    options.probe_time_s = plan_.probe_time_s;
    options.keep_worker = flags_.isolation == "pooled";
    source_ = std::make_unique<watch::WorkerProbe>(std::move(options), make_inspector(baseline), std::move(sampler));
    return {};
  }

  Result<void> make_responders(const Baseline& baseline) {
    for (const auto& command : plan_.commands)
      responders_.push_back(
          std::make_unique<watch::CommandResponder>(words(), command, plan_.command_time, &base::cancel_requested));
    if (plan_.profile_s) RL_TRY(make_profile_responder(baseline.spec.device));
    if (!plan_.retune) return {};
    const auto device = baseline.spec.device;
    watch::RetuneResponder::Options options;
    options.config = flags_.config;
    options.patch = plan_.patch;
    options.budget = plan_.retune_time;
    options.search = flags_.retune_search;
    options.ort_library = flags_.ort_library;
    options.arguments = context_.arguments;
    options.make_executor = executors_for(device, execute::Isolation::pooled);
    options.environment = [device] { return environment_of(device); };
    options.reference_folder = base::cache_folder() / "references";
    options.ceilings_folder = base::cache_folder() / "gpu_ceilings";
    const auto registry = workload::make_default_registry();
    RL_TRY_ASSIGN(const auto* kind, registry.find(baseline.run.workload.kind));
    options.reference = kind->reference;
    options.gpu_reference = kind->gpu_reference;
    auto retune = std::make_unique<watch::RetuneResponder>(std::move(options), baseline, *store_, *source_,
                                                           base::system_clock(), display_, &base::cancel_requested);
    retune_ = retune.get();
    responders_.push_back(std::move(retune));
    return {};
  }

  Result<void> make_profile_responder(const std::string& device) {
    watch::ServiceRecording recording;
    if (device.rfind(kGpu, 0) == 0) recording.gpu = device.substr(kGpu.size());
    recording.duration_s = *plan_.profile_s;
    RL_TRY_ASSIGN(recording.library, find_inject_library());
    if (const auto python = python_packages()) recording.python_folder = *python;
    recording.trace_folder = (context_.database_path().parent_path() / "traces").string();
    recording.arguments = {context_.arguments.begin() + 1, context_.arguments.end()};
    responders_.push_back(std::make_unique<watch::ProfileResponder>(
        plan_.cooldown, [this, recording] { return watch::record_service(recording, *store_); }, base::system_clock()));
    return {};
  }

  /// After SIGHUP. What is wrong with the files is reported, and watching goes on as before.
  void reload(watch::WatchLoop& loop) {
    const auto again = [&]() -> Result<std::string> {
      RL_TRY(read_watch_flags(flags_));
      RL_TRY_ASSIGN(auto baseline, choose_baseline());
      const auto name = baseline.name;
      source_->reset();
      source_->set_baseline(baseline);
      if (retune_ != nullptr) retune_->set_baseline(baseline);
      loop.rebase(std::move(baseline));
      return name;
    };
    const auto done = again();
    if (done)
      loop.announce(WatchEventKind::reloaded, watch::messages::reloaded(*done));
    else
      loop.announce(WatchEventKind::action_failed, watch::messages::reload_failed(base::error_line(done.error())));
  }

  Result<int> watch(watch::WatchLoop& loop, const watch::WatchStateFile& file) {
    install_reload_signal();
    const bool endless = !plan_.count.has_value();
    if (endless)
      loop.announce(WatchEventKind::started,
                    watch::messages::started({.model = loop.baseline().run.model.path,
                                              .every = static_cast<double>(plan_.every.count()),
                                              .baseline = plan_.learn ? "" : loop.baseline().name,
                                              .source = plan_.source}));
    RL_TRY(display_.check_output());
    auto next = base::system_clock().now();
    for (std::int64_t done = 0; !base::cancel_requested() && (endless || done < *plan_.count); ++done) {
      // A service's latencies have to come in first; those in a file may be there already.
      if (done > 0 || !flags_.latency_socket.empty() || (!flags_.latency_file.empty() && endless)) {
        const auto now = base::system_clock().now();
        auto moment = now + plan_.every / (kOpinions + 1);
        if (!loop.undecided()) moment = next = std::max(next + plan_.every, now);
        rest_until_or_reload(moment);
        while (reload_requested.exchange(false)) {
          reload(loop);
          rest_until_or_reload(moment);
        }
        if (base::cancel_requested()) break;
      }
      const auto stepped = loop.step();
      if (!stepped && stepped.error().code == ErrorCode::cancelled) break;
      if (!stepped) return tl::unexpected<base::Error>(stepped.error());
      if (auto saved = file.save(loop.state()); !saved) {
        if (!endless) return tl::unexpected(std::move(saved).error());
        display_.note(base::error_line(saved.error()));
      }
      RL_TRY(display_.check_output());
    }
    if (endless) {
      loop.announce(WatchEventKind::stopped, watch::messages::stopped(loop.state().probes));
      RL_TRY(display_.check_output());
      return kOk;
    }
    if (base::cancel_requested()) return kCancelled;
    loop.announce_status();
    RL_TRY(display_.check_output());
    return loop.bad() ? kFinding : kOk;
  }

  const WatchFlags& flags_;
  WatchPlan plan_;
  std::optional<store::Store> store_;  ///< results
  const Context& context_;
  WatchDisplay display_;
  std::unique_ptr<watch::ProbeSource> source_;
  std::vector<std::unique_ptr<watch::Responder>> responders_;
  watch::RetuneResponder* retune_ = nullptr;
};

}  // namespace

Result<int> run_watch(const WatchFlags& flags, const Context& context) {
  RL_TRY_ASSIGN(auto plan, read_watch_flags(flags));
  WatchSession session(flags, std::move(plan), context);
  return session.run();
}

}  // namespace ridgeline::app
