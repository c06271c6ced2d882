// SPDX-License-Identifier: Apache-2.0
#include "workload/training/hdf5_source.hpp"

#include <algorithm>
#include <optional>

#include "workload/training/plugin_error.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using loader::ElementKind;

/// The plugin's lent batches: one being copied and the one that is trained on.
constexpr unsigned kHeld = 2;

std::optional<std::int32_t> dtype_of(const loader::ElementType& type) {
  switch (type.kind) {
    case ElementKind::floating:
      return type.size == 2 ? RL_DTYPE_FLOAT16 : type.size == 4 ? RL_DTYPE_FLOAT32 : RL_DTYPE_FLOAT64;
    case ElementKind::unsigned_integer:
      if (type.size == 1) return RL_DTYPE_UINT8;
      return std::nullopt;  // the loader delivers longer ones in signed form
    case ElementKind::signed_integer:
      if (type.size == 1) return RL_DTYPE_INT8;
      if (type.size == 2) return RL_DTYPE_INT16;
      return type.size == 4 ? RL_DTYPE_INT32 : RL_DTYPE_INT64;
    case ElementKind::opaque: break;
  }
  return std::nullopt;
}

Result<void> check_array(const loader::Loader& loader, std::size_t dataset, const std::string& path) {
  const auto& layout = loader.layout(dataset);
  if (!dtype_of(loader.element(dataset)))
    return fail(ErrorCode::invalid_argument, "{}: dataset \"{}\" has elements of {}{}, which cannot be trained on",
                path, layout.dataset, layout.element.name(),
                layout.library_reason.empty() ? "" : fmt::format(" ({})", layout.library_reason))
        .hint("store them as float32, uint8 or int64");
  if (layout.shape.size() > RL_TRAIN_MAX_DIMS)
    return fail(ErrorCode::invalid_argument, "{}: dataset \"{}\" has {} axes; expected at most {}", path,
                layout.dataset, layout.shape.size(), RL_TRAIN_MAX_DIMS);
  return {};
}

void describe_array(const loader::Loader& loader, std::size_t dataset, std::int64_t batch, rl_train_array& out) {
  const auto& layout = loader.layout(dataset);
  out.data = nullptr;
  out.dtype = *dtype_of(loader.element(dataset));
  out.rank = static_cast<std::int32_t>(layout.shape.size());
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis)
    out.dims[axis] = axis == 0 ? batch : static_cast<std::int64_t>(layout.shape[axis]);
}

class PinnedAllocator final : public loader::BatchAllocator {
 public:
  explicit PinnedAllocator(const rl_train_api& plugin) : plugin_(plugin) {}
  Result<std::byte*> allocate(std::size_t bytes) override {
    void* const memory = plugin_.alloc_pinned(bytes);
    if (memory == nullptr)
      return fail(ErrorCode::out_of_memory, "no {} bytes of page-locked memory for batches", bytes)
          .hint("use a smaller batch, or --pin-memory off");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) noexcept override { plugin_.free_pinned(memory); }

 private:
  const rl_train_api& plugin_;
};

}  // namespace

Hdf5Source::Hdf5Source(std::unique_ptr<loader::Loader> loader, const Settings& settings, bool has_labels)
    : loader_(std::move(loader)), settings_(settings), has_labels_(has_labels) {
  interface_.struct_size = sizeof interface_;
  interface_.self = this;
  interface_.describe = [](void* self, rl_train_batch* out, rl_train_error*) -> std::int32_t {
    static_cast<Hdf5Source*>(self)->describe(*out);
    return RL_TRAIN_OK;
  };
  interface_.next = [](void* self, rl_train_batch* out, rl_train_error* error) -> std::int32_t {
    const auto done = static_cast<Hdf5Source*>(self)->next(*out);
    return done ? std::int32_t{RL_TRAIN_OK} : write_plugin_error(done.error(), error);
  };
  interface_.release = [](void* self, const rl_train_batch* batch) { static_cast<Hdf5Source*>(self)->release(*batch); };
}

Result<std::unique_ptr<Hdf5Source>> Hdf5Source::open(const TrainingData& data, const Settings& settings,
                                                     const rl_train_api& plugin) {
  loader::LoaderOptions options;
  options.datasets = {data.input};
  if (!data.label.empty()) options.datasets.push_back(data.label);
  options.batch_size = static_cast<std::uint64_t>(settings.batch);
  options.drop_last = true;
  options.workers = static_cast<unsigned>(std::max(0, settings.workers));
  options.held_batches = kHeld;
  options.cache_bytes = data.cache_bytes;
  options.signed_integers = true;  // LibTorch computes with uint8 and signed integers
  options.sampler.order = data.order;
  options.sampler.seed = settings.seed;
  std::shared_ptr<loader::BatchAllocator> allocator;
  if (settings.pinned)
    allocator = std::make_shared<PinnedAllocator>(plugin);
  else
    allocator = std::make_shared<loader::HostAllocator>();
  RL_TRY_ASSIGN(auto loader, loader::Loader::open(data.path, std::move(options), std::move(allocator)));
  RL_TRY(check_array(*loader, 0, data.path));
  if (!data.label.empty()) RL_TRY(check_array(*loader, 1, data.path));
  if (loader->batches_per_epoch() == 0)
    return fail(ErrorCode::invalid_argument, "{}: {} samples are less than a batch of {}", data.path,
                loader->samples_per_epoch(), settings.batch)
        .hint("give a smaller batch");
  return std::unique_ptr<Hdf5Source>(new Hdf5Source(std::move(loader), settings, !data.label.empty()));
}

void Hdf5Source::describe(rl_train_batch& out) const {
  out.pinned = settings_.pinned ? 1 : 0;
  describe_array(*loader_, 0, settings_.batch, out.input);
  if (has_labels_)
    describe_array(*loader_, 1, settings_.batch, out.label);
  else
    out.label = {};
  out.token = nullptr;
}

Result<void> Hdf5Source::next(rl_train_batch& out) {
  if (!started_) RL_TRY(loader_->start_epoch(epoch_));
  started_ = true;
  RL_TRY_ASSIGN(auto batch, loader_->next());
  if (!batch) {
    RL_TRY(loader_->start_epoch(++epoch_));
    RL_TRY_ASSIGN(batch, loader_->next());
    if (!batch) return fail(ErrorCode::internal, "the loader gives no batch in epoch {}", epoch_);
  }
  describe(out);
  lent_.push_back(std::make_unique<loader::Batch>(std::move(*batch)));
  auto& lent = *lent_.back();
  out.input.data = lent.data(0).data();
  if (has_labels_) out.label.data = lent.data(1).data();
  out.token = &lent;
  return {};
}

void Hdf5Source::release(const rl_train_batch& batch) {
  const auto found =
      std::find_if(lent_.begin(), lent_.end(), [&](const auto& lent) { return lent.get() == batch.token; });
  if (found != lent_.end()) lent_.erase(found);
}

}  // namespace ridgeline::workload
