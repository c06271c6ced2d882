// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace ridgeline::torch_plugin {

/// Makes a model's tensors where they are to live, with PyTorch's own starting values, and remembers what is trained.
/// LibTorch's C++ modules are not used: their headers cost a minute of compiling each, the operators below are the
/// same.
class Parameters {
 public:
  explicit Parameters(c10::Device device) : device_(device) {}

  /// Uniform in ±sqrt(1 / fan_in), as nn.Linear and nn.Conv2d begin.
  at::Tensor weight(at::IntArrayRef shape, std::int64_t fan_in) {
    return trained(at::empty(shape).uniform_(-1, 1).mul_(1 / std::sqrt(static_cast<double>(fan_in))));
  }
  at::Tensor normal(at::IntArrayRef shape, double deviation) { return trained(at::randn(shape).mul_(deviation)); }
  at::Tensor constant(at::IntArrayRef shape, double value) { return trained(at::full(shape, value)); }
  /// Not trained.
  at::Tensor buffer(at::IntArrayRef shape, double value) const { return at::full(shape, value).to(device_); }
  at::Tensor indices(const std::vector<std::int64_t>& values) const {
    return at::tensor(values, at::TensorOptions().dtype(at::kLong)).to(device_);
  }

  [[nodiscard]] const std::vector<at::Tensor>& trained() const noexcept { return trained_; }

 private:
  at::Tensor trained(const at::Tensor& values) {
    trained_.push_back(values.to(device_).set_requires_grad(true));
    return trained_.back();
  }
  c10::Device device_;
  std::vector<at::Tensor> trained_;
};

struct Linear {
  Linear(Parameters& to, std::int64_t in, std::int64_t out)
      : weight(to.weight({out, in}, in)), bias(to.weight({out}, in)) {}
  at::Tensor operator()(const at::Tensor& x) const { return at::linear(x, weight, bias); }
  at::Tensor weight;
  at::Tensor bias;
};

/// Square kernel, no bias: a normalisation follows.
struct Conv {
  Conv(Parameters& to, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t step = 1)
      : weight(to.normal({out, in, kernel, kernel}, std::sqrt(2.0 / static_cast<double>(out * kernel * kernel)))),
        stride(step),
        padding(kernel / 2) {}
  at::Tensor operator()(const at::Tensor& x) const {
    return at::conv2d(x, weight, {}, {stride, stride}, {padding, padding});
  }
  at::Tensor weight;
  std::int64_t stride;
  std::int64_t padding;
};

struct BatchNorm {
  BatchNorm(Parameters& to, std::int64_t channels)
      : weight(to.constant({channels}, 1)),
        bias(to.constant({channels}, 0)),
        mean(to.buffer({channels}, 0)),
        variance(to.buffer({channels}, 1)) {}
  at::Tensor operator()(const at::Tensor& x) const {
    constexpr double kMomentum = 0.1;
    constexpr double kEpsilon = 1e-5;
    return at::batch_norm(x, weight, bias, mean, variance, true, kMomentum, kEpsilon, true);
  }
  at::Tensor weight;
  at::Tensor bias;
  at::Tensor mean;
  at::Tensor variance;
};

struct LayerNorm {
  LayerNorm(Parameters& to, std::int64_t features)
      : width(features), weight(to.constant({features}, 1)), bias(to.constant({features}, 0)) {}
  at::Tensor operator()(const at::Tensor& x) const { return at::layer_norm(x, {width}, weight, bias); }
  std::int64_t width;
  at::Tensor weight;
  at::Tensor bias;
};

/// One block of a transformer's encoder, normalised first: attention over all tokens, then two layers with GELU.
class EncoderBlock {
 public:
  EncoderBlock(Parameters& to, std::int64_t width, std::int64_t heads, std::int64_t hidden)
      : heads_(heads),
        before_attention_(to, width),
        queries_keys_values_(to, width, 3 * width),
        projection_(to, width, width),
        before_mlp_(to, width),
        up_(to, width, hidden),
        down_(to, hidden, width) {}
  /// `x`: batch, tokens, width.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const;

 private:
  std::int64_t heads_;
  LayerNorm before_attention_;
  Linear queries_keys_values_;
  Linear projection_;
  LayerNorm before_mlp_;
  Linear up_;
  Linear down_;
};

}  // namespace ridgeline::torch_plugin
