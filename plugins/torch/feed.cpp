// SPDX-License-Identifier: Apache-2.0
#include "feed.hpp"

#include <algorithm>

#include "errors.hpp"
#include "options.hpp"

namespace ridgeline::torch_plugin {
namespace {

constexpr std::size_t kKeptBatches = 2;
/// Batches whose copies may be under way: the source lends one more.
constexpr std::size_t kCopiesUnderWay = 1;

at::ScalarType type_of(int dtype) {
  switch (dtype) {
    case RL_DTYPE_FLOAT32: return at::kFloat;
    case RL_DTYPE_FLOAT64: return at::kDouble;
    case RL_DTYPE_FLOAT16: return at::kHalf;
    case RL_DTYPE_UINT8: return at::kByte;
    case RL_DTYPE_INT8: return at::kChar;
    case RL_DTYPE_INT16: return at::kShort;
    case RL_DTYPE_INT32: return at::kInt;
    case RL_DTYPE_INT64: return at::kLong;
    default:
      refuse(RL_TRAIN_UNSUPPORTED, "LibTorch has no type for these elements (number " + std::to_string(dtype) +
                                       "); store them as float32, uint8 or int64");
  }
}

std::vector<std::int64_t> axes(const rl_train_array& array) {
  if (array.rank < 1 || array.rank > RL_TRAIN_MAX_DIMS)
    refuse("data with " + std::to_string(array.rank) + " axes; expected 1 to " + std::to_string(RL_TRAIN_MAX_DIMS));
  return {array.dims + 1, array.dims + array.rank};
}

at::Tensor view_of(const rl_train_array& array) {
  return at::from_blob(array.data, at::IntArrayRef(array.dims, static_cast<std::size_t>(array.rank)),
                       at::TensorOptions().dtype(type_of(array.dtype)));
}

void check(int code, const rl_train_error& error) {
  if (code != RL_TRAIN_OK) refuse(static_cast<rl_train_code>(code), error.message);
}

rl_train_error empty_error() {
  rl_train_error error{};
  error.struct_size = sizeof error;
  return error;
}

rl_train_batch empty_batch() {
  rl_train_batch batch{};
  batch.struct_size = sizeof batch;
  return batch;
}

}  // namespace

DataForm Feed::describe(const rl_train_source& source) {
  auto batch = empty_batch();
  auto error = empty_error();
  check(source.describe(source.self, &batch, &error), error);
  DataForm form;
  form.sample = axes(batch.input);
  form.input_type = type_of(batch.input.dtype);
  form.has_label = batch.label.rank > 0;
  if (form.has_label) {
    form.label = axes(batch.label);
    form.label_type = type_of(batch.label.dtype);
    if (form.label.size() == 1 && form.label[0] == 1) form.label.clear();
  }
  return form;
}

Feed::Feed(const rl_train_request& request, const rl_train_source* source, DataForm form, std::int64_t classes,
           const TrainingDevice& device)
    : request_(request),
      source_(source),
      form_(std::move(form)),
      classes_(classes),
      device_(device),
      pinned_(request.pin_memory != 0 && device.cuda()) {}

Feed::~Feed() {
  if (lent_.empty() && !has_current_) return;
  try {
    device_.synchronize();
  } catch (const std::exception&) {
    // A broken device reads nothing any more: the memory may go back.
  }
  for (auto& lent : lent_) source_->release(source_->self, &lent.batch);
  if (has_current_) source_->release(source_->self, &current_);
}

void Feed::prepare() {
  const bool loads = source_ != nullptr && (request_.data == RL_DATA_LOADER || request_.data == RL_DATA_LOADER_ONLY);
  if (loads) return;
  for (std::size_t i = 0; i < kKeptBatches; ++i) {
    auto batch = source_ == nullptr ? random() : from_source();
    if (request_.data == RL_DATA_DEVICE) {
      auto there = to_device(batch);
      // On a CPU the batch may be the source's own memory.
      kept_.push_back(device_.cuda() ? there : copy_of(there, false));
    } else {
      kept_.push_back(source_ == nullptr && !pinned_ ? batch : copy_of(batch, pinned_));
    }
    done();
  }
  device_.synchronize();
  give_back(0);
}

Batch Feed::copy_of(const Batch& batch, bool pinned) const {
  const auto copy = [&](const at::Tensor& from) {
    return from.defined() ? at::empty(from.sizes(), from.options().pinned_memory(pinned)).copy_(from) : from;
  };
  return {copy(batch.input), copy(batch.label)};
}

/// A few hundred different samples, repeated: making a large batch of random numbers takes longer than training on it.
Batch Feed::random() const {
  constexpr std::int64_t kDifferent = 256;
  const auto different = std::min(kDifferent, request_.batch);
  const auto shape_for = [](std::int64_t count, const std::vector<std::int64_t>& sample) {
    std::vector<std::int64_t> shape{count};
    shape.insert(shape.end(), sample.begin(), sample.end());
    return shape;
  };
  const auto spread = [&](const at::Tensor& few) {
    if (different == request_.batch) return few;
    auto all = at::empty(shape_for(request_.batch, few.sizes().slice(1).vec()), few.options());
    for (std::int64_t at = 0; at < request_.batch; at += different) {
      const auto count = std::min(different, request_.batch - at);
      all.narrow(0, at, count).copy_(few.narrow(0, 0, count));
    }
    return all;
  };
  const auto input_shape = shape_for(different, form_.sample);
  const auto input = at::isIntegralType(form_.input_type, true)
                         ? at::randint(0, 1 << 15, input_shape, at::TensorOptions().dtype(form_.input_type))
                         : at::randn(input_shape);
  const auto label = form_.class_labels() ? at::randint(0, classes_, {different}, at::TensorOptions().dtype(at::kLong))
                                          : at::rand(shape_for(different, form_.label));
  return {spread(input), spread(label)};
}

Batch Feed::from_source() {
  give_back(kCopiesUnderWay);
  auto batch = empty_batch();
  auto error = empty_error();
  check(source_->next(source_->self, &batch, &error), error);
  current_ = batch;
  has_current_ = true;
  Batch out;
  out.input = view_of(batch.input);
  if (batch.label.data != nullptr) out.label = view_of(batch.label);
  return out;
}

Batch Feed::next() {
  if (kept_.empty()) return from_source();
  return kept_[turn_++ % kept_.size()];
}

Batch Feed::to_device(const Batch& batch) const {
  const auto move = [&](const at::Tensor& from) {
    return from.defined() && from.device() != device_.at() ? from.to(device_.at(), pinned_) : from;
  };
  return {move(batch.input), move(batch.label)};
}

void Feed::done() {
  if (!has_current_) return;
  has_current_ = false;
  if (!pinned_) {
    // From ordinary memory a copy is over when its call returns; on a CPU the step itself is.
    source_->release(source_->self, &current_);
    return;
  }
  Lent lent;
  lent.batch = current_;
  lent.copied.record(device_.stream());
  lent_.push_back(std::move(lent));
}

void Feed::give_back(std::size_t keep) {
  while (!lent_.empty()) {
    auto& oldest = lent_.front();
    if (!oldest.copied.query()) {
      if (lent_.size() <= keep) return;
      device_.wait(oldest.copied);
    }
    source_->release(source_->self, &oldest.batch);
    lent_.pop_front();
  }
}

}  // namespace ridgeline::torch_plugin
