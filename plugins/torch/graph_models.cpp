// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "built_in.hpp"

namespace ridgeline::torch_plugin {
namespace {

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

std::unique_ptr<Model> make_graph_model(const ModelInfo& info, const Options& options, const ModelRequest& request) {
  return std::make_unique<MessagePassing>(info, options, request);
}

}  // namespace ridgeline::torch_plugin
