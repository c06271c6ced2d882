// SPDX-License-Identifier: Apache-2.0
#include "execute/stream_server.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "execute/arrival_trace.hpp"
#include "execute/frame_line.hpp"
#include "execute/stream_summary.hpp"
#include "host/prompt_thread.hpp"
#include "schema/error_message.hpp"
#include "stats/quantile.hpp"
#include "stream/crop_stage.hpp"
#include "stream/messages.hpp"
#include "stream/raw_format.hpp"

namespace ridgeline::execute {
namespace {

using base::ErrorCode;

constexpr auto kStatusInterval = std::chrono::milliseconds(200);
constexpr std::string_view kNoModel = "null";
constexpr std::string_view kOnGpu = "gpu";  // of decode_device and preprocess.device
constexpr std::string_view kOnCpu = "cpu";
/// Of batch_size auto: throughput hardly grows beyond, and latency does.
constexpr std::int64_t kMostAutoBatch = 32;
/// That wait with their results for a video: of 4K they take 24 MB each.
constexpr std::int64_t kMostPictures = 16;
/// Of a load's frames, of all sources.
constexpr std::size_t kMostClipBytes = 512U << 20U;

std::int64_t ns_of_ms(double ms) { return static_cast<std::int64_t>(ms * 1e6); }

/// To the parent, which writes the output.
class ChannelSink final : public stream::ResultSink {
 public:
  ChannelSink(LineChannel& channel, stream::FrameLabels& labels) : channel_(channel), labels_(labels) {}
  [[nodiscard]] bool wants_images() const override { return false; }
  [[nodiscard]] base::Result<void> write(const stream::FrameOutput& output) override {
    const auto label = labels_.take(output.frame.frame.source, output.frame.frame.sequence);
    if (channel_.send(stream_line::kFrame, std::string_view(frame_line(output, label)))) return {};
    return base::fail(ErrorCode::cancelled, "the parent is gone");
  }

 private:
  LineChannel& channel_;
  stream::FrameLabels& labels_;
};

tl::unexpected<base::Error> refused_by_model(base::Error error, std::string_view frame) {
  // The runtime's own word for whatever the model did not like.
  if (error.code == ErrorCode::internal) error = {ErrorCode::unsupported, std::move(error.message), ""};
  return tl::unexpected(std::move(error).in(fmt::format("warm-up with {}", frame)));
}

/// "out.mp4" for source 2: "out.2.mp4".
std::string numbered_name(const std::string& path, std::size_t number) {
  const auto name = base::file_name(path);
  const auto dot = name.rfind('.');
  const auto at = dot == std::string_view::npos || dot == 0 ? path.size() : path.size() - (name.size() - dot);
  return fmt::format("{}.{}{}", path.substr(0, at), number, path.substr(at));
}

}  // namespace

StreamServer::StreamServer(const workload::WorkloadRegistry& registry, LineChannel& channel, StreamCounts& counts,
                           schema::StreamSpec spec)
    : registry_(registry), channel_(channel), counts_(counts), spec_(std::move(spec)) {}

StreamServer::~StreamServer() {
  over_ = true;
  if (status_.joinable()) status_.join();
}

bool StreamServer::stop() {
  const std::lock_guard lock(stopping_);
  stopped_ = true;
  if (pipeline_) pipeline_->stop();
  for (const auto& opened : sources_) opened.source->interrupt();
  return pipeline_ != nullptr;
}

schema::StreamStatus StreamServer::status_now() const {
  return summarize(pipeline_->status(), elapsed_s(), ns_of_ms(spec_.settings.slo_ms), model_->device_times());
}

double StreamServer::elapsed_s() const { return base::to_seconds(base::system_clock().now() - ready_at_); }

base::Result<schema::StreamStatus> StreamServer::run() {
  auto out = run_pipeline();
  auto lost = finish_videos();
  if (out) out->lost_videos = std::move(lost);
  return out;
}

base::Result<schema::StreamStatus> StreamServer::run_pipeline() {
  const auto begun = base::system_clock().now();
  if (spec_.load && spec_.load->process != "offline") own_processor_ = host::ReservedProcessor::take();
  if (own_processor_) note(stream::messages::own_processor(own_processor_->left()));
  RL_TRY(open_sources());
  RL_TRY(load_model());
  RL_TRY(await_first_frames());
  RL_TRY(start_pipeline());
  // What was read until now, the model was chosen and warmed with, on whichever device.
  if (model_->takes_device_images())
    for (auto& opened : sources_) opened.source->leave_on_device();
  ready_at_ = base::system_clock().now();
  model_->start_device_times();
  tell_ready(base::to_seconds(ready_at_ - begun));
  status_ = std::thread([this] { tell_status(); });
  schema::StreamStatus audited;
  base::Result<void> fed;
  if (spec_.load)
    fed = feed_load(audited);
  else
    feed_sources();
  auto finished = pipeline_->finish();
  over_ = true;
  status_.join();
  RL_TRY(std::move(fed));
  RL_TRY(std::move(finished));
  auto status = pipeline_->status();
  auto out = summarize(status, elapsed_s(), ns_of_ms(spec_.settings.slo_ms), model_->device_times());
  const auto add = [&](const char* name, const stream::SelfCheck& check) {
    out.checks.push_back({name, check.passed, check.message});
  };
  add("counts", status.meter.counts(status.in_flight));
  add("little", status.meter.littles_law());
  add("stages", status.meter.stage_sum());
  out.lost_sources = std::move(lost_sources_);
  out.lateness = audited.lateness;
  out.audit = std::move(audited.audit);
  return out;
}

std::shared_ptr<stream::DeviceImages> StreamServer::device_images() {
  using enum stream::messages::DecodeOnCpuWhy;
  const auto& wanted = spec_.settings.decode_device;
  const auto on_cpu = [&](stream::messages::DecodeOnCpuWhy why, std::string failure = {}) {
    if (wanted == kOnGpu || !failure.empty()) note(stream::messages::decode_on_cpu({why, std::move(failure)}));
    return nullptr;
  };
  if (wanted == kOnCpu) return nullptr;
  const auto& model = spec_.model;
  const auto kind = registry_.find(model.workload.kind);
  const bool is_on_gpu = model.workload.location != kNoModel && kind && (*kind)->decoded_images &&
                         schema::provider_of(model.provider).takes_device_tensors;
  if (!is_on_gpu) return on_cpu(no_gpu_model);
  if (spec_.settings.preprocess.device == kOnCpu) return on_cpu(prepared_on_cpu);
  if (spec_.load) return on_cpu(decoded_ahead);
  if (!spec_.video.empty() || !spec_.crop_model.location.empty()) return on_cpu(pictures_needed);
  auto images = (*kind)->decoded_images();
  if (!images) return on_cpu(failed, images.error().message);
  return *std::move(images);
}

base::Result<void> StreamServer::open_sources() {
  const auto images = device_images();
  for (const auto& wanted : spec_.sources)
    for (std::int64_t copy = 0; copy < std::max<std::int64_t>(1, spec_.load ? 1 : spec_.copies); ++copy) {
      RL_TRY_ASSIGN(auto opened, open_stream_source(
                                     spec_, wanted, [this](const schema::Message& message) { note(message); }, images));
      const bool is_awaited = spec_.announces && wanted.location == "-" && !spec_.raw.empty();
      if (!is_awaited) RL_TRY(take_first(opened, pool_));
      const std::lock_guard lock(stopping_);
      if (stopped_) return base::fail(ErrorCode::cancelled, "stopped");
      sources_.push_back(std::move(opened));
    }
  return {};
}

bool StreamServer::has_pace() const {
  return (spec_.load && spec_.load->process != "offline") ||
         std::any_of(sources_.begin(), sources_.end(),
                     [](const auto& opened) { return opened.pace != stream::Pace::fastest; });
}

stream::PipelineOptions StreamServer::pipeline_options() const {
  const auto& settings = spec_.settings;
  stream::PipelineOptions out;
  auto& dispatcher = out.dispatcher;
  const auto lanes = model_->facts().lanes;
  dispatcher.workers = static_cast<std::uint32_t>(lanes > 0 ? lanes : settings.streams);
  dispatcher.sessions = static_cast<std::uint32_t>(settings.streams);
  dispatcher.session_batches = static_cast<std::uint32_t>(model_->facts().session_batches);
  // Sessions on a GPU share it.
  if (lanes > 0) dispatcher.most_batches = dispatcher.sessions + 1;
  dispatcher.max_batch = static_cast<std::uint32_t>(settings.batch_size);
  dispatcher.frame_timeout_ns = ns_of_ms(settings.frame_timeout_ms);
  dispatcher.use_slack = settings.efficiency;
  dispatcher.drop_policy = settings.drop == "oldest"   ? stream::DropPolicy::oldest
                           : settings.drop == "newest" ? stream::DropPolicy::newest
                           : settings.drop == "none"   ? stream::DropPolicy::none
                           : has_pace()                ? stream::DropPolicy::oldest
                                                       : stream::DropPolicy::none;
  out.slo_ns = ns_of_ms(settings.slo_ms);
  out.every = static_cast<std::uint64_t>(std::max<std::int64_t>(1, settings.every));
  const auto several = std::max<std::int64_t>(4 * settings.batch_size, static_cast<std::int64_t>(sources_.size()));
  dispatcher.capacity =
      static_cast<std::size_t>(settings.inference_queue_size > 0 ? settings.inference_queue_size : several);
  if (settings.inference_queue_size == 0 && has_pace()) dispatcher.capacity_slo_ns = out.slo_ns;
  out.warm_sizes = stream::warm_batch_sizes(dispatcher.max_batch);
  out.shape = model_->facts().pads ? stream::BatchShape::padded : stream::BatchShape::exact;
  const auto most_results = annotating_ != nullptr ? kMostPictures : std::numeric_limits<std::int64_t>::max();
  out.result_queue = static_cast<std::size_t>(std::min(settings.result_queue_size, most_results));
  out.on_taken = [this](std::uint32_t source, std::uint64_t taken) {
    counts_.taken[source].store(taken, std::memory_order_relaxed);
  };
  return out;
}

base::Result<void> StreamServer::make_sink() {
  sink_ = std::make_unique<ChannelSink>(channel_, labels_);
  if (spec_.video.empty()) return {};
  const auto processors = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<stream::AnnotatedVideo>> videos;
  for (std::size_t number = 0; number < sources_.size(); ++number) {
    const auto& opened = sources_[number];
    stream::AnnotatedVideo::Options options;
    options.path = sources_.size() == 1 ? spec_.video : numbered_name(spec_.video, number);
    options.width = opened.width();
    options.height = opened.height();
    options.fps = opened.source->info().fps;
    options.threads = static_cast<int>(std::max<std::size_t>(1, processors / sources_.size()));
    options.may_wait = opened.pace == stream::Pace::fastest;
    options.on_error = [this](const base::Error& error) {
      note(stream::messages::video_lost(schema::message_of(error)));
    };
    RL_TRY_ASSIGN(auto video, stream::AnnotatedVideo::create(std::move(options)));
    videos.push_back(std::move(video));
  }
  auto sink = std::make_unique<stream::AnnotatingSink>(std::move(sink_), std::move(videos));
  annotating_ = sink.get();
  sink_ = std::move(sink);
  return {};
}

std::vector<schema::Message> StreamServer::finish_videos() {
  std::vector<schema::Message> lost;
  if (annotating_ == nullptr) return lost;
  for (const auto& video : annotating_->videos()) {
    const auto& totals = video->finish();
    if (totals.error) lost.push_back(schema::message_of(*totals.error));
    if (totals.left_out > 0)
      note(stream::messages::video_left_out({.path = video->path(),
                                             .left_out = static_cast<std::int64_t>(totals.left_out),
                                             .frames = static_cast<std::int64_t>(totals.left_out + totals.written)}));
  }
  return lost;
}

base::Result<void> StreamServer::make_model() {
  const auto& front = sources_.front();
  if (spec_.model.workload.location == kNoModel) {
    model_ = workload::make_null_stream_model();
  } else {
    RL_TRY_ASSIGN(const auto* kind, registry_.find(spec_.model.workload.kind));
    if (!kind->stream_model)
      return base::fail(ErrorCode::unsupported, "{}: models of kind {} cannot be part of a stream",
                        spec_.model.workload.location, kind->name);
    RL_TRY_ASSIGN(model_, kind->stream_model({spec_, front.width(), front.height(),
                                              front.waits_for_first() ? nullptr : &front.picture(), &fixed_batch_}));
  }
  pool_.set_memory(model_->image_memory());
  return {};
}

bool StreamServer::lower_batch(const base::Error& error) {
  auto& batch = spec_.settings.batch_size;
  if (error.code != ErrorCode::out_of_memory || batch < 2) return false;
  const auto tried = batch;
  // The largest of the sizes that are warmed below it.
  batch = stream::warm_batch_sizes(static_cast<std::uint32_t>(tried)).rbegin()[1];
  // Its memory is given back before the next one takes any.
  pool_.set_memory(nullptr);
  model_.reset();
  note(stream::messages::batch_lowered({.batch_size = batch, .tried = tried, .why = error.message}));
  return true;
}

base::Result<void> StreamServer::load_model() {
  RL_TRY(make_fitting_model());
  if (!spec_.announces) return {};
  if (sources_.front().waits_for_first()) RL_TRY(try_model());
  channel_.send(stream_line::kLoaded,
                base::Json{{"runtime", model_->facts().runtime}, {"input", model_->facts().input}});
  return {};
}

base::Result<void> StreamServer::try_model() {
  stream::Image blank;
  blank.width = sources_.front().width();
  blank.height = sources_.front().height();
  RL_TRY_ASSIGN(const auto raw, stream::parse_raw_format(spec_.raw));
  blank.format = raw.format;
  blank.bytes.resize(stream::image_bytes(blank.width, blank.height, blank.format));
  const auto size = pipeline_options().warm_sizes.front();
  const std::vector<stream::BatchFrame> frames(size, {.image = &blank, .is_sample = true});
  std::vector<std::string> results(size);
  if (auto ran = model_->run(0, frames, size, results); !ran) return refused_by_model(ran.error(), "a blank frame");
  return {};
}

base::Result<void> StreamServer::await_first_frames() {
  bool has_waited = false;
  for (auto& opened : sources_) {
    if (!opened.waits_for_first()) continue;
    has_waited = true;
    RL_TRY(take_first(opened, pool_));
  }
  // What the outputs mean was seen on a grey frame so far.
  return has_waited && spec_.settings.decoder == "auto" && spec_.model.workload.location != kNoModel
             ? make_fitting_model()
             : base::Result<void>();
}

base::Result<void> StreamServer::make_fitting_model() {
  auto& batch = spec_.settings.batch_size;
  const bool is_auto = batch == 0;
  if (is_auto)
    batch = spec_.model.workload.location != kNoModel && schema::provider_of(spec_.model.provider).on_gpu()
                ? kMostAutoBatch
                : 1;
  for (;;) {
    auto made = make_model();
    if (made) return made;
    if (is_auto && batch > 1 && made.error().code == ErrorCode::invalid_argument) {
      // Models of a fixed batch, and those that give the boxes of one picture.
      batch = std::max<std::int64_t>(1, std::exchange(fixed_batch_, 0));
      model_.reset();
    } else if (!lower_batch(made.error())) {
      return made;
    }
  }
}

base::Result<void> StreamServer::start_pipeline() {
  RL_TRY(make_sink());
  auto pipeline = stream::Pipeline::start(pipeline_options(), *model_, *sink_, sources_.front().picture());
  while (!pipeline && lower_batch(pipeline.error())) {
    RL_TRY(make_fitting_model());
    pipeline = stream::Pipeline::start(pipeline_options(), *model_, *sink_, sources_.front().picture());
  }
  if (!pipeline) return refused_by_model(std::move(pipeline).error(), "the first frame");
  const std::lock_guard lock(stopping_);
  pipeline_ = std::move(*pipeline);
  if (stopped_) pipeline_->stop();
  return {};
}

void StreamServer::tell_ready(double ready_s) {
  schema::StreamReady ready;
  for (const auto& opened : sources_) {
    const auto& info = opened.source->info();
    ready.sources.push_back({info.name, info.width, info.height, info.fps, info.frames, info.is_live, info.decoder});
  }
  const auto& facts = model_->facts();
  ready.runtime = facts.runtime;
  ready.input = facts.input;
  ready.decoder = facts.decoder;
  ready.notes = facts.notes;
  // Copies of a source say the same.
  for (const auto& opened : sources_)
    for (const auto& one : opened.source->info().notes)
      if (std::find(ready.notes.begin(), ready.notes.end(), one) == ready.notes.end()) ready.notes.push_back(one);
  ready.workers = spec_.settings.streams;
  ready.batch_size = spec_.settings.batch_size;
  ready.queue_size = static_cast<std::int64_t>(pipeline_->capacity());
  if (const auto cost_ns = pipeline_->size_change_ns())
    ready.notes.push_back(stream::messages::batches_padded(
        {.more = static_cast<double>(*cost_ns), .batch_size = spec_.settings.batch_size}));
  for (const auto& [batch, times] : pipeline_->warm_up()) {
    std::vector<double> ms;
    for (const auto time : times) ms.push_back(static_cast<double>(time) * 1e-6);
    ready.warm_ms[std::to_string(batch)] = stats::median(ms);
  }
  ready.ready_s = ready_s;
  channel_.send(stream_line::kReady, base::Json(ready));
}

void StreamServer::tell_status() {
  auto next = base::system_clock().now();
  while (!over_) {
    // In naps, as the end of a run should not wait for it.
    base::system_clock().sleep_for(std::chrono::milliseconds(10));
    if (base::system_clock().now() < next) continue;
    next += kStatusInterval;
    channel_.send(stream_line::kStatus, base::Json(status_now()));
  }
}

void StreamServer::feed_sources() {
  std::vector<std::thread> threads;
  for (std::uint32_t number = 0; number < sources_.size(); ++number)
    threads.emplace_back([this, number] {
      auto& opened = sources_[number];
      stream::FeedOptions options;
      options.source = number;
      options.pace = opened.pace;
      options.most_frames = spec_.most_frames;
      options.labels = &labels_;
      const auto fed = stream::feed(*opened.source, *pipeline_, pool_, options, std::exchange(opened.first, {}));
      for (const auto& one : opened.source->notes()) note(one);
      if (fed) return;
      auto lost = schema::message_of(fed.error());
      if (sources_.size() > 1) note(stream::messages::source_lost(lost));
      const std::lock_guard lock(losing_);
      lost_sources_.push_back(std::move(lost));
    });
  for (auto& thread : threads) thread.join();
}

base::Result<std::vector<stream::Clip>> StreamServer::decode_clips() {
  std::vector<stream::Clip> clips;
  for (auto& opened : sources_) {
    RL_TRY_ASSIGN(const auto clip, decode_clip(opened, kMostClipBytes / sources_.size(), pool_.memory()));
    for (const auto& one : opened.source->notes()) note(one);
    for (std::int64_t copy = 0; copy < std::max<std::int64_t>(1, spec_.copies); ++copy) {
      labels_.repeat(static_cast<std::uint32_t>(clips.size()), clip.labels);
      clips.push_back(clip.pictures);
    }
  }
  return clips;
}

base::Result<void> StreamServer::feed_load(schema::StreamStatus& audited) {
  const auto& load = *spec_.load;
  RL_TRY_ASSIGN(const auto clips, decode_clips());
  const auto duration_ns = static_cast<std::int64_t>(load.duration_s * 1e9);
  if (load.process == "offline") {
    stream::feed_offline(clips, duration_ns, *pipeline_, base::system_clock());
    return {};
  }
  stream::SourceLoad one;
  one.process = load.process == "poisson" ? stream::ArrivalProcess::poisson
                : load.process == "burst" ? stream::ArrivalProcess::burst
                : load.process == "trace" ? stream::ArrivalProcess::trace
                                          : stream::ArrivalProcess::fixed;
  if (one.process == stream::ArrivalProcess::trace) {
    RL_TRY_ASSIGN(const auto text, base::read_file(load.trace));
    RL_TRY_ASSIGN(one.times_ns, parse_arrival_trace(text, load.trace));
  }
  one.rate_per_s = load.rate_per_s;
  one.jitter = load.jitter;
  one.variation = load.variation;
  RL_TRY_ASSIGN(const auto schedule, stream::make_schedule(std::vector<stream::SourceLoad>(clips.size(), one),
                                                           duration_ns, static_cast<std::uint64_t>(load.seed)));
  // Inferences that keep every processor busy would delay it by milliseconds. One of its own is never given back to
  // others by sleeping, which real-time threads may not do.
  const bool is_alone = own_processor_ && own_processor_->enter();
  std::optional<host::PromptThread> prompt;
  if (!is_alone) prompt.emplace();
  const auto spin_ns =
      is_alone ? std::numeric_limits<std::int64_t>::max() : stream::measure_spin_ns(base::system_clock());
  stream::LatenessAudit audit(ns_of_ms(spec_.settings.slo_ms));
  stream::feed_load(schedule, clips, *pipeline_, base::system_clock(), spin_ns, audit);
  // One that was cut short is not judged; its last frame was due when it stopped waiting, or later.
  if (!pipeline_->takes()) return {};
  const auto verdict = audit.verdict();
  const auto in_ms = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-6; };
  audited.lateness = {in_ms(verdict.p999_ns), in_ms(verdict.most_ns), in_ms(verdict.limit_ns),
                      static_cast<std::int64_t>(verdict.late_frames)};
  audited.audit =
      schema::lateness_message(*audited.lateness, verdict.is_late && prompt && !prompt->is_allowed(), false);
  return {};
}

}  // namespace ridgeline::execute
