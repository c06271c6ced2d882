// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/ort_stream_model.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/onnx/ort_environment.hpp"
#include "workload/onnx/ort_plugins.hpp"
#include "workload/onnx/ort_providers.hpp"
#include "workload/onnx/ort_stream_worker.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

base::Result<stream::PreprocessOptions> preprocess_options(const schema::StreamSettings& settings,
                                                           const ImageInput& input) {
  const auto& given = settings.preprocess;
  stream::PreprocessOptions out;
  out.scale = settings.inference_scale;
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

class OrtStreamModel final : public StreamModel {
 public:
  [[nodiscard]] base::Result<stream::BatchTimes> run(std::uint32_t worker, std::span<const stream::BatchFrame> frames,
                                                     std::uint32_t executed_size,
                                                     std::span<std::string> results) override {
    return workers_[worker]->run(frames, executed_size, results);
  }
  [[nodiscard]] const StreamModelFacts& facts() const noexcept override { return facts_; }

  [[nodiscard]] base::Result<void> create(const StreamModelRequest& request, const OrtSearchEnvironment& search);

 private:
  [[nodiscard]] base::Result<void> add_worker(const StreamModelRequest& request, const SessionSettings& settings);

  StreamModelFacts facts_;
  // Destroyed in reverse order: sessions before their environment.
  std::unique_ptr<OrtEnvironment> environment_;
  std::optional<TensorFolder> tensors_;
  std::vector<std::unique_ptr<OrtStreamWorker>> workers_;
};

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
  for (std::int64_t worker = 0; worker < settings.streams; ++worker) RL_TRY(add_worker(request, session));
  return {};
}

base::Result<void> OrtStreamModel::add_worker(const StreamModelRequest& request, const SessionSettings& settings) {
  const auto& spec = request.spec;
  RL_TRY_ASSIGN(auto caller, OrtCaller::create(*environment_, spec.model.workload.location, settings));
  RL_TRY_ASSIGN(auto input, find_image_input(caller->inputs(), spec.model.workload.location));
  if (input.batch > 0 && spec.settings.batch_size > input.batch)
    return base::fail(ErrorCode::invalid_argument, "batch_size {}: the model's batch is fixed at {}",
                      spec.settings.batch_size, input.batch)
        .hint("set batch_size: {}, or export the model with a batch of any size", input.batch);
  RL_TRY_ASSIGN(auto outputs, session_ports(environment_->api(), caller->session(), PortSide::outputs));
  RL_TRY_ASSIGN(auto options, settings.make_run_options(SessionSettings::kNoGraph));
  RL_TRY_ASSIGN(const auto preprocess, preprocess_options(spec.settings, input));
  stream::Preprocessor preprocessor(preprocess);
  RL_TRY_ASSIGN(const auto geometry,
                preprocessor.plan(request.frame_width, request.frame_height, input.width, input.height));
  stream::DecoderOptions decoding;
  decoding.labels = spec.settings.labels;
  decoding.score_threshold = spec.settings.score_threshold;
  const auto shapes = shapes_of(outputs);
  std::string decoder = spec.settings.decoder;
  if (decoder == "auto") {
    const auto found = stream::recognize_decoder(decoding, shapes, geometry.input_width, geometry.input_height);
    decoder = found.name;
    if (workers_.empty()) facts_.notes.push_back(fmt::format("decoder {}: {}", found.name, found.reason));
  }
  RL_TRY_ASSIGN(auto made,
                stream::make_decoder(decoder, decoding, shapes, geometry.input_width, geometry.input_height));
  if (workers_.empty()) {
    facts_.decoder = decoder;
    facts_.input = fmt::format("{}: {} {}", input.name, element_type_name(input.type),
                               fmt::join(input.dims(1, geometry.input_height, geometry.input_width), "x"));
    if (auto note = stream::fixed_input_note(preprocess, input.width, input.height)) facts_.notes.push_back(*note);
  }
  if (!spec.tensors.empty() && !tensors_) {
    std::vector<std::string> names;
    for (const auto& port : outputs) names.push_back(port.description.name);
    RL_TRY_ASSIGN(auto folder, TensorFolder::create(spec.tensors, names));
    tensors_.emplace(std::move(folder));
  }
  workers_.push_back(std::make_unique<OrtStreamWorker>(
      *environment_, OrtStreamParts{std::move(caller), std::move(input), std::move(outputs), std::move(options),
                                    std::move(preprocessor), std::move(made), tensors_ ? &*tensors_ : nullptr}));
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
