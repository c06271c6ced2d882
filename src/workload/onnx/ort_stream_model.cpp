// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_model.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "gpu/preprocess_ptx.hpp"
#include "stream/messages.hpp"
#include "workload/onnx/node_assignment.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_plugins.hpp"
#include "workload/onnx/ort_providers.hpp"
#include "workload/onnx/ort_stream_worker.hpp"
#include "workload/onnx/overlapped_lane.hpp"
#include "workload/onnx/pinned_images.hpp"
#include "workload/onnx/stream_part.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

/// Batches of a session that are under way: those in its slots, and one that is decoded.
constexpr std::size_t kLanesPerSession = OverlappedSession::kSlots + 1;
constexpr const char* kGraphs = "enable_cuda_graph";
/// The CUDA provider was seen to allocate in its second and third run what its first had given back on another stream.
constexpr int kRunsBeforeGraph = 3;
constexpr int kMostRunsBeforeGraph = 12;
constexpr std::string_view kOnHost = "cpu";  ///< of preprocess.device, as is the other
constexpr std::string_view kOnGpu = "gpu";

/// Graphs need inputs at addresses that stay, as OverlappedSession has them.
schema::Configuration without_graphs(schema::Configuration configuration) {
  configuration.unset(kGraphs);
  return configuration;
}

/// A model in a session, and what is known of it.
struct OpenedModel {
  OrtStreamParts parts;
  ExporterMetadata metadata;
  std::vector<schema::Message> notes;
};

/// `decoder`: as far as it is known, for what comes before the model. `fixed_batch`: as StreamModelRequest.
base::Result<OpenedModel> open_model(const OrtEnvironment& environment, const SessionSettings& settings,
                                     const StreamPart& part, std::string_view decoder, std::int64_t* fixed_batch) {
  RL_TRY_ASSIGN(auto caller, OrtCaller::create(environment, part.file, settings));
  RL_TRY_ASSIGN(auto inputs, find_picture_inputs(caller->inputs(), part.file));
  auto& input = inputs.image;
  if (input.batch > 0 && part.batch_size > input.batch) {
    if (fixed_batch != nullptr) *fixed_batch = input.batch;
    return base::fail(ErrorCode::invalid_argument, "{}batch_size {}: the model's batch is fixed at {}", part.prefix,
                      part.batch_size, input.batch)
        .hint("set {}batch_size: {}, or export the model with a batch of any size", part.prefix, input.batch);
  }
  RL_TRY_ASSIGN(auto outputs, session_ports(environment.api(), caller->session(), PortSide::outputs));
  RL_TRY_ASSIGN(auto options, settings.make_run_options(SessionSettings::kNoGraph));
  RL_TRY_ASSIGN(const auto entries, session_metadata(environment.api(), caller->session()));
  auto metadata = read_exporter_metadata(entries);
  RL_TRY_ASSIGN(const auto preprocess, preprocess_options(part, input, metadata, decoder));
  RL_TRY_ASSIGN(const auto size, input_size(part, input, metadata, preprocess.stride));
  std::vector<schema::Message> notes;
  if (auto parts = metadata.messages(); !parts.empty()) notes.push_back(stream::messages::metadata(parts));
  if (!metadata.unreadable.empty()) notes.push_back(stream::messages::metadata_unreadable(metadata.unreadable));
  if (!size.note.empty()) notes.push_back(size.note);
  if (auto note = stream::fixed_input_note(preprocess, input.width, input.height)) notes.push_back(*note);
  input.width = size.width;
  input.height = size.height;
  return OpenedModel{{std::move(caller), std::move(input), std::move(inputs.sizes), std::move(outputs),
                      std::move(options), stream::Preprocessor(preprocess)},
                     std::move(metadata),
                     std::move(notes)};
}

/// As the models declare them, with the batch.
std::vector<std::vector<std::int64_t>> declared_shapes(const std::vector<OrtPort>& outputs) {
  std::vector<std::vector<std::int64_t>> out;
  for (const auto& port : outputs) out.push_back(port.description.dims);
  return out;
}

/// "x: float 1x3x704x1280"
std::string input_text(const ImageInput& input, const stream::FrameGeometry& geometry) {
  return fmt::format("{}: {} {}", input.name, element_type_name(input.type),
                     fmt::join(input.dims(1, geometry.input_height, geometry.input_width), "x"));
}

stream::Image grey_image(int width, int height) {
  stream::Image image;
  image.width = width;
  image.height = height;
  image.bytes.assign(stream::image_bytes(width, height, image.format), 127);
  return image;
}

class OrtStreamModel final : public StreamModel {
 public:
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::uint32_t worker, std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size,
                                                     std::span<std::string> results) override;
  void on_left(std::function<void(std::uint32_t worker)> left) override { left_ = std::move(left); }
  [[nodiscard]] const StreamModelFacts& facts() const noexcept override { return facts_; }
  [[nodiscard]] std::shared_ptr<stream::ImageMemory> image_memory() const override;
  /// Crops are cut out by the CPU.
  [[nodiscard]] bool takes_device_images() const noexcept override {
    return !lanes_.empty() && !lanes_.front().worker->crops;
  }
  [[nodiscard]] std::optional<gpu::DeviceTimes> device_times() const override;
  void start_device_times() override;

  [[nodiscard]] base::Result<void> create(const StreamModelRequest& request, const OrtSearchEnvironment& search);

 private:
  struct Worker {
    std::unique_ptr<OrtStreamWorker> first;        ///< null where batches overlap
    std::unique_ptr<OverlappedSession> session{};  ///< instead of it
    std::unique_ptr<OrtStreamWorker> second{};     ///< on crops; may be null
    std::optional<stream::CropStage> crops{};
    std::mutex cropping{};  ///< of lanes, for the second model
  };
  struct Lane {
    Worker* worker = nullptr;
    std::unique_ptr<OverlappedLane> first{};
  };
  /// What the sessions of one model have in common, from the first one on.
  struct Known {
    std::optional<ChosenDecoder> decoder;
    std::string input;  ///< as StreamModelFacts
    std::vector<schema::Message> notes;
    stream::FrameGeometry geometry;
  };

  /// With its tensors on the GPU, where that is known.
  [[nodiscard]] base::Result<std::unique_ptr<OrtStreamWorker>> make_worker(OrtStreamParts parts) const;
  /// A session that is ready; the first one of a model finds out what its outputs mean.
  [[nodiscard]] base::Result<std::unique_ptr<OrtStreamWorker>> open_worker(const StreamPart& part,
                                                                           const SessionSettings& settings,
                                                                           const stream::Image& sample, Known& known,
                                                                           std::int64_t* fixed_batch);
  /// Of the GPU, in bytes; 0: not known.
  [[nodiscard]] std::int64_t free_memory() const;
  /// A note of what is no longer free: each session has weights of its own.
  void tell_memory(std::int64_t free_before, std::int64_t sessions);
  [[nodiscard]] base::Result<void> add_worker(const StreamModelRequest& request, const SessionSettings& settings,
                                              const stream::Image& sample);
  /// Finds out what a model's outputs mean, by those of a first frame, unless that is known. Also: what comes before
  /// it.
  [[nodiscard]] base::Result<stream::PreprocessOptions> learn(const StreamPart& part, OpenedModel& opened,
                                                              const OrtStreamParts& parts,
                                                              base::Result<OrtStreamWorker::Probe> probed,
                                                              Known& known) const;
  [[nodiscard]] static base::Result<std::unique_ptr<stream::ResultDecoder>> decoder_of(const Known& known);
  /// Whether frames are prepared on the GPU and batches overlap; where not, facts say why if it was to be expected.
  [[nodiscard]] bool can_overlap(const StreamModelRequest& request);
  [[nodiscard]] base::Result<void> add_overlapped(const StreamModelRequest& request, const SessionExtras& extras,
                                                  const stream::Image& sample);
  /// A session that is ready, its graphs captured where they are wanted.
  [[nodiscard]] base::Result<void> open_overlapped(Worker& worker, const StreamModelRequest& request,
                                                   SessionExtras extras, const stream::Image& sample,
                                                   int runs_before_graph);
  void tell_no_graphs(const Worker& worker, const StreamModelRequest& request, const std::string& reason);
  /// What the sessions of all workers have in common: outputs that are kept, crops, facts.
  [[nodiscard]] base::Result<void> complete(Worker& worker, const StreamModelRequest& request,
                                            const SessionSettings& settings, const stream::Image& sample);
  [[nodiscard]] base::Result<void> add_crops(Worker& worker, const StreamModelRequest& request,
                                             const SessionSettings& settings, const stream::Image& sample);
  [[nodiscard]] base::Result<void> make_tensor_folder(const std::string& folder, const std::vector<OrtPort>& outputs);

  StreamModelFacts facts_;
  // Destroyed in reverse order: sessions before their environment.
  std::unique_ptr<OrtEnvironment> environment_;
  std::shared_ptr<GpuSide> gpu_;  ///< of a provider that takes tensors in its memory
  std::shared_ptr<const PreprocessKernel> kernel_;
  std::unique_ptr<gpu::BusyClock> busy_;
  bool uses_graphs_ = false;
  std::optional<TensorFolder> tensors_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::function<void(std::uint32_t worker)> left_;
  std::vector<Lane> lanes_;  ///< of all workers in turn; none where batches do not overlap
  Known first_;
  Known crops_;
};

base::Result<stream::BatchTimes> OrtStreamModel::run(std::uint32_t number, std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results) {
  auto* const lane = lanes_.empty() ? nullptr : &lanes_[number];
  auto& worker = lane != nullptr ? *lane->worker : *workers_[number];
  RL_TRY_ASSIGN(auto times, lane != nullptr ? lane->first->run(frames, executed_size, results,
                                                               [&] {
                                                                 if (left_) left_(number);
                                                               })
                                            : worker.first->run(frames, executed_size, results));
  if (!worker.crops) return times;
  const auto begun = base::system_clock().now();
  const auto found = lane != nullptr ? lane->first->decoder().found() : worker.first->found();
  const std::lock_guard lock(worker.cropping);
  RL_TRY(worker.crops->run(frames, found, results));
  times.crops_ns = (base::system_clock().now() - begun).count();
  return times;
}

std::shared_ptr<stream::ImageMemory> OrtStreamModel::image_memory() const {
  return lanes_.empty() ? nullptr : make_pinned_images(gpu_);
}

std::optional<gpu::DeviceTimes> OrtStreamModel::device_times() const {
  return busy_ ? std::optional(busy_->times()) : std::nullopt;
}

void OrtStreamModel::start_device_times() {
  if (busy_) busy_->start_over();
}

base::Result<void> OrtStreamModel::create(const StreamModelRequest& request, const OrtSearchEnvironment& search) {
  const auto& spec = request.spec.model;
  const auto& settings = request.spec.settings;
  const auto& provider = schema::provider_of(spec.provider);
  RL_TRY_ASSIGN(auto library, OrtLibrary::open(spec.runtime.library_path, search));
  facts_.runtime = fmt::format("onnxruntime {}, {}", library.version(), spec.provider);
  facts_.pads = provider.on_gpu() || provider.compiles_graph;
  RL_TRY_ASSIGN(environment_, OrtEnvironment::create(std::move(library)));
  RL_TRY(check_provider(environment_->library(), spec.provider));
  SessionExtras extras;
  if (spec.plugin) {
    RL_TRY_ASSIGN(extras.plugin, plugin_device(*environment_, *spec.plugin, search));
  }
  RL_TRY_ASSIGN(const auto session,
                SessionSettings::make(*environment_, without_graphs(spec.configuration), spec.provider, extras));
  std::string no_gpu;
  if (provider.takes_device_tensors) {
    if (auto gpu = GpuSide::open())
      gpu_ = std::move(*gpu);
    else
      no_gpu = gpu.error().message;
  }
  const auto grey = request.sample == nullptr ? grey_image(request.frame_width, request.frame_height) : stream::Image();
  const auto& sample = request.sample == nullptr ? grey : *request.sample;
  const auto free_before = free_memory();
  if (gpu_ && can_overlap(request)) {
    for (std::int64_t worker = 0; worker < settings.streams; ++worker) RL_TRY(add_overlapped(request, extras, sample));
    tell_memory(free_before, settings.streams);
    facts_.lanes = static_cast<std::int64_t>(lanes_.size());
    facts_.session_batches = OverlappedSession::kSlots;
    return {};
  }
  if (!gpu_ && settings.preprocess.device == kOnGpu)
    facts_.notes.push_back(stream::messages::preprocess_on_cpu(
        no_gpu.empty() ? fmt::format("provider {} takes no frames from a GPU", spec.provider) : no_gpu));
  for (std::int64_t worker = 0; worker < settings.streams; ++worker) RL_TRY(add_worker(request, session, sample));
  tell_memory(free_before, settings.streams);
  if (!no_gpu.empty()) facts_.notes.push_back(stream::messages::copies_unknown(no_gpu));
  return {};
}

std::int64_t OrtStreamModel::free_memory() const {
  if (!gpu_ || !gpu_->context.make_current()) return 0;
  const auto memory = gpu_->driver->memory_info();
  return memory ? memory->free_bytes : 0;
}

void OrtStreamModel::tell_memory(std::int64_t free_before, std::int64_t sessions) {
  const auto taken = free_before - free_memory();
  if (free_before > 0 && taken > 0)
    facts_.notes.push_back(
        stream::messages::sessions_memory({.sessions = sessions, .bytes = static_cast<double>(taken)}));
}

base::Result<std::unique_ptr<OrtStreamWorker>> OrtStreamModel::make_worker(OrtStreamParts parts) const {
  auto worker = std::make_unique<OrtStreamWorker>(*environment_, std::move(parts));
  if (gpu_) {
    RL_TRY_ASSIGN(auto transfer, make_cuda_transfer(*gpu_));
    RL_TRY(worker->bind(std::move(transfer)));
  }
  return worker;
}

base::Result<std::unique_ptr<OrtStreamWorker>> OrtStreamModel::open_worker(const StreamPart& part,
                                                                           const SessionSettings& settings,
                                                                           const stream::Image& sample, Known& known,
                                                                           std::int64_t* fixed_batch) {
  const std::string_view decoder = known.decoder ? std::string_view(known.decoder->name) : part.decoder;
  RL_TRY_ASSIGN(auto opened, open_model(*environment_, settings, part, decoder, fixed_batch));
  RL_TRY_ASSIGN(auto worker, make_worker(std::move(opened.parts)));
  if (!known.decoder) {
    RL_TRY_ASSIGN(const auto preprocess, learn(part, opened, worker->parts(), worker->probe(sample), known));
    worker->set_preprocessor(preprocess);
  }
  RL_TRY_ASSIGN(auto made, decoder_of(known));
  worker->set_decoder(std::move(made));
  return worker;
}

base::Result<stream::PreprocessOptions> OrtStreamModel::learn(const StreamPart& part, OpenedModel& opened,
                                                              const OrtStreamParts& parts,
                                                              base::Result<OrtStreamWorker::Probe> probed,
                                                              Known& known) const {
  if (!probed) {
    auto error = std::move(probed).error();
    // The runtime's own word for whatever the model did not like.
    if (error.code == ErrorCode::internal) error.code = ErrorCode::unsupported;
    return tl::unexpected(std::move(error).in("warm-up with the first frame"));
  }
  const auto& [outputs, geometry] = *probed;
  RL_TRY_ASSIGN(known.decoder,
                choose_decoder(part, opened.metadata, declared_shapes(parts.outputs), outputs, geometry));
  known.geometry = geometry;
  known.input = input_text(parts.input, geometry);
  known.notes = std::move(opened.notes);
  known.notes.insert(known.notes.end(), known.decoder->notes.begin(), known.decoder->notes.end());
  return preprocess_options(part, parts.input, opened.metadata, known.decoder->name);
}

base::Result<std::unique_ptr<stream::ResultDecoder>> OrtStreamModel::decoder_of(const Known& known) {
  return stream::make_decoder(known.decoder->name, known.decoder->options, known.decoder->shapes,
                              known.geometry.input_width, known.geometry.input_height);
}

base::Result<void> OrtStreamModel::add_worker(const StreamModelRequest& request, const SessionSettings& settings,
                                              const stream::Image& sample) {
  auto worker = std::make_unique<Worker>();
  RL_TRY_ASSIGN(worker->first, open_worker(first_part(request.spec), settings, sample, first_, request.fixed_batch));
  RL_TRY(complete(*worker, request, settings, sample));
  worker->first->keep(tensors_ ? &*tensors_ : nullptr, worker->crops.has_value());
  workers_.push_back(std::move(worker));
  return {};
}

base::Result<void> OrtStreamModel::complete(Worker& worker, const StreamModelRequest& request,
                                            const SessionSettings& settings, const stream::Image& sample) {
  const auto& spec = request.spec;
  const bool has_crops = !spec.crop_model.location.empty();
  RL_TRY_ASSIGN(const auto decoder, decoder_of(first_));
  if (has_crops && !decoder->finds_boxes())
    return base::fail(ErrorCode::invalid_argument, "--crop-model: decoder {} of {} finds no boxes to cut out",
                      first_.decoder->name, spec.model.workload.location)
        .hint(
            "set decoder to one that finds boxes, such as ppocr, yolo or detr, if the first model's outputs are that");
  const auto& parts = worker.first ? worker.first->parts() : worker.session->parts();
  if (!spec.tensors.empty() && !tensors_) RL_TRY(make_tensor_folder(spec.tensors, parts.outputs));
  if (workers_.empty()) {
    facts_.decoder = first_.decoder->name;
    facts_.input = first_.input;
    facts_.notes.insert(facts_.notes.begin(), first_.notes.begin(), first_.notes.end());
  }
  return has_crops ? add_crops(worker, request, settings, sample) : base::Result<void>();
}

bool OrtStreamModel::can_overlap(const StreamModelRequest& request) {
  if (request.spec.settings.preprocess.device == kOnHost) return false;
  auto kernel = PreprocessKernel::load(*gpu_, gpu::preprocess_ptx());
  auto busy = kernel ? gpu::BusyClock::make(gpu_->driver) : tl::unexpected(kernel.error());
  if (!busy) {
    facts_.notes.push_back(stream::messages::preprocess_on_cpu(busy.error().message));
    return false;
  }
  kernel_ = std::move(*kernel);
  busy_ = std::move(*busy);
  const auto& provider = schema::provider_of(request.spec.model.provider);
  uses_graphs_ = request.spec.settings.cuda_graphs == "auto" && provider.graph_per_shape &&
                 request.spec.model.configuration.get_or(kGraphs, true).as_bool();
  return true;
}

base::Result<void> OrtStreamModel::add_overlapped(const StreamModelRequest& request, const SessionExtras& extras,
                                                  const stream::Image& sample) {
  auto worker = std::make_unique<Worker>();
  auto opened = open_overlapped(*worker, request, extras, sample, kRunsBeforeGraph);
  if (!opened && uses_graphs_ && opened.error().code != ErrorCode::out_of_memory) {
    worker = std::make_unique<Worker>();
    opened = open_overlapped(*worker, request, extras, sample, kMostRunsBeforeGraph);
  }
  if (!opened) {
    if (!uses_graphs_ || opened.error().code == ErrorCode::out_of_memory) return tl::unexpected(opened.error());
    // Whether the graphs are what it fails of, a session without them shows.
    uses_graphs_ = false;
    worker = std::make_unique<Worker>();
    RL_TRY(open_overlapped(*worker, request, extras, sample, 1));
    tell_no_graphs(*worker, request, opened.error().message);
  }
  const auto& spec = request.spec;
  RL_TRY_ASSIGN(const auto plain, SessionSettings::make(*environment_, without_graphs(spec.model.configuration),
                                                        spec.model.provider, extras));
  RL_TRY(complete(*worker, request, plain, sample));
  for (std::size_t i = 0; i < kLanesPerSession; ++i) {
    auto lane = std::make_unique<OverlappedLane>(*worker->session);
    RL_TRY_ASSIGN(auto decoder, decoder_of(first_));
    lane->decoder().set_decoder(std::move(decoder));
    lane->decoder().keep(tensors_ ? &*tensors_ : nullptr, worker->crops.has_value());
    // Workers in turn, so that batches which start one after another are spread over their sessions.
    const auto at = std::min(lanes_.size(), i * (workers_.size() + 1) + workers_.size());
    lanes_.insert(lanes_.begin() + static_cast<std::ptrdiff_t>(at), Lane{worker.get(), std::move(lane)});
  }
  workers_.push_back(std::move(worker));
  return {};
}

base::Result<void> OrtStreamModel::open_overlapped(Worker& worker, const StreamModelRequest& request,
                                                   SessionExtras extras, const stream::Image& sample,
                                                   int runs_before_graph) {
  const auto& spec = request.spec;
  const auto part = first_part(spec);
  RL_TRY(gpu_->context.make_current());
  RL_TRY_ASSIGN(auto compute, gpu::CudaStream::make(gpu_->driver));
  extras.compute_stream = compute.handle();
  extras.record_assignment = environment_->library().api_version() >= kFirstApiThatTellsNodes;
  auto configuration = without_graphs(spec.model.configuration);
  if (uses_graphs_) configuration.set(kGraphs, true);
  RL_TRY_ASSIGN(const auto settings, SessionSettings::make(*environment_, configuration, spec.model.provider, extras));
  const std::string_view decoder = first_.decoder ? std::string_view(first_.decoder->name) : part.decoder;
  RL_TRY_ASSIGN(auto opened, open_model(*environment_, settings, part, decoder, request.fixed_batch));
  RL_TRY_ASSIGN(worker.session, OverlappedSession::create({*environment_, *gpu_, kernel_, *busy_, std::move(compute)},
                                                          std::move(opened.parts)));
  if (!first_.decoder) {
    OverlappedLane lane(*worker.session);
    auto known = Known{};
    RL_TRY_ASSIGN(const auto preprocess, learn(part, opened, worker.session->parts(), lane.probe(sample), known));
    RL_TRY(worker.session->set_preprocessor(preprocess));
    first_ = std::move(known);
  }
  OverlappedSession::GraphOptions graph_options;
  if (uses_graphs_) graph_options = [&settings](int number) { return settings.make_run_options(number); };
  const auto sizes = stream::warm_batch_sizes(static_cast<std::uint32_t>(spec.settings.batch_size));
  RL_TRY_ASSIGN(const auto why_none, worker.session->prepare(sample, sizes, graph_options, runs_before_graph));
  if (!why_none.empty() && workers_.empty()) facts_.notes.push_back(stream::messages::graphs_left_out(why_none));
  return {};
}

void OrtStreamModel::tell_no_graphs(const Worker& worker, const StreamModelRequest& request,
                                    const std::string& reason) {
  auto why = reason;
  const auto& own = schema::provider_of(request.spec.model.provider).library_name;
  if (const auto assignment = node_assignment(environment_->library(), worker.session->parts().caller->session())) {
    auto nodes = nodes_beside(*assignment, own);
    if (!nodes.empty()) {
      why = nodes_text(nodes, "on the CPU");
    } else {
      nodes = assignment->nodes;
      std::erase_if(nodes, [](const auto& node) {
        return node.op_type != "If" && node.op_type != "Loop" && node.op_type != "Scan";
      });
      if (!nodes.empty()) why = nodes_text(nodes, "by control flow");
    }
  }
  facts_.notes.push_back(stream::messages::graphs_left_out(why));
}

base::Result<void> OrtStreamModel::make_tensor_folder(const std::string& folder, const std::vector<OrtPort>& outputs) {
  std::vector<std::string> names;
  for (const auto& port : outputs) names.push_back(port.description.name);
  RL_TRY_ASSIGN(auto made, TensorFolder::create(folder, names));
  tensors_.emplace(std::move(made));
  return {};
}

base::Result<void> OrtStreamModel::add_crops(Worker& worker, const StreamModelRequest& request,
                                             const SessionSettings& settings, const stream::Image& sample) {
  const auto& spec = request.spec;
  RL_TRY_ASSIGN(worker.second, open_worker(crop_part(spec), settings, sample, crops_, nullptr));
  if (workers_.empty()) {
    facts_.notes.push_back(stream::messages::crops_model({.input = crops_.input, .decoder = crops_.decoder->name}));
    for (const auto& note : crops_.notes) facts_.notes.push_back(stream::messages::crops_note(note));
  }
  stream::Image crop_sample;
  crop_sample.width = crops_.geometry.input_width;
  crop_sample.height = crops_.geometry.input_height;
  crop_sample.bytes.resize(stream::image_bytes(crop_sample.width, crop_sample.height, crop_sample.format));
  const auto& crop = spec.settings.crop;
  const stream::CropOptions options{crop.margin, static_cast<std::size_t>(crop.most),
                                    static_cast<std::uint32_t>(crop.batch_size), facts_.pads};
  worker.crops.emplace(options, [second = worker.second.get()](auto frames, auto executed_size, auto results) {
    return second->run(frames, executed_size, results);
  });
  if (auto warmed = worker.crops->warm(crop_sample); !warmed)
    return tl::unexpected(std::move(warmed).error().in("warm-up of the model on crops"));
  return {};
}

}  // namespace

base::Result<std::unique_ptr<StreamModel>> make_ort_stream_model(const StreamModelRequest& request,
                                                                 const OrtSearchEnvironment& search) {
  auto model = std::make_unique<OrtStreamModel>();
  RL_TRY(model->create(request, search));
  return std::unique_ptr<StreamModel>(std::move(model));
}

}  // namespace ridgeline::workload
