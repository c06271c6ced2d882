// SPDX-License-Identifier: Apache-2.0
#include "trial.hpp"

#include <algorithm>
#include <cmath>

#include "autocast.hpp"
#include "errors.hpp"

namespace ridgeline::torch_plugin {
namespace {

constexpr std::size_t kMarks =
    6;  // begin, batch here, batch on the device, forward done, backward done, optimizer done
constexpr std::int64_t kMostClasses = 1 << 24;

const std::vector<std::string>& loss_names() {
  static const std::vector<std::string> names{"cross_entropy", "mse", "l1", "bce"};
  return names;
}

Loss loss_named(const std::string& name) {
  const auto& names = loss_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    refuse("option loss=" + name + ": no such loss" + did_you_mean(name, names) + "; there are " + listed(names));
  return static_cast<Loss>(found - names.begin());
}

bool is_file(const std::string& model) {
  return model.find('/') != std::string::npos || model.find('.') != std::string::npos;
}

void check_options(const Options& options, const std::string& name, const ModelInfo* info) {
  auto known = Optimizer::option_names();
  for (const auto* more : {"loss", "input", "classes", "outputs"}) known.emplace_back(more);
  if (info != nullptr)
    for (const auto& [option, otherwise] : info->options) known.push_back(option);
  std::sort(known.begin(), known.end());
  options.check_names(known, name);
}

const ModelInfo* info_of(const std::string& name) {
  const auto* info = find_model(name);
  if (info != nullptr || is_file(name)) return info;
  std::vector<std::string> names;
  for (const auto& model : built_in_models()) names.push_back(model.name);
  refuse("no model \"" + name + "\"" + did_you_mean(name, names) + "; there are " + listed(names) +
         ", or give a TorchScript file");
}

}  // namespace

Trial::Trial(const rl_train_request& request, const rl_train_source* source)
    : request_(request), device_(request.device), marks_(device_) {
  if (request_.batch < 1) refuse("batch " + std::to_string(request_.batch) + ": expected 1 or more");
  if (request_.amp == RL_AMP_FP16 && !device_.cuda()) refuse("fp16 needs a GPU; bf16 runs on a CPU");
  at::manual_seed(request_.seed);
  build(request.model, Options::parse(request.options_json == nullptr ? "" : request.options_json), source);
  request_.device = request_.model = request_.options_json = nullptr;  // the caller's, and only until now
  feed_->prepare();
  before_ = device_.memory();
}

void Trial::build(const std::string& name, const Options& options, const rl_train_source* source) {
  const auto* info = info_of(name);
  check_options(options, name, info);
  if (options.has("loss")) loss_ = loss_named(options.text("loss", ""));
  auto form = source != nullptr ? Feed::describe(*source) : random_form(info, options);
  for (const auto* random_only : {"input", "outputs"})
    if (source != nullptr && options.has(random_only))
      refuse("option " + std::string(random_only) + " describes random data; the data file has its own form");
  if (!form.has_label && request_.data != RL_DATA_LOADER_ONLY)
    refuse("the data set has no labels; name them with --option label_dataset=NAME");
  if (!options.has("loss")) loss_ = form.class_labels() ? Loss::cross_entropy : Loss::mse;
  auto classes = outputs(info, options, form);
  if (request_.data != RL_DATA_LOADER_ONLY) {
    if (info == nullptr) {
      model_ = load_torchscript(name, device_.at());
      if (source == nullptr) ask_torchscript(options, form, classes);
    } else {
      model_ =
          make_model(*info, options, {form.sample, at::isIntegralType(form.input_type, true), classes, device_.at()});
    }
    optimizer_.emplace(model_->parameters(), options, device_.cuda());
    if (request_.amp == RL_AMP_FP16) scaler_.emplace(device_.at());
  }
  feed_.emplace(request_, source, std::move(form), classes, device_);
}

DataForm Trial::random_form(const ModelInfo* info, const Options& options) const {
  DataForm form;
  if (info == nullptr && !options.has("input"))
    refuse("a TorchScript model needs --option input=3x224x224, the axes of one sample, or --data-path data.h5");
  const Options otherwise = Options::parse(R"({"input": ")" + (info == nullptr ? "1" : info->input) + R"("})");
  form.sample = options.shape("input", otherwise.shape("input", {}));
  // A transformer over one axis reads tokens.
  if (info != nullptr && info->name == "transformer" && form.sample.size() == 1) form.input_type = at::kLong;
  if (loss_ != Loss::cross_entropy) {
    form.label_type = at::kFloat;
    const auto count = options.whole("outputs", 1, 1, kMostClasses);
    if (count > 1) form.label = {count};
  }
  return form;
}

std::int64_t Trial::outputs(const ModelInfo* info, const Options& options, const DataForm& form) const {
  if (loss_ != Loss::cross_entropy) return elements(form.label);
  if (!at::isIntegralType(form.label_type, true)) return elements(form.label);  // a probability for each class
  if (!form.label.empty() && info != nullptr)
    refuse("labels of " + shape_text(form.label) +
           " integers a sample; expected one class number, or --option loss=mse");
  const auto usual = info == nullptr ? std::int64_t{2} : static_cast<std::int64_t>(std::stoll(info->classes));
  return options.whole("classes", usual, 2, kMostClasses);
}

/// Random labels for a model of unknown form: as its output is.
void Trial::ask_torchscript(const Options& options, DataForm& form, std::int64_t& classes) {
  const c10::NoGradGuard no_grad;
  std::vector<std::int64_t> shape{2};
  shape.insert(shape.end(), form.sample.begin(), form.sample.end());
  const auto output = model_->forward(at::randn(shape).to(device_.at()));
  if (output.dim() < 2 && loss_ == Loss::cross_entropy)
    refuse("the model's output has " + std::to_string(output.dim()) +
           " axes; expected samples and classes for cross_entropy");
  if (loss_ != Loss::cross_entropy) {
    form.label = output.sizes().slice(1).vec();
  } else {
    form.label = output.sizes().slice(2).vec();
    if (!options.has("classes")) classes = output.size(1);
  }
}

at::Tensor Trial::model_input(const at::Tensor& raw) const {
  if (model_->takes_tokens()) return raw.to(at::kLong);
  if (raw.scalar_type() == at::kFloat) return raw;
  constexpr double kLargestByte = 255;
  return raw.scalar_type() == at::kByte ? raw.to(at::kFloat).div_(kLargestByte) : raw.to(at::kFloat);
}

at::Tensor Trial::loss_of(const at::Tensor& output, const at::Tensor& label) const {
  // The losses below are computed in float32 under autocast as well.
  const auto values = output.to(at::kFloat);
  if (loss_ == Loss::cross_entropy) {
    if (!at::isIntegralType(label.scalar_type(), true)) return at::cross_entropy_loss(values, label.to(at::kFloat));
    const auto target = label.to(at::kLong);
    return at::cross_entropy_loss(values, values.dim() == 2 ? target.flatten() : target);
  }
  const auto target = label.to(at::kFloat);
  if (values.numel() != target.numel())
    refuse("the model gives " + std::to_string(values.numel()) + " numbers for " + std::to_string(target.numel()) +
           " labels of a batch; expected equally many for this loss");
  const auto shaped = values.reshape(target.sizes());
  if (loss_ == Loss::mse) return at::mse_loss(shaped, target);
  if (loss_ == Loss::l1) return at::l1_loss(shaped, target);
  return at::binary_cross_entropy_with_logits(shaped, target);
}

void Trial::step() {
  marks_.mark();
  auto batch = feed_->next();
  marks_.mark();
  if (request_.data == RL_DATA_LOADER_ONLY) {
    for (std::size_t i = 2; i < kMarks; ++i) marks_.mark();
    feed_->done();
    return;
  }
  batch = feed_->to_device(batch);
  if (device_.cuda()) feed_->done();
  marks_.mark();
  at::Tensor loss;
  {
    const Autocast autocast(device_.at().type(), request_.amp);
    loss = loss_of(model_->forward(model_input(batch.input)), batch.label);
  }
  marks_.mark();
  if (scaler_)
    scaler_->scale(loss).backward();
  else
    loss.backward();
  marks_.mark();
  if (scaler_) {
    scaler_->unscale(optimizer_->gradients());
    optimizer_->step(&scaler_->found_overflow());
    scaler_->update();
  } else {
    optimizer_->step(nullptr);
  }
  optimizer_->zero_gradients();
  marks_.mark();
  last_loss_ = loss.detach();
  if (!device_.cuda()) feed_->done();
}

double Trial::run(std::int64_t count, rl_train_step* steps) {
  if (count < 1) refuse("run of " + std::to_string(count) + " steps; expected 1 or more");
  marks_.begin(static_cast<std::size_t>(count) * kMarks + 1);
  device_.synchronize();
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) step();
  marks_.mark();
  device_.synchronize();
  const auto wall = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i) * kMarks;
    const auto phase = [&](std::size_t number) { return marks_.between(at + number, at + number + 1); };
    steps[i] = {phase(0), phase(1), phase(2), phase(3), phase(4), phase(5), marks_.between(at, at + kMarks)};
  }
  return wall;
}

void Trial::reset_peaks() {
  device_.reset_peaks();
  before_ = device_.memory();
  if (scaler_) scaler_->forget_skipped();
}

rl_train_stats Trial::stats() const {
  const auto now = device_.memory();
  rl_train_stats out{};
  out.struct_size = sizeof out;
  out.peak_allocated_bytes = now.peak_allocated;
  out.peak_reserved_bytes = now.peak_reserved;
  out.capacity_bytes = now.capacity;
  const auto since = [](std::int64_t after, std::int64_t before) {
    return after < 0 || before < 0 ? -1 : after - before;
  };
  out.alloc_retries = since(now.alloc_retries, before_.alloc_retries);
  out.num_ooms = since(now.num_ooms, before_.num_ooms);
  out.skipped_steps = scaler_ ? scaler_->skipped_steps() : -1;
  out.gpu_busy = -1;
  out.has_loss = last_loss_.defined() ? 1 : 0;
  out.parameters = 0;
  if (model_)
    for (const auto& parameter : model_->parameters()) out.parameters += parameter.numel();
  out.last_loss = last_loss_.defined() ? last_loss_.item<double>() : -1;
  return out;
}

}  // namespace ridgeline::torch_plugin
