// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/overlapped_session.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace ridgeline::workload {
namespace {

constexpr double kNsPerMs = 1e6;
/// Shapes whose buffers a slot keeps beside those it was prepared for; a source of ever new sizes must not fill the
/// GPU.
constexpr std::size_t kMostBound = 32;

std::int64_t clock_ns() { return base::system_clock().now().count(); }

}  // namespace

base::Result<void*> HostOutputs::room(std::size_t at, std::size_t bytes) {
  if (buffers_.size() <= at) buffers_.resize(at + 1);
  auto& buffer = buffers_[at];
  if (!buffer || buffer->size() < bytes) {
    buffer.reset();
    RL_TRY_ASSIGN(buffer, gpu::PinnedBuffer::make(gpu_.driver, bytes));
  }
  return buffer->data();
}

/// Takes a free slot, waiting for one, and gives it back.
class OverlappedSession::Lease {
 public:
  explicit Lease(OverlappedSession& session) : session_(session) {
    std::unique_lock lock(session_.mutex_);
    const auto find = [&] {
      slot_ = nullptr;
      for (auto& slot : session_.slots_)
        if (!slot.is_taken) slot_ = &slot;
      return slot_ != nullptr;
    };
    session_.freed_.wait(lock, find);
    slot_->is_taken = true;
  }
  ~Lease() {
    // What was queued before a fault still reads frames and writes outputs.
    if (!is_done_) session_.await_streams();
    {
      const std::lock_guard lock(session_.mutex_);
      slot_->is_taken = false;
    }
    session_.freed_.notify_one();
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  [[nodiscard]] Slot& slot() const noexcept { return *slot_; }
  void done() noexcept { is_done_ = true; }

 private:
  OverlappedSession& session_;
  Slot* slot_ = nullptr;
  bool is_done_ = false;
};

OverlappedSession::OverlappedSession(Setup setup, OrtStreamParts parts, gpu::CudaStream up, gpu::CudaStream down)
    : setup_(std::move(setup)),
      parts_(std::move(parts)),
      model_{setup_.environment, parts_.caller->session(), parts_.input, parts_.sizes, parts_.outputs, setup_.gpu,
             setup_.place},
      up_(std::move(up)),
      down_(std::move(down)) {}

OverlappedSession::~OverlappedSession() { await_streams(); }

base::Result<std::unique_ptr<OverlappedSession>> OverlappedSession::create(Setup setup, OrtStreamParts parts) {
  RL_TRY(setup.gpu.context.make_current());
  RL_TRY_ASSIGN(auto up, gpu::CudaStream::make(setup.gpu.driver));
  RL_TRY_ASSIGN(auto down, gpu::CudaStream::make(setup.gpu.driver));
  std::unique_ptr<OverlappedSession> out(
      new OverlappedSession(std::move(setup), std::move(parts), std::move(up), std::move(down)));
  RL_TRY(out->make_slots());
  return out;
}

base::Result<void> OverlappedSession::make_slots() {
  slots_.clear();
  slots_.reserve(kSlots);
  for (std::size_t i = 0; i < kSlots; ++i) {
    RL_TRY_ASSIGN(auto slot, make_slot());
    slots_.push_back(std::move(slot));
  }
  return {};
}

base::Result<OverlappedSession::Slot> OverlappedSession::make_slot() const {
  using gpu::CudaEvent;
  const auto& driver = setup_.gpu.driver;
  RL_TRY_ASSIGN(auto begun, CudaEvent::make(driver));
  RL_TRY_ASSIGN(auto uploaded, CudaEvent::make(driver));
  RL_TRY_ASSIGN(auto started, CudaEvent::make(driver));
  RL_TRY_ASSIGN(auto finished, CudaEvent::make(driver));
  RL_TRY_ASSIGN(auto downloaded, CudaEvent::make(driver, CudaEvent::Wait::block));
  return Slot{CudaPreprocessor(setup_.gpu, setup_.kernel, parts_.preprocessor.options(), parts_.input.value_type(),
                               up_.handle()),
              std::move(begun),
              std::move(uploaded),
              std::move(started),
              std::move(finished),
              std::move(downloaded)};
}

base::Result<void> OverlappedSession::set_preprocessor(const stream::PreprocessOptions& options) {
  parts_.preprocessor = stream::Preprocessor(options);
  return make_slots();
}

base::Result<void> OverlappedSession::check(gpu::CudaStatus status, const char* doing) const {
  if (status == gpu::kCudaSuccess) return {};
  return tl::unexpected<base::Error>(setup_.gpu.driver->error(status, doing));
}

void OverlappedSession::await_streams() const noexcept {
  for (const auto* stream : {&up_, &setup_.compute, &down_}) (void)stream->synchronize();
}

base::Result<OverlappedSession::Bound*> OverlappedSession::bound(Slot& slot, const FrameGroup& group) {
  const auto dims = parts_.input.dims(group.rows, group.geometry.input_height, group.geometry.input_width);
  if (const auto found = slot.bound.find(dims); found != slot.bound.end()) return &found->second;
  if (slot.bound.size() >= kMostBound)
    std::erase_if(slot.bound, [](const auto& one) { return one.second.graph == nullptr; });
  RL_TRY_ASSIGN(auto binding, SlotBinding::create(model_, group));
  Bound made;
  made.binding = std::move(binding);
  return &slot.bound.emplace(dims, std::move(made)).first->second;
}

base::Result<void> OverlappedSession::upload(Slot& slot, Bound& bound, std::span<const stream::PlannedFrame> frames) {
  RL_TRY(check(slot.begun.record(up_.handle()), "marking an upload"));
  RL_TRY(slot.preprocessor.run(frames, bound.binding->input()));
  return check(slot.uploaded.record(up_.handle()), "marking an upload");
}

base::Result<void> OverlappedSession::infer(Slot& slot, Bound& bound) {
  auto* compute = setup_.compute.handle();
  RL_TRY(setup_.gpu.context.make_current());
  parts_.caller->enter_float_mode();
  RL_TRY(check(setup_.gpu.driver->wait(compute, slot.uploaded.handle()), "waiting for an upload"));
  RL_TRY(check(slot.started.record(compute), "marking an inference"));
  RL_TRY(bound.binding->run(bound.graph ? bound.graph.get() : parts_.options.get()));
  return check(slot.finished.record(compute), "marking an inference");
}

base::Result<std::vector<OrtValueHandle>> OverlappedSession::download(Slot& slot, Bound& bound, HostOutputs& host) {
  const auto& driver = *setup_.gpu.driver;
  auto* down = down_.handle();
  RL_TRY(check(driver.wait(down, slot.finished.handle()), "waiting for an inference"));
  RL_TRY_ASSIGN(const auto outputs, bound.binding->outputs());
  std::vector<OrtValueHandle> values;
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    const auto& output = outputs[at];
    if (!output.shape) continue;
    RL_TRY_ASSIGN(auto* room, host.room(at, output.bytes));
    if (output.bytes > 0)
      RL_TRY(check(driver.copy_to_host_async(room, reinterpret_cast<gpu::CudaAddress>(output.data), output.bytes, down),
                   "copying outputs from the GPU"));
  }
  RL_TRY(check(slot.downloaded.record(down), "marking a download"));
  RL_TRY(check(slot.downloaded.synchronize(), "waiting for an inference"));
  for (std::size_t at = 0; at < outputs.size(); ++at) {
    const auto& output = outputs[at];
    if (!output.shape)
      return base::fail(base::ErrorCode::unsupported, "output {} has no values of fixed size",
                        parts_.outputs[at].description.name);
    RL_TRY_ASSIGN(auto* room, host.room(at, output.bytes));
    RL_TRY_ASSIGN(auto value, wrap_memory(setup_.environment.api(), {MemoryPlace::pinned, room, output.bytes},
                                          output.shape->type, output.shape->dims));
    values.push_back(std::move(value));
  }
  return values;
}

base::Result<std::vector<OrtValueHandle>> OverlappedSession::run(const FrameGroup& group,
                                                                 std::span<const stream::PlannedFrame> frames,
                                                                 HostOutputs& host, stream::BatchTimes& times) {
  const auto entered = clock_ns();
  RL_TRY(setup_.gpu.context.make_current());
  Lease lease(*this);
  auto& slot = lease.slot();
  RL_TRY_ASSIGN(auto* of_group, bound(slot, group));
  const auto begun = clock_ns();
  RL_TRY(upload(slot, *of_group, frames));
  const auto queued = clock_ns();
  if (auto ran = thread_.run([&] { return infer(slot, *of_group); }); !ran)
    return tl::unexpected(setup_.environment.with_log(std::move(ran).error()));
  RL_TRY_ASSIGN(auto values, download(slot, *of_group, host));
  lease.done();
  RL_TRY_ASSIGN(const auto inference_ns, setup_.busy.add(slot.started, slot.finished, group.rows));
  RL_TRY_ASSIGN(const auto up_ns, setup_.busy.add_upload(slot.begun, slot.uploaded));
  RL_TRY_ASSIGN(const auto down_ms, slot.downloaded.elapsed_ms(slot.finished));
  const auto copy_ns = up_ns + static_cast<std::int64_t>(down_ms * kNsPerMs);
  times.preprocess_ns += queued - begun;
  times.inference_ns += inference_ns;
  times.copy_ns += copy_ns;
  times.wait_ns += std::max<std::int64_t>(0, clock_ns() - entered - (queued - begun) - inference_ns - copy_ns);
  return values;
}

base::Result<void> OverlappedSession::capture(Slot& slot, Bound& bound, const GraphOptions& graph_options,
                                              int runs_before) {
  // The first run finds out the outputs' shapes; one that captures writes to addresses which stay.
  for (int run = 0; run < std::max(1, runs_before); ++run) RL_TRY(infer(slot, bound));
  RL_TRY(check(setup_.compute.synchronize(), "waiting for an inference"));
  if (!graph_options) return {};
  RL_TRY_ASSIGN(const bool is_fixed, bound.binding->fix_outputs());
  if (!is_fixed) {
    no_graph_ = "the data decides the size of an output";
    return {};
  }
  RL_TRY_ASSIGN(bound.graph, graph_options(static_cast<int>(graphs_) + 1));
  RL_TRY(infer(slot, bound));
  RL_TRY(infer(slot, bound));
  RL_TRY(check(setup_.compute.synchronize(), "waiting for an inference"));
  ++graphs_;
  return {};
}

base::Result<std::string> OverlappedSession::prepare(const stream::Image& sample, std::span<const std::uint32_t> sizes,
                                                     const GraphOptions& graph_options, int runs_before) {
  RL_TRY(setup_.gpu.context.make_current());
  no_graph_.clear();
  for (auto& slot : slots_)
    for (const auto size : sizes) {
      const std::vector<stream::BatchFrame> frames(size, {.image = &sample, .is_sample = true});
      GroupedFrames grouped;
      RL_TRY(group_frames(frames, size, parts_.preprocessor, parts_.input, grouped));
      std::vector<stream::PlannedFrame> planned;
      grouped.plan(grouped.groups.front(), frames, planned);
      RL_TRY_ASSIGN(auto* of_size, bound(slot, grouped.groups.front()));
      if (of_size->graph) continue;  // a model of a fixed batch
      RL_TRY(upload(slot, *of_size, planned));
      RL_TRY(check(up_.synchronize(), "waiting for an upload"));
      if (auto captured = thread_.run([&] { return capture(slot, *of_size, graph_options, runs_before); }); !captured)
        return tl::unexpected(setup_.environment.with_log(std::move(captured).error()));
    }
  return no_graph_;
}

}  // namespace ridgeline::workload
