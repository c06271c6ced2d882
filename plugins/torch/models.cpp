// SPDX-License-Identifier: Apache-2.0
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <optional>

#include "errors.hpp"
#include "layers.hpp"
#include "model.hpp"

namespace ridgeline::torch_plugin {

at::Tensor EncoderBlock::operator()(const at::Tensor& x) const {
  const auto batch = x.size(0);
  const auto tokens = x.size(1);
  const auto width = x.size(2);
  const auto parts = queries_keys_values_(before_attention_(x))
                         .view({batch, tokens, 3, heads_, width / heads_})
                         .permute({2, 0, 3, 1, 4})
                         .unbind(0);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
  const auto mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
#else
  const auto scale = 1 / std::sqrt(static_cast<double>(width / heads_));
  const auto mixed = at::matmul(at::softmax(at::matmul(parts[0] * scale, parts[1].transpose(-2, -1)), -1), parts[2]);
#endif
  const auto attended = x + projection_(mixed.transpose(1, 2).reshape({batch, tokens, width}));
  return attended + down_(at::gelu(up_(before_mlp_(attended))));
}

namespace {

std::int64_t option(const ModelInfo& info, const Options& options, const char* name, std::int64_t low,
                    std::int64_t high) {
  const auto found = std::find_if(info.options.begin(), info.options.end(),
                                  [&](const auto& candidate) { return candidate.first == name; });
  return options.whole(name, std::stoll(found->second), low, high);
}

class BuiltIn : public Model {
 public:
  explicit BuiltIn(c10::Device device) : made_(device) {}
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const final { return made_.trained(); }

 protected:
  Parameters made_;  // NOLINT: what a model consists of
};

/// Channels, height and width; a last axis of at most four after longer ones holds the channels.
struct Image {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool channels_last = false;

  Image(const ModelInfo& info, const std::vector<std::int64_t>& sample) {
    if (sample.size() != 3)
      refuse("model " + info.name + ": samples of " + shape_text(sample) +
             " are no images; expected channels, height and width, for example 3x224x224");
    constexpr std::int64_t kMostChannels = 4;
    channels_last = sample[2] <= kMostChannels && sample[0] > kMostChannels;
    channels = sample[channels_last ? 2 : 0];
    height = sample[channels_last ? 0 : 1];
    width = sample[channels_last ? 1 : 2];
  }
  [[nodiscard]] at::Tensor arrange(const at::Tensor& input) const {
    return channels_last ? input.permute({0, 3, 1, 2}).contiguous() : input;
  }
};

class Mlp final : public BuiltIn {
 public:
  Mlp(const ModelInfo& info, const Options& options, const ModelRequest& request) : BuiltIn(request.device) {
    const auto depth = option(info, options, "depth", 1, 1000);
    const auto hidden = option(info, options, "hidden", 1, 1 << 20);
    auto width = elements(request.sample);
    for (std::int64_t i = 0; i < depth; ++i) {
      layers_.emplace_back(made_, width, hidden);
      width = hidden;
    }
    layers_.emplace_back(made_, width, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    auto x = input.flatten(1);
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i) x = at::relu(layers_[i](x));
    return layers_.back()(x);
  }

 private:
  std::vector<Linear> layers_;
};

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

/// An encoder over a sequence: of vectors (axes length, features), or of token numbers (one axis, integers).
class Transformer final : public BuiltIn {
 public:
  Transformer(const ModelInfo& info, const Options& options, const ModelRequest& request)
      : BuiltIn(request.device), vocabulary_(option(info, options, "vocabulary", 1, 1 << 24)) {
    const auto width = option(info, options, "hidden", 1, 1 << 16);
    const auto heads = option(info, options, "heads", 1, 1024);
    if (width % heads != 0)
      refuse("option heads=" + std::to_string(heads) + ": expected a divisor of hidden " + std::to_string(width));
    tokens_ = request.integers && request.sample.size() == 1;
    if (!tokens_ && request.sample.size() < 2)
      refuse("model " + info.name + ": samples of " + shape_text(request.sample) +
             " are no sequences; expected length and features, for example 128x64, or integers for tokens");
    if (tokens_)
      table_ = made_.normal({vocabulary_, width}, 0.02);
    else
      embedding_.emplace(made_, elements(request.sample) / request.sample[0], width);
    positions_ = made_.normal({1, request.sample[0], width}, 0.02);
    const auto depth = option(info, options, "depth", 1, 1000);
    for (std::int64_t i = 0; i < depth; ++i) blocks_.emplace_back(made_, width, heads, 4 * width);
    norm_.emplace(made_, width);
    head_.emplace(made_, width, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    // A number outside the vocabulary would stop a GPU for good: it wraps around instead.
    auto x = tokens_ ? at::embedding(table_, input.remainder(vocabulary_)) : (*embedding_)(input.flatten(2));
    x = x + positions_;
    for (const auto& block : blocks_) x = block(x);
    return (*head_)((*norm_)(x).mean(1));
  }
  bool takes_tokens() const override { return tokens_; }

 private:
  std::int64_t vocabulary_;
  bool tokens_ = false;
  at::Tensor table_;
  std::optional<Linear> embedding_;
  at::Tensor positions_;
  std::vector<EncoderBlock> blocks_;
  std::optional<LayerNorm> norm_;
  std::optional<Linear> head_;
};

/// Message passing (Gilmer et al. 2017) on a graph that all samples share: the pixels of an image and their neighbours,
/// or nodes in a row (axes nodes, features). A message is relu(A [from, to]), a node's update x + B relu(C [x, sum of
/// messages]); the mean of all nodes is the answer.
class MessagePassing final : public BuiltIn {
 public:
  MessagePassing(const ModelInfo& info, const Options& options, const ModelRequest& request)
      : BuiltIn(request.device), hidden_(option(info, options, "hidden", 1, 1 << 16)) {
    const auto depth = option(info, options, "depth", 1, 1000);
    const auto neighbours = option(info, options, "neighbours", 1, 64);
    if (request.sample.size() != 3 && request.sample.size() != 2)
      refuse("model " + info.name + ": samples of " + shape_text(request.sample) +
             " are no graph; expected channels, height and width, or nodes and features");
    std::int64_t features = 0;
    if (request.sample.size() == 3) {
      image_.emplace(info, request.sample);
      features = image_->channels;
      nodes_ = image_->height * image_->width;
      if (neighbours != 4 && neighbours != 8)
        refuse("option neighbours=" + std::to_string(neighbours) + ": expected 4 or 8 on a grid");
      link_grid(neighbours == 8);
    } else {
      nodes_ = request.sample[0];
      features = request.sample[1];
      link_row((neighbours + 1) / 2);
    }
    if (from_.empty())
      refuse("model " + info.name + ": samples of " + shape_text(request.sample) + " have one node only");
    sources_ = made_.indices(from_);
    targets_ = made_.indices(to_);
    encoder_.emplace(made_, features, hidden_);
    for (std::int64_t i = 0; i < depth; ++i) {
      messages_.emplace_back(made_, 2 * hidden_, hidden_);
      updates_.emplace_back(made_, 2 * hidden_, hidden_);
      outputs_.emplace_back(made_, hidden_, hidden_);
    }
    head_.emplace(made_, hidden_, request.outputs);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const auto nodes = image_ ? image_->arrange(input).flatten(2).transpose(1, 2) : input;
    auto x = at::relu((*encoder_)(nodes));
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const auto ends = at::cat({x.index_select(1, sources_), x.index_select(1, targets_)}, -1);
      const auto messages = at::relu(messages_[i](ends));
      const auto received =
          at::zeros({x.size(0), nodes_, hidden_}, messages.options()).index_add(1, targets_, messages);
      x = x + outputs_[i](at::relu(updates_[i](at::cat({x, received.to(x.scalar_type())}, -1))));
    }
    return (*head_)(x.mean(1));
  }

 private:
  void link(std::int64_t from, std::int64_t to) {
    from_.push_back(from);
    to_.push_back(to);
  }
  void link_grid(bool diagonals) {
    for (std::int64_t y = 0; y < image_->height; ++y)
      for (std::int64_t x = 0; x < image_->width; ++x)
        for (std::int64_t dy = -1; dy <= 1; ++dy)
          for (std::int64_t dx = -1; dx <= 1; ++dx) {
            const bool linked = (dx != 0) != (dy != 0) || (diagonals && dx != 0 && dy != 0);
            const bool inside = y + dy >= 0 && y + dy < image_->height && x + dx >= 0 && x + dx < image_->width;
            if (linked && inside) link((y + dy) * image_->width + x + dx, y * image_->width + x);
          }
  }
  void link_row(std::int64_t reach) {
    for (std::int64_t node = 0; node < nodes_; ++node)
      for (std::int64_t step = 1; step <= reach && node + step < nodes_; ++step) {
        link(node, node + step);
        link(node + step, node);
      }
  }

  std::int64_t hidden_;
  std::int64_t nodes_ = 0;
  std::optional<Image> image_;
  std::vector<std::int64_t> from_;
  std::vector<std::int64_t> to_;
  at::Tensor sources_;
  at::Tensor targets_;
  std::optional<Linear> encoder_;
  std::vector<Linear> messages_;
  std::vector<Linear> updates_;
  std::vector<Linear> outputs_;
  std::optional<Linear> head_;
};

}  // namespace

const std::vector<ModelInfo>& built_in_models() {
  static const std::vector<ModelInfo> models{
      {"mlp", "fully connected layers with ReLU", "3x32x32", "10", {{"depth", "2"}, {"hidden", "512"}}},
      {"resnet18", "residual network, 18 layers", "3x224x224", "1000", {}},
      {"resnet50", "residual network, 50 layers", "3x224x224", "1000", {}},
      {"wideresnet", "wide residual network for small images", "3x32x32", "10", {{"depth", "28"}, {"width", "10"}}},
      {"vit-tiny",
       "vision transformer, tiny",
       "3x224x224",
       "1000",
       {{"patch", "16"}, {"width", "192"}, {"depth", "12"}, {"heads", "3"}}},
      {"vit-small",
       "vision transformer, small",
       "3x224x224",
       "1000",
       {{"patch", "16"}, {"width", "384"}, {"depth", "12"}, {"heads", "6"}}},
      {"transformer",
       "transformer encoder over vectors or tokens",
       "128x64",
       "10",
       {{"depth", "4"}, {"hidden", "256"}, {"heads", "4"}, {"vocabulary", "32000"}}},
      {"gnn",
       "message-passing network on a grid or a row of nodes",
       "4x16x16",
       "10",
       {{"depth", "3"}, {"hidden", "16"}, {"neighbours", "4"}}},
  };
  return models;
}

const ModelInfo* find_model(const std::string& name) {
  for (const auto& model : built_in_models())
    if (model.name == name) return &model;
  return nullptr;
}

std::unique_ptr<Model> make_model(const ModelInfo& info, const Options& options, const ModelRequest& request) {
  if (info.name == "mlp") return std::make_unique<Mlp>(info, options, request);
  if (info.name == "resnet18") return std::make_unique<ResNet>(info, request, std::array{2, 2, 2, 2}, false);
  if (info.name == "resnet50") return std::make_unique<ResNet>(info, request, std::array{3, 4, 6, 3}, true);
  if (info.name == "wideresnet") return std::make_unique<WideResNet>(info, options, request);
  if (info.name == "transformer") return std::make_unique<Transformer>(info, options, request);
  if (info.name == "gnn") return std::make_unique<MessagePassing>(info, options, request);
  return std::make_unique<VisionTransformer>(info, options, request);
}

}  // namespace ridgeline::torch_plugin
