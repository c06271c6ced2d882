// SPDX-License-Identifier: Apache-2.0
// What measuring costs in the native way: steps of ridgeline_torch.so, fed as the program feeds it, against a bare loop
// of the same training on LibTorch, in blocks A B B A. Goal: at most 1 % for steps of 5 ms and more.
// The plugin comes from scripts/build_torch_plugin.sh, this program from g++ and the same torch (libtorch-dev: t=/usr):
//   t=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')
//   flags="-std=c++20 -O2 -fno-strict-aliasing -Isrc -I$t/include -I$t/include/torch/csrc/api/include"
//   links="-L$t/lib -Wl,-rpath,$t/lib,--no-as-needed,--allow-shlib-undefined -ltorch -ltorch_cpu -lc10"
//   g++ $flags benchmarks/plugin_overhead.cpp -o plugin_overhead $links
//   ./plugin_overhead PLUGIN [--device cuda:0] [--hidden N] [--batch N] [--steps N] [--rounds N]
// The model is the built-in mlp. Both loops have the same weights, batches and operators: their losses must agree.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <dlfcn.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workload/training/plugin_abi.h"

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kClasses = 10;
constexpr double kRate = 0.001;
constexpr double kMomentum = 0.9;
constexpr double kGoal = 0.01;
constexpr double kGoalStepMs = 5;
constexpr double kLossTolerance = 1e-3;
constexpr const char* kOptions =  // the defaults but for the rate, with which the loss stays finite
    R"({"depth": "2", "hidden": "%lld", "classes": "10", "optimizer": "sgd", "momentum": "0.9", "learning_rate": "0.001"})";

struct Flags {
  std::string plugin;
  std::string device = "cpu";
  std::int64_t hidden = 512;
  std::int64_t batch = 64;
  std::int64_t steps = 50;
  std::int64_t rounds = 10;
};

[[noreturn]] void give_up(const std::string& reason) {
  std::fprintf(stderr, "plugin_overhead: %s\n", reason.c_str());
  std::exit(2);
}

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Two batches in the host's memory, page-locked for a GPU: Ridgeline's loader without its work.
class Batches {
 public:
  Batches(const rl_train_api& api, const Flags& flags) : pinned_(flags.device != "cpu") {
    for (auto& batch : batches_) {
      const auto inputs = at::randn({flags.batch, flags.hidden});
      const auto labels = at::randint(kClasses, {flags.batch}, at::TensorOptions().dtype(at::kLong));
      batch = {kept(api, inputs), kept(api, labels)};
    }
    source_ = {sizeof source_, this, describe, next, [](void*, const rl_train_batch*) {}};
  }
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  struct Batch {
    at::Tensor input;
    at::Tensor label;
  };
  [[nodiscard]] const Batch& batch(std::size_t turn) const { return batches_[turn % batches_.size()]; }
  [[nodiscard]] const rl_train_source& source() const noexcept { return source_; }
  [[nodiscard]] bool pinned() const noexcept { return pinned_; }

 private:
  /// A copy as Ridgeline's loader has it; lives as long as the program.
  [[nodiscard]] at::Tensor kept(const rl_train_api& api, const at::Tensor& from) const {
    if (!pinned_) return from;
    void* const memory = api.alloc_pinned(from.nbytes());
    if (memory == nullptr)
      give_up("no page-locked memory; this torch sees " + std::to_string(api.cuda_devices()) + " GPUs");
    return at::from_blob(memory, from.sizes(), from.options()).copy_(from);
  }
  static rl_train_array array_of(const at::Tensor& tensor) {
    rl_train_array out{};
    out.data = tensor.data_ptr();
    out.dtype = tensor.scalar_type() == at::kLong ? RL_DTYPE_INT64 : RL_DTYPE_FLOAT32;
    out.rank = static_cast<std::int32_t>(tensor.dim());
    std::copy(tensor.sizes().begin(), tensor.sizes().end(), out.dims);
    return out;
  }
  static std::int32_t describe(void* self, rl_train_batch* out, rl_train_error* /*error*/) {
    const auto& batches = *static_cast<const Batches*>(self);
    const auto& batch = batches.batch(0);
    *out = {sizeof *out, batches.pinned_ ? 1 : 0, array_of(batch.input), array_of(batch.label), nullptr};
    return RL_TRAIN_OK;
  }
  static std::int32_t next(void* self, rl_train_batch* out, rl_train_error* /*error*/) {
    auto& batches = *static_cast<Batches*>(self);
    const auto& batch = batches.batch(batches.turn_++);
    *out = {sizeof *out, batches.pinned_ ? 1 : 0, array_of(batch.input), array_of(batch.label), nullptr};
    return RL_TRAIN_OK;
  }

  bool pinned_;
  std::array<Batch, 2> batches_;
  std::size_t turn_ = 0;
  rl_train_source source_{};
};

/// What a careful user would write by hand; the weights begin as the plugin's do.
class BareLoop {
 public:
  BareLoop(const Flags& flags, const Batches& batches) : batches_(batches), device_(flags.device) {
    at::manual_seed(kSeed);
    for (const std::int64_t outputs : {flags.hidden, flags.hidden, kClasses}) {
      const double range = 1 / std::sqrt(static_cast<double>(flags.hidden));
      for (const auto& shape : {std::vector<std::int64_t>{outputs, flags.hidden}, {outputs}}) {
        const auto values = at::empty(shape).uniform_(-1, 1).mul_(range);
        parameters_.push_back(values.to(device_).set_requires_grad(true));
        momenta_.push_back(at::zeros_like(parameters_.back()));
      }
    }
  }
  /// ms
  double run(std::int64_t steps) {
    synchronize();
    const double begin = now_ms();
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto loss = step();
      if (i + 1 == steps) loss_ = loss.detach();
    }
    synchronize();
    return now_ms() - begin;
  }
  [[nodiscard]] double loss() const { return loss_.item<double>(); }

 private:
  at::Tensor step() {
    const auto& batch = batches_.batch(turn_++);
    const auto input = batch.input.to(device_, batches_.pinned());
    const auto label = batch.label.to(device_, batches_.pinned());
    auto x = at::relu(at::linear(input, parameters_[0], parameters_[1]));
    x = at::relu(at::linear(x, parameters_[2], parameters_[3]));
    auto loss = at::cross_entropy_loss(at::linear(x, parameters_[4], parameters_[5]), label);
    loss.backward();
    optimize();
    return loss;
  }
  void optimize() {
    const c10::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients;
    for (const auto& parameter : parameters_) gradients.push_back(parameter.grad());
    if (device_.is_cuda()) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
      at::_fused_sgd_(parameters_, gradients, momenta_, 0.0, kMomentum, kRate, 0.0, false, false, false, std::nullopt,
                      std::nullopt);
#else
      give_up("a GPU needs torch 2.4 or later");
#endif
    } else {
      at::_foreach_mul_(momenta_, kMomentum);
      at::_foreach_add_(momenta_, gradients);
      at::_foreach_add_(parameters_, momenta_, -kRate);
    }
    for (auto& parameter : parameters_) parameter.mutable_grad().reset();
  }
  void synchronize() const {
    if (device_.is_cuda()) torch::cuda::synchronize(device_.index());
  }

  const Batches& batches_;
  c10::Device device_;
  std::size_t turn_ = 0;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> momenta_;
  at::Tensor loss_;
};

/// A trial of the plugin, as workload::PluginStepRunner has it.
class MeasuredLoop {
 public:
  MeasuredLoop(const rl_train_api& api, const Flags& flags, const Batches& batches) : api_(api) {
    std::array<char, 256> options{};
    std::snprintf(options.data(), options.size(), kOptions, static_cast<long long>(flags.hidden));
    rl_train_request request{};
    request.struct_size = sizeof request;
    request.batch = flags.batch;
    request.pin_memory = batches.pinned() ? 1 : 0;
    request.data = RL_DATA_LOADER;
    request.seed = kSeed;
    request.device = flags.device.c_str();
    request.model = "mlp";
    request.options_json = options.data();
    error_.struct_size = sizeof error_;
    check(api_.create(&request, &batches.source(), &trial_, &error_));
  }
  MeasuredLoop(const MeasuredLoop&) = delete;
  MeasuredLoop& operator=(const MeasuredLoop&) = delete;
  ~MeasuredLoop() { api_.destroy(trial_); }

  struct Window {
    double wall_ms = 0;  ///< as the plugin tells it
    double call_ms = 0;  ///< with what it does before and after: above all reading the marks
  };
  Window run(std::int64_t steps) {
    rows_.resize(static_cast<std::size_t>(steps));
    Window out;
    const double begin = now_ms();
    check(api_.run(trial_, steps, rows_.data(), &out.wall_ms, &error_));
    out.call_ms = now_ms() - begin;
    return out;
  }
  [[nodiscard]] double loss() {
    rl_train_stats stats{};
    stats.struct_size = sizeof stats;
    check(api_.stats(trial_, &stats, &error_));
    return stats.last_loss;
  }

 private:
  void check(std::int32_t code) const {
    if (code != RL_TRAIN_OK) give_up(error_.message);
  }
  const rl_train_api& api_;
  rl_train_error error_{};
  rl_train_trial* trial_ = nullptr;
  std::vector<rl_train_step> rows_;
};

/// As Python's statistics.quantiles has it, for 0.25, 0.5 and 0.75.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double last = static_cast<double>(values.size() - 1);
  const double at = std::clamp(share * (last + 2) - 1, 0.0, last);
  const auto low = static_cast<std::size_t>(at);
  const auto high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - std::floor(at)) * (values[high] - values[low]);
}

std::string overhead_text(const std::vector<double>& ratios) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%+.2f %% (quartiles %+.2f to %+.2f)", quantile(ratios, 0.5) * 100,
                quantile(ratios, 0.25) * 100, quantile(ratios, 0.75) * 100);
  return text.data();
}

Flags read_flags(int argc, char** argv) {
  Flags flags;
  const std::map<std::string, std::int64_t*> numbers{
      {"--hidden", &flags.hidden}, {"--batch", &flags.batch}, {"--steps", &flags.steps}, {"--rounds", &flags.rounds}};
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (word == "--device" && at + 1 < argc)
      flags.device = argv[++at];
    else if (numbers.count(word) != 0 && at + 1 < argc)
      *numbers.at(word) = std::max(1LL, std::atoll(argv[++at]));
    else
      flags.plugin = word;
  }
  if (flags.device == "cuda") flags.device = "cuda:0";
  if (flags.plugin.empty() || flags.plugin[0] == '-')
    give_up("expected PLUGIN [--device cuda:0] [--hidden N] [--batch N] [--steps N] [--rounds N]");
  return flags;
}

const rl_train_api& load(const std::string& plugin) {
  void* const library = ::dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) give_up(::dlerror());
  const auto entry = reinterpret_cast<rl_train_entry>(::dlsym(library, RL_TRAIN_ENTRY));
  const auto* api = entry == nullptr ? nullptr : entry(RL_TRAIN_ABI_VERSION);
  if (api == nullptr) give_up(plugin + " is no torch plugin of this version");
  return *api;
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = read_flags(argc, argv);
  const auto& api = load(flags.plugin);
  const Batches batches(api, flags);
  MeasuredLoop measured(api, flags, batches);
  BareLoop bare(flags, batches);

  (void)bare.run(flags.steps);
  (void)measured.run(flags.steps);
  std::vector<double> step_ms;
  std::vector<double> by_wall;
  std::vector<double> by_call;
  for (std::int64_t round = 0; round < flags.rounds; ++round) {
    double without = bare.run(flags.steps);
    const auto first = measured.run(flags.steps);
    const auto second = measured.run(flags.steps);
    without += bare.run(flags.steps);
    step_ms.push_back(without / static_cast<double>(2 * flags.steps));
    by_wall.push_back((first.wall_ms + second.wall_ms) / without - 1);
    by_call.push_back((first.call_ms + second.call_ms) / without - 1);
  }
  const double step = quantile(step_ms, 0.5);
  const double overhead = quantile(by_wall, 0.5);
  const double bare_loss = bare.loss();
  const double measured_loss = measured.loss();
  std::printf("torch %s, %s, mlp of 2 x %lld, batch %lld, %lld rounds of 4 x %lld steps\n", api.torch_version,
              flags.device.c_str(), static_cast<long long>(flags.hidden), static_cast<long long>(flags.batch),
              static_cast<long long>(flags.rounds), static_cast<long long>(flags.steps));
  std::printf("bare step %.3f ms, overhead %s; with reading the marks afterwards %s\n", step,
              overhead_text(by_wall).c_str(), overhead_text(by_call).c_str());
  std::printf("loss after %lld steps: bare %.6f, measured %.6f\n",
              static_cast<long long>(flags.steps * (1 + 2 * flags.rounds)), bare_loss, measured_loss);
  if (!(std::abs(bare_loss - measured_loss) <= kLossTolerance * std::abs(bare_loss)))
    give_up("the losses differ: the loops do not do the same work");
  if (step < kGoalStepMs) {
    std::printf("goal at most %.0f %% for steps of %.0f ms and more: these are shorter\n", kGoal * 100, kGoalStepMs);
    return 0;
  }
  std::printf("goal at most %.0f %%: %s\n", kGoal * 100, overhead <= kGoal ? "met" : "missed");
  return overhead <= kGoal ? 0 : 1;
}
