// SPDX-License-Identifier: Apache-2.0
// Residual networks and vision transformers.
#include <array>
#include <optional>

#include "built_in.hpp"

namespace ridgeline::torch_plugin {
namespace {

/// He et al. 2015: two 3x3 convolutions, or 1x1, 3x3 and 1x1 with four times the channels.
class ResidualBlock {
 public:
  ResidualBlock(Parameters& to, std::int64_t in, std::int64_t channels, std::int64_t stride, bool bottleneck) {
    const auto out = bottleneck ? 4 * channels : channels;
    if (bottleneck) {
      add(to, in, channels, 1, 1);
      add(to, channels, channels, 3, stride);
      add(to, channels, out, 1, 1);
    } else {
      add(to, in, channels, 3, stride);
      add(to, channels, channels, 3, 1);
    }
    if (stride != 1 || in != out) {
      shortcut_.emplace(to, in, out, 1, stride);
      shortcut_norm_.emplace(to, out);
    }
  }
  at::Tensor operator()(const at::Tensor& x) const {
    auto y = x;
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      y = norms_[i](convolutions_[i](y));
      if (i + 1 < convolutions_.size()) y = y.relu_();
    }
    return y.add_(shortcut_ ? (*shortcut_norm_)((*shortcut_)(x)) : x).relu_();
  }

 private:
  void add(Parameters& to, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    convolutions_.emplace_back(to, in, out, kernel, stride);
    norms_.emplace_back(to, out);
  }
  std::vector<Conv> convolutions_;
  std::vector<BatchNorm> norms_;
  std::optional<Conv> shortcut_;
  std::optional<BatchNorm> shortcut_norm_;
};

class ResNet final : public BuiltIn {
 public:
  ResNet(const ModelInfo& info, const ModelRequest& request, const std::array<int, 4>& blocks, bool bottleneck)
      : BuiltIn(request.device),
        image_(info, request.sample),
        stem_(made_, image_.channels, kFirst, 7, 2),
        stem_norm_(made_, kFirst) {
    auto in = kFirst;
    auto channels = kFirst;
    for (std::size_t stage = 0; stage < blocks.size(); ++stage, channels *= 2)
      for (int i = 0; i < blocks[stage]; ++i) {
        blocks_.emplace_back(made_, in, channels, stage > 0 && i == 0 ? 2 : 1, bottleneck);
        in = bottleneck ? 4 * channels : channels;
      }
    head_.emplace(made_, in, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    auto x = at::max_pool2d(stem_norm_(stem_(image_.arrange(input))).relu_(), {3, 3}, {2, 2}, {1, 1});
    for (const auto& block : blocks_) x = block(x);
    return (*head_)(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  static constexpr std::int64_t kFirst = 64;
  Image image_;
  Conv stem_;
  BatchNorm stem_norm_;
  std::vector<ResidualBlock> blocks_;
  std::optional<Linear> head_;
};

/// Zagoruyko and Komodakis 2016: normalised and activated before each convolution.
class WideBlock {
 public:
  WideBlock(Parameters& to, std::int64_t in, std::int64_t out, std::int64_t stride)
      : first_norm_(to, in), first_(to, in, out, 3, stride), second_norm_(to, out), second_(to, out, out, 3) {
    if (stride != 1 || in != out) shortcut_.emplace(to, in, out, 1, stride);
  }
  at::Tensor operator()(const at::Tensor& x) const {
    const auto active = first_norm_(x).relu_();
    const auto y = second_(second_norm_(first_(active)).relu_());
    return y + (shortcut_ ? (*shortcut_)(active) : x);
  }

 private:
  BatchNorm first_norm_;
  Conv first_;
  BatchNorm second_norm_;
  Conv second_;
  std::optional<Conv> shortcut_;
};

class WideResNet final : public BuiltIn {
 public:
  WideResNet(const ModelInfo& info, const Options& options, const ModelRequest& request)
      : BuiltIn(request.device), image_(info, request.sample), stem_(made_, image_.channels, kFirst, 3) {
    const auto depth = option(info, options, "depth", 10, 1000);
    const auto width = option(info, options, "width", 1, 256);
    if ((depth - 4) % 6 != 0)
      refuse("option depth=" + std::to_string(depth) +
             ": a wide residual network has 6 n + 4 layers, for example 16, 22 or 28");
    auto in = kFirst;
    for (std::int64_t stage = 0; stage < 3; ++stage)
      for (std::int64_t i = 0; i < (depth - 4) / 6; ++i) {
        const auto out = kFirst * width << stage;
        blocks_.emplace_back(made_, in, out, stage > 0 && i == 0 ? 2 : 1);
        in = out;
      }
    norm_.emplace(made_, in);
    head_.emplace(made_, in, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    auto x = stem_(image_.arrange(input));
    for (const auto& block : blocks_) x = block(x);
    return (*head_)(at::adaptive_avg_pool2d((*norm_)(x).relu_(), {1, 1}).flatten(1));
  }

 private:
  static constexpr std::int64_t kFirst = 16;
  Image image_;
  Conv stem_;
  std::vector<WideBlock> blocks_;
  std::optional<BatchNorm> norm_;
  std::optional<Linear> head_;
};

/// Dosovitskiy et al. 2020, with the mean of all tokens in place of a class token.
class VisionTransformer final : public BuiltIn {
 public:
  VisionTransformer(const ModelInfo& info, const Options& options, const ModelRequest& request)
      : BuiltIn(request.device),
        image_(info, request.sample),
        patch_(option(info, options, "patch", 1, 1024)),
        width_(option(info, options, "width", 1, 1 << 16)) {
    if (image_.height % patch_ != 0 || image_.width % patch_ != 0)
      refuse("option patch=" + std::to_string(patch_) + ": images of " + std::to_string(image_.height) + "x" +
             std::to_string(image_.width) +
             " are no whole number of patches; expected a divisor, for example --option patch=4");
    const auto heads = option(info, options, "heads", 1, 1024);
    if (width_ % heads != 0)
      refuse("option heads=" + std::to_string(heads) + ": expected a divisor of width " + std::to_string(width_));
    const auto depth = option(info, options, "depth", 1, 1000);
    embedding_.emplace(made_, image_.channels * patch_ * patch_, width_);
    positions_ = made_.normal({1, image_.height / patch_ * (image_.width / patch_), width_}, 0.02);
    for (std::int64_t i = 0; i < depth; ++i) blocks_.emplace_back(made_, width_, heads, 4 * width_);
    norm_.emplace(made_, width_);
    head_.emplace(made_, width_, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const auto rows = image_.height / patch_;
    const auto columns = image_.width / patch_;
    // Patches as rows of a matrix: the same as a convolution with stride `patch`.
    const auto patches = image_.arrange(input)
                             .reshape({-1, image_.channels, rows, patch_, columns, patch_})
                             .permute({0, 2, 4, 1, 3, 5})
                             .reshape({-1, rows * columns, image_.channels * patch_ * patch_});
    auto x = (*embedding_)(patches) + positions_;
    for (const auto& block : blocks_) x = block(x);
    return (*head_)((*norm_)(x).mean(1));
  }

 private:
  Image image_;
  std::int64_t patch_;
  std::int64_t width_;
  std::optional<Linear> embedding_;
  at::Tensor positions_;
  std::vector<EncoderBlock> blocks_;
  std::optional<LayerNorm> norm_;
  std::optional<Linear> head_;
};

}  // namespace

std::unique_ptr<Model> make_image_model(const ModelInfo& info, const Options& options, const ModelRequest& request) {
  if (info.name == "resnet18") return std::make_unique<ResNet>(info, request, std::array{2, 2, 2, 2}, false);
  if (info.name == "resnet50") return std::make_unique<ResNet>(info, request, std::array{3, 4, 6, 3}, true);
  if (info.name == "wideresnet") return std::make_unique<WideResNet>(info, options, request);
  return std::make_unique<VisionTransformer>(info, options, request);
}

}  // namespace ridgeline::torch_plugin
