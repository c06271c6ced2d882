// SPDX-License-Identifier: Apache-2.0
#include "workload/synthetic/synthetic_workload.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.hpp"
#include "base/text.hpp"
#include "schema/catalog.hpp"
#include "workload/synthetic/fault_injection.hpp"
#include "workload/synthetic/response_surface.hpp"

namespace ridgeline::workload {
namespace {

using schema::TrialPhase;

constexpr std::int64_t kOutputElements = 1000;
constexpr double kFirstStepExcess = 3;                    ///< the first inference takes 1 + this times as long
constexpr double kRewriteRounding = 2e-7;                 ///< what fused kernels change in float results
constexpr double kLongestInference = 30.0 * 24 * 3600e9;  ///< ns; thousands of them fit the clock
constexpr double kLeastLoad = 0.01;
constexpr double kMostLoad = 1000;

int concurrency_of(const schema::Configuration& configuration) {
  const auto sessions = std::clamp<std::int64_t>(configuration.get_or("parallel_sessions", 1).as_integer(1), 1, 256);
  const auto runs = std::clamp<std::int64_t>(configuration.get_or("concurrent_runs", 1).as_integer(1), 1, 256);
  return static_cast<int>(sessions * runs);
}

std::uint64_t seed_of(const SyntheticOptions& options, const schema::TrialSpec& spec) {
  return base::Random(options.seed * 0x9E3779B97F4A7C15ULL + spec.workload.seed).next();
}

/// On the real clock disturbances count from the first workload of the process.
base::Nanoseconds process_begin() {
  static const auto begin = base::system_clock().now();
  return begin;
}

}  // namespace

SyntheticWorkload::SyntheticWorkload(SyntheticOptions options, const schema::TrialSpec& spec,
                                     std::shared_ptr<const VirtualClock> clock, std::uint64_t instance)
    : SyntheticWorkload(options, spec, std::move(clock), instance,
                        workload::relative_duration(options, spec.configuration)) {}

SyntheticWorkload::SyntheticWorkload(SyntheticOptions options, const schema::TrialSpec& spec,
                                     std::shared_ptr<const VirtualClock> clock, std::uint64_t instance,
                                     double relative_duration)
    : options_(std::move(options)),
      configuration_(spec.configuration),
      virtual_clock_(std::move(clock)),
      output_seed_(spec.workload.seed),
      step_ns_(static_cast<double>(options_.base.count()) * relative_duration),
      items_per_step_(std::max(1.0, configuration_.get_or("batch_size", 1).as_number(1))),
      machine_(options_, configuration_, seed_of(options_, spec)),
      begin_(options_.clock == ClockMode::real ? process_begin() : VirtualClock::kBegin) {
  std::uint64_t seed = seed_of(options_, spec) ^ (instance * 0xD1B54A32D192ED03ULL);
  // A process begins to count instances anew, but the run's time goes on.
  if (options_.clock == ClockMode::virtual_time) seed ^= static_cast<std::uint64_t>(virtual_clock_->now().count());
  for (const char letter : configuration_.canonical())
    seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  const int count = concurrency_of(configuration_);
  callers_.reserve(static_cast<std::size_t>(count));
  for (int caller = 0; caller < count; ++caller)
    callers_.emplace_back(base::Random(seed + static_cast<std::uint64_t>(caller)).next());
}

void SyntheticWorkload::enter(TrialPhase phase) noexcept {
  phase_.store(phase);
  if (shared_phase_ != nullptr) shared_phase_->store(phase);
}

base::Result<void> SyntheticWorkload::show_fault(TrialPhase phase) const {
  const auto* fault = options_.find_fault(phase, configuration_);
  if (fault == nullptr) return {};
  return inject_fault(*fault);
}

base::Result<void> SyntheticWorkload::prepare() {
  enter(TrialPhase::load_runtime);
  RL_TRY(show_fault(TrialPhase::load_runtime));
  enter(TrialPhase::create_session);
  RL_TRY(show_fault(TrialPhase::create_session));
  RL_TRY(read_load());
  memory_.assign(static_cast<std::size_t>(options_.memory_mib) << 20U, '\1');
  session_create_time_ = options_.session_time * concurrency();
  clock().sleep_for(session_create_time_);
  return {};
}

bool SyntheticWorkload::enter_thread(int caller) noexcept {
  if (caller != 0) return true;
  auto read = read_load();
  if (!read) callers_.front().error = std::move(read).error();
  return read.has_value();
}

base::Result<void> SyntheticWorkload::read_load() {
  load_ = 1;
  if (options_.load_file.empty()) return {};
  const auto text = base::read_file(options_.load_file);
  if (!text && text.error().code == base::ErrorCode::not_found) return {};
  if (!text) return tl::unexpected(text.error());
  const auto factor = base::parse_number(base::trim(*text), "load");
  if (!factor || *factor < kLeastLoad || *factor > kMostLoad)
    return base::fail(base::ErrorCode::invalid_argument,
                      "synthetic workload: {}: \"{}\" is no number from {:g} to {:g}", options_.load_file,
                      base::trim(*text), kLeastLoad, kMostLoad);
  load_ = *factor;
  return {};
}

const base::Clock& SyntheticWorkload::clock() const noexcept {
  if (options_.clock == ClockMode::real) return base::system_clock();
  return *virtual_clock_;
}

double SyntheticWorkload::machine_factor() noexcept {
  return machine_.factor(std::max(base::Nanoseconds{}, clock().now() - begin_));
}

base::Nanoseconds SyntheticWorkload::next_duration(Caller& caller) noexcept {
  double duration = step_ns_ * load_ * machine_factor();
  if (options_.noise > 0) duration *= std::exp(options_.noise * caller.random.normal());
  if (options_.spikes > 0 && caller.random.uniform() < options_.spikes) duration *= options_.spike_size;
  if (caller.steps < options_.warmup)
    duration *= 1 + kFirstStepExcess *
                        std::exp(-4.0 * static_cast<double>(caller.steps) / static_cast<double>(options_.warmup));
  ++caller.steps;
  return base::Nanoseconds(std::llround(std::clamp(duration, 1.0, kLongestInference)));
}

void SyntheticWorkload::spend(base::Nanoseconds duration) const noexcept {
  if (options_.clock == ClockMode::virtual_time) {
    virtual_clock_->sleep_for(duration);
    return;
  }
  const auto end = base::system_clock().now() + duration;
  while (base::system_clock().now() < end) {
  }
}

bool SyntheticWorkload::step(int caller) noexcept {
  auto& mine = callers_[static_cast<std::size_t>(caller)];
  const auto current = shared_phase_ != nullptr ? shared_phase_->load(std::memory_order_relaxed) : TrialPhase::measure;
  if (!options_.faults.empty() && mine.faulted != current) {
    mine.faulted = current;
    if (auto shown = show_fault(current); !shown) {
      mine.error = shown.error();
      return false;
    }
  }
  spend(next_duration(mine));
  return true;
}

base::Error SyntheticWorkload::last_error(int caller) const { return callers_[static_cast<std::size_t>(caller)].error; }

base::Result<OutputSet> SyntheticWorkload::outputs() {
  enter(TrialPhase::verify);
  RL_TRY(show_fault(TrialPhase::verify));
  double relative =
      configuration_.get_or("graph_optimization_level", "all").as_text() == "disable_all" ? 0 : kRewriteRounding;
  for (const auto& drift : options_.accuracy)
    if (holds(drift.when, configuration_)) relative += drift.ratio;

  // Scaled by the largest magnitude (1), with a sign that alternates: a distance that is known exactly.
  base::Random values(output_seed_);
  std::vector<float> data(static_cast<std::size_t>(kOutputElements));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const double exact = i == 0 ? 1 : 2 * values.uniform() - 1;
    data[i] = static_cast<float>(exact + (i % 2 == 0 ? relative : -relative));
  }
  const auto* fault = options_.find_fault(TrialPhase::verify, configuration_);
  if (fault != nullptr && fault->kind == FaultKind::nan) data[7] = std::numeric_limits<float>::quiet_NaN();

  NamedTensor tensor{"y", "float", {1, kOutputElements}, std::string(data.size() * sizeof(float), '\0')};
  std::memcpy(tensor.bytes.data(), data.data(), tensor.bytes.size());
  return OutputSet{std::move(tensor)};
}

std::map<std::string, std::string> SyntheticWorkload::effective_settings() const {
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : configuration_.values()) {
    const bool ignored = std::find(options_.ignores.begin(), options_.ignores.end(), key) != options_.ignores.end();
    const auto* param = ignored ? schema::find_param(key) : nullptr;
    if (!ignored)
      settings[key] = value.to_text();
    else if (param != nullptr && param->default_value)
      settings[key] = param->default_value->to_text();
  }
  return settings;
}

}  // namespace ridgeline::workload
