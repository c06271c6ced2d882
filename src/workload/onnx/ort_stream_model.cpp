// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.hpp"
#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_plugins.hpp"
#include "workload/onnx/ort_providers.hpp"
#include "workload/onnx/ort_stream_worker.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

/// One of the pipeline's models, as the settings describe it.
struct ModelPart {
  const std::string& file;
  const std::string& decoder;
  const std::vector<std::string>& labels;
  const std::optional<double>& score_threshold;
  const schema::StreamPreprocess& preprocess;
  double scale = 1;
  std::int64_t batch_size = 1;
  std::string_view batch_key;  ///< its setting
};

ModelPart first_model(const schema::StreamSpec& spec) {
  const auto& settings = spec.settings;
  return {spec.model.workload.location, settings.decoder,         settings.labels,     settings.score_threshold,
          settings.preprocess,          settings.inference_scale, settings.batch_size, "batch_size"};
}

ModelPart crop_model(const schema::StreamSpec& spec) {
  const auto& crop = spec.settings.crop;
  return {spec.crop_model.location, crop.decoder,     crop.labels, crop.score_threshold, crop.preprocess, 1,
          crop.batch_size,          "crop.batch_size"};
}

base::Result<stream::PreprocessOptions> preprocess_options(const ModelPart& part, const ImageInput& input) {
  const auto& given = part.preprocess;
  stream::PreprocessOptions out;
  out.scale = part.scale;
  out.stride = static_cast<int>(given.stride);
  out.border = static_cast<std::uint8_t>(given.border);
  out.pixel_scale = static_cast<float>(given.scale);
  out.layout = input.layout;
  out.resize = given.resize == "stretch"     ? stream::Resize::stretch
               : given.resize == "letterbox" ? stream::Resize::letterbox
                                             : stream::Resize::automatic;
  out.channels = input.channels == 1        ? stream::ChannelOrder::gray
                 : given.channels == "bgr"  ? stream::ChannelOrder::bgr
                 : given.channels == "gray" ? stream::ChannelOrder::gray
                                            : stream::ChannelOrder::rgb;
  const auto spread = [](const std::vector<double>& values, std::array<float, 3>& into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = static_cast<float>(values[std::min(i, values.size() - 1)]);
  };
  if (given.mean.empty() || given.std.empty())
    return base::fail(ErrorCode::invalid_argument, "preprocess: mean and std need 1 or 3 values");
  spread(given.mean, out.mean);
  spread(given.std, out.deviation);
  RL_TRY(stream::check_preprocess_options(out));
  return out;
}

/// Without the dimension of the batch.
std::vector<stream::OutputShape> shapes_of(const std::vector<OrtPort>& outputs) {
  std::vector<stream::OutputShape> out;
  for (const auto& port : outputs) {
    const auto& dims = port.description.dims;
    out.push_back({port.description.name, {dims.empty() ? dims.begin() : dims.begin() + 1, dims.end()}});
  }
  return out;
}

/// A model in a session, and what is known of it.
struct OpenedModel {
  OrtStreamParts parts;
  std::string input;  ///< as StreamModelFacts
  std::string decoder;
  std::vector<std::string> notes;
  int input_width = 0;  ///< for the sample
  int input_height = 0;
};

base::Result<std::unique_ptr<stream::ResultDecoder>> make_part_decoder(const ModelPart& part,
                                                                       const stream::FrameGeometry& geometry,
                                                                       OpenedModel& opened) {
  stream::DecoderOptions options;
  options.labels = part.labels;
  options.score_threshold = part.score_threshold;
  const auto shapes = shapes_of(opened.parts.outputs);
  opened.decoder = part.decoder;
  if (part.decoder == "auto") {
    const auto found = stream::recognize_decoder(options, shapes, geometry.input_width, geometry.input_height);
    opened.decoder = found.name;
    opened.notes.push_back(fmt::format("decoder {}: {}", found.name, found.reason));
  }
  return stream::make_decoder(opened.decoder, options, shapes, geometry.input_width, geometry.input_height);
}

/// `width`, `height`: of the pictures that are known already.
base::Result<OpenedModel> open_model(const OrtEnvironment& environment, const SessionSettings& settings,
                                     const ModelPart& part, int width, int height) {
  RL_TRY_ASSIGN(auto caller, OrtCaller::create(environment, part.file, settings));
  RL_TRY_ASSIGN(auto inputs, find_picture_inputs(caller->inputs(), part.file));
  auto& input = inputs.image;
  if (input.batch > 0 && part.batch_size > input.batch)
    return base::fail(ErrorCode::invalid_argument, "{} {}: the model's batch is fixed at {}", part.batch_key,
                      part.batch_size, input.batch)
        .hint("set {}: {}, or export the model with a batch of any size", part.batch_key, input.batch);
  RL_TRY_ASSIGN(auto outputs, session_ports(environment.api(), caller->session(), PortSide::outputs));
  RL_TRY_ASSIGN(auto options, settings.make_run_options(SessionSettings::kNoGraph));
  RL_TRY_ASSIGN(const auto preprocess, preprocess_options(part, input));
  stream::Preprocessor preprocessor(preprocess);
  RL_TRY_ASSIGN(const auto geometry, preprocessor.plan(width, height, input.width, input.height));
  OpenedModel out{{std::move(caller), std::move(input), std::move(inputs.sizes), std::move(outputs), std::move(options),
                   std::move(preprocessor), nullptr}};
  RL_TRY_ASSIGN(out.parts.decoder, make_part_decoder(part, geometry, out));
  const auto& port = out.parts.input;
  out.input = fmt::format("{}: {} {}", port.name, element_type_name(port.type),
                          fmt::join(port.dims(1, geometry.input_height, geometry.input_width), "x"));
  out.input_width = geometry.input_width;
  out.input_height = geometry.input_height;
  if (auto note = stream::fixed_input_note(preprocess, port.width, port.height)) out.notes.push_back(*note);
  return out;
}

class OrtStreamModel final : public StreamModel {
 public:
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::uint32_t worker, std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size,
                                                     std::span<std::string> results) override;
  [[nodiscard]] const StreamModelFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] base::Result<void> create(const StreamModelRequest& request, const OrtSearchEnvironment& search);

 private:
  struct Worker {
    std::unique_ptr<OrtStreamWorker> first;
    std::unique_ptr<OrtStreamWorker> second;  ///< on crops; may be null
    std::optional<stream::CropStage> crops;
  };
  /// With its tensors on the GPU, where that is known.
  [[nodiscard]] base::Result<std::unique_ptr<OrtStreamWorker>> make_worker(OrtStreamParts parts) const;
  [[nodiscard]] base::Result<void> add_worker(const StreamModelRequest& request, const SessionSettings& settings);
  [[nodiscard]] base::Result<void> add_crops(Worker& worker, const StreamModelRequest& request,
                                             const SessionSettings& settings);

  StreamModelFacts facts_;
  // Destroyed in reverse order: sessions before their environment.
  std::unique_ptr<OrtEnvironment> environment_;
  std::unique_ptr<GpuSide> gpu_;  ///< of a provider that takes tensors in its memory
  std::optional<TensorFolder> tensors_;
  std::vector<Worker> workers_;
};

base::Result<stream::BatchTimes> OrtStreamModel::run(std::uint32_t number, std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size, std::span<std::string> results) {
  auto& worker = workers_[number];
  RL_TRY_ASSIGN(auto times, worker.first->run(frames, executed_size, results));
  if (!worker.crops) return times;
  const auto begun = base::system_clock().now();
  RL_TRY(worker.crops->run(frames, worker.first->found(), results));
  times.crops_ns = (base::system_clock().now() - begun).count();
  return times;
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
  RL_TRY_ASSIGN(const auto session, SessionSettings::make(*environment_, spec.configuration, spec.provider, extras));
  std::string no_gpu;
  if (provider.takes_device_tensors) {
    if (auto gpu = GpuSide::open())
      gpu_ = std::move(*gpu);
    else
      no_gpu = gpu.error().message;
  }
  for (std::int64_t worker = 0; worker < settings.streams; ++worker) RL_TRY(add_worker(request, session));
  if (!no_gpu.empty()) facts_.notes.push_back("what copies take is not known: " + no_gpu);
  return {};
}

base::Result<std::unique_ptr<OrtStreamWorker>> OrtStreamModel::make_worker(OrtStreamParts parts) const {
  auto worker = std::make_unique<OrtStreamWorker>(*environment_, std::move(parts));
  if (gpu_) {
    RL_TRY_ASSIGN(auto transfer, make_cuda_transfer(*gpu_));
    RL_TRY(worker->bind(std::move(transfer)));
  }
  return worker;
}

base::Result<void> OrtStreamModel::add_worker(const StreamModelRequest& request, const SessionSettings& settings) {
  const auto& spec = request.spec;
  RL_TRY_ASSIGN(auto opened,
                open_model(*environment_, settings, first_model(spec), request.frame_width, request.frame_height));
  if (!spec.crop_model.location.empty() && !opened.parts.decoder->finds_boxes())
    return base::fail(ErrorCode::invalid_argument, "--crop-model: decoder {} of {} finds no boxes to cut out",
                      opened.decoder, spec.model.workload.location)
        .hint("set decoder to ppocr, yolo or detr, if that is what the first model's outputs are");
  if (!spec.tensors.empty() && !tensors_) {
    std::vector<std::string> names;
    for (const auto& port : opened.parts.outputs) names.push_back(port.description.name);
    RL_TRY_ASSIGN(auto folder, TensorFolder::create(spec.tensors, names));
    tensors_.emplace(std::move(folder));
  }
  if (workers_.empty()) {
    facts_.decoder = opened.decoder;
    facts_.input = opened.input;
    facts_.notes = opened.notes;
  }
  opened.parts.tensors = tensors_ ? &*tensors_ : nullptr;
  opened.parts.keeps_boxes = !spec.crop_model.location.empty();
  Worker worker;
  RL_TRY_ASSIGN(worker.first, make_worker(std::move(opened.parts)));
  if (!spec.crop_model.location.empty()) RL_TRY(add_crops(worker, request, settings));
  workers_.push_back(std::move(worker));
  return {};
}

base::Result<void> OrtStreamModel::add_crops(Worker& worker, const StreamModelRequest& request,
                                             const SessionSettings& settings) {
  const auto& spec = request.spec;
  RL_TRY_ASSIGN(auto opened,
                open_model(*environment_, settings, crop_model(spec), request.frame_width, request.frame_height));
  if (workers_.empty()) {
    facts_.notes.push_back(fmt::format("crops: input {}; results {}", opened.input, opened.decoder));
    for (const auto& note : opened.notes) facts_.notes.push_back("crops: " + note);
  }
  stream::Image sample;
  sample.width = opened.input_width;
  sample.height = opened.input_height;
  sample.bytes.resize(stream::image_bytes(sample.width, sample.height, sample.format));
  RL_TRY_ASSIGN(worker.second, make_worker(std::move(opened.parts)));
  const auto& crop = spec.settings.crop;
  const stream::CropOptions options{crop.margin, static_cast<std::size_t>(crop.most),
                                    static_cast<std::uint32_t>(crop.batch_size), facts_.pads};
  worker.crops.emplace(options, [second = worker.second.get()](auto frames, auto executed_size, auto results) {
    return second->run(frames, executed_size, results);
  });
  if (auto warmed = worker.crops->warm(sample); !warmed)
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
