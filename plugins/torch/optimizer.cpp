// SPDX-License-Identifier: Apache-2.0
#include "optimizer.hpp"

#include <c10/core/GradMode.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "errors.hpp"

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
#define RIDGELINE_FUSED_OPTIMIZERS 1
#endif

namespace ridgeline::torch_plugin {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;

}  // namespace

GradScaler::GradScaler(c10::Device device) {
  constexpr double kInitialScale = 65536;
  const auto options = at::TensorOptions().device(device);
  scale_ = at::full({}, kInitialScale, options.dtype(at::kFloat));
  growth_ = at::zeros({}, options.dtype(at::kInt));
  found_overflow_ = at::zeros({}, options.dtype(at::kFloat));
  skipped_ = at::zeros({}, options.dtype(at::kFloat));
}

void GradScaler::unscale(const std::vector<at::Tensor>& gradients) {
  const c10::NoGradGuard no_grad;
  found_overflow_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_overflow_, scale_.reciprocal());
}

void GradScaler::update() {
  constexpr double kGrowth = 2;
  constexpr double kBackoff = 0.5;
  constexpr std::int64_t kGrowthInterval = 2000;
  const c10::NoGradGuard no_grad;
  at::_amp_update_scale_(scale_, growth_, found_overflow_, kGrowth, kBackoff, kGrowthInterval);
  skipped_.add_(found_overflow_);
}

std::int64_t GradScaler::skipped_steps() const { return static_cast<std::int64_t>(skipped_.item<float>()); }

std::vector<std::string> Optimizer::option_names() {
  return {"optimizer", "learning_rate", "momentum", "weight_decay", "fused"};
}

Optimizer::Optimizer(const std::vector<at::Tensor>& parameters, const Options& options, bool cuda) : all_(parameters) {
  const std::vector<std::string> names{"sgd", "adam", "adamw"};
  const auto name = options.text("optimizer", "sgd");
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    refuse("option optimizer=" + name + ": no such optimizer" + did_you_mean(name, names) + "; there are " +
           listed(names));
  kind_ = static_cast<Kind>(found - names.begin());
  const bool is_sgd = kind_ == Kind::sgd;
  rate_ = options.number("learning_rate", is_sgd ? 0.01 : 0.001, 0, 1e6);
  if (!is_sgd && options.has("momentum")) refuse("option momentum: " + name + " has none; it belongs to sgd");
  momentum_ = options.number("momentum", 0.9, 0, 1);
  decay_ = options.number("weight_decay", kind_ == Kind::adamw ? 0.01 : 0, 0, 1e6);
#ifdef RIDGELINE_FUSED_OPTIMIZERS
  fused_ = options.flag("fused", cuda) && cuda;
#else
  (void)cuda;
  (void)options.flag("fused", false);
#endif
}

void Optimizer::collect() {
  for (const auto& parameter : all_)
    if (parameter.grad().defined()) parameters_.push_back(parameter);
  for (const auto& parameter : parameters_) {
    if (kind_ != Kind::sgd || momentum_ > 0) first_.push_back(at::zeros_like(parameter));
    if (kind_ != Kind::sgd) second_.push_back(at::zeros_like(parameter));
    if (fused_ && kind_ != Kind::sgd) counts_.push_back(at::zeros({}, parameter.options().dtype(at::kFloat)));
  }
}

std::vector<at::Tensor> Optimizer::gradients() const {
  std::vector<at::Tensor> out;
  for (const auto& parameter : all_)
    if (parameter.grad().defined()) out.push_back(parameter.grad());
  return out;
}

void Optimizer::zero_gradients() {
  for (auto& parameter : all_) parameter.mutable_grad().reset();
}

void Optimizer::step(const at::Tensor* overflow) {
  const c10::NoGradGuard no_grad;
  if (steps_ == 0) collect();
  if (parameters_.empty()) refuse("the loss does not depend on any parameter of the model");
  if (fused_) {
    fused(overflow);
    ++steps_;
    return;
  }
  if (overflow != nullptr && overflow->item<float>() != 0) return;
  ++steps_;
  if (kind_ == Kind::sgd)
    sgd();
  else
    adam();
}

void Optimizer::sgd() {
  auto change = gradients();
  if (decay_ > 0) at::_foreach_add_(change, parameters_, decay_);
  if (momentum_ > 0) {
    at::_foreach_mul_(first_, steps_ == 1 ? 0 : momentum_);
    at::_foreach_add_(first_, change);
    change = first_;
  }
  at::_foreach_add_(parameters_, change, -rate_);
}

void Optimizer::adam() {
  const auto change = gradients();
  if (kind_ == Kind::adamw)
    at::_foreach_mul_(parameters_, 1 - rate_ * decay_);
  else if (decay_ > 0)
    at::_foreach_add_(change, parameters_, decay_);
  at::_foreach_mul_(first_, kBeta1);
  at::_foreach_add_(first_, change, 1 - kBeta1);
  at::_foreach_mul_(second_, kBeta2);
  at::_foreach_addcmul_(second_, change, change, 1 - kBeta2);
  const double correction1 = 1 - std::pow(kBeta1, static_cast<double>(steps_));
  const double correction2 = 1 - std::pow(kBeta2, static_cast<double>(steps_));
  auto divisor = at::_foreach_sqrt(second_);
  at::_foreach_div_(divisor, std::sqrt(correction2));
  at::_foreach_add_(divisor, kEpsilon);
  at::_foreach_addcdiv_(parameters_, first_, divisor, -rate_ / correction1);
}

void Optimizer::fused(const at::Tensor* overflow) {
#ifdef RIDGELINE_FUSED_OPTIMIZERS
  const std::optional<at::Tensor> found = overflow == nullptr ? std::nullopt : std::optional<at::Tensor>(*overflow);
  const auto change = gradients();
  if (kind_ == Kind::sgd) {
    // A first step that is left out leaves zeros behind, with which a later one gives the same as a first.
    at::_fused_sgd_(parameters_, change, first_, decay_, momentum_, rate_, 0.0, false, false, false, std::nullopt,
                    found);
    return;
  }
  at::_foreach_add_(counts_, 1);
  if (kind_ == Kind::adam)
    at::_fused_adam_(parameters_, change, first_, second_, {}, counts_, rate_, kBeta1, kBeta2, decay_, kEpsilon, false,
                     false, std::nullopt, found);
  else
    at::_fused_adamw_(parameters_, change, first_, second_, {}, counts_, rate_, kBeta1, kBeta2, decay_, kEpsilon, false,
                      false, std::nullopt, found);
  if (overflow != nullptr) at::_foreach_sub_(counts_, std::vector<at::Tensor>(counts_.size(), *overflow));
#else
  (void)overflow;
#endif
}

}  // namespace ridgeline::torch_plugin
