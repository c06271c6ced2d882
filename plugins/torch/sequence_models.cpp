// SPDX-License-Identifier: Apache-2.0
#include <torch/version.h>

#include <cmath>
#include <optional>

#include "built_in.hpp"

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

}  // namespace

std::unique_ptr<Model> make_sequence_model(const ModelInfo& info, const Options& options, const ModelRequest& request) {
  return std::make_unique<Transformer>(info, options, request);
}

}  // namespace ridgeline::torch_plugin
