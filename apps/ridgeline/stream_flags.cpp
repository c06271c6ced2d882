// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/stream_flags.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"
#include "campaign/messages.hpp"
#include "config/stray_stream_keys.hpp"
#include "config/stream_section.hpp"
#include "execute/arrival_trace.hpp"
#include "execute/stream_protocol.hpp"
#include "ridgeline/flag_values.hpp"
#include "schema/execution_provider.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::string_view kNoModel = "null";

Result<std::vector<std::string>> read_labels(std::string_view flag, const std::string& file) {
  RL_TRY_ASSIGN(const auto text, base::read_file(file));
  auto labels = base::split(text, '\n');
  while (!labels.empty() && base::trim(labels.back()).empty()) labels.pop_back();
  for (auto& label : labels) label = std::string(base::trim(label));
  if (labels.empty())
    return base::fail(ErrorCode::invalid_argument, "{} {}: is empty; expected one name per line", flag, file);
  return labels;
}

Result<schema::StreamSettings> read_settings(const StreamFlags& flags) {
  schema::StreamSettings settings;
  if (!flags.model.write.config.empty()) {
    RL_TRY_ASSIGN(const auto text, base::read_file(flags.model.write.config));
    RL_TRY_ASSIGN(settings, config::read_stream_section(text, flags.model.write.config));
  }
  const auto names = config::stream_setting_names();
  const auto is_setting = [&](const std::string& text) {
    const auto equals = text.find('=');
    return equals != std::string::npos && std::find(names.begin(), names.end(), text.substr(0, equals)) != names.end();
  };
  for (const auto& given : list_values(flags.stream_set, is_setting)) {
    const auto equals = given.find('=');
    if (equals == std::string::npos)
      return base::fail(ErrorCode::invalid_argument, "--stream {}: expected KEY=VALUE", given)
          .hint("for example --stream batch_size=8");
    RL_TRY(config::set_stream_setting(settings, given.substr(0, equals), given.substr(equals + 1)));
  }
  if (flags.slo_s) settings.slo_ms = *flags.slo_s * 1e3;
  if (!flags.labels.empty()) {
    RL_TRY_ASSIGN(settings.labels, read_labels("--labels", flags.labels));
  }
  if (!flags.crop_labels.empty() && flags.crop_model.empty())
    return base::fail(ErrorCode::invalid_argument, "--crop-labels {}: there is no second model", flags.crop_labels)
        .hint("add --crop-model FILE");
  if (!flags.crop_labels.empty()) {
    RL_TRY_ASSIGN(settings.crop.labels, read_labels("--crop-labels", flags.crop_labels));
  }
  return settings;
}

Result<schema::StreamLoad> read_load(const StreamFlags& flags) {
  schema::StreamLoad load;
  load.process = flags.rates.empty() ? "offline" : flags.process;
  load.rate_per_s = flags.rates.empty() ? 0 : *std::min_element(flags.rates.begin(), flags.rates.end());
  load.jitter = flags.jitter;
  load.variation = flags.variation;
  load.duration_s = flags.duration_s.value_or(load.duration_s);
  load.seed = flags.seed;
  if (flags.trace.empty()) return load;
  RL_TRY_ASSIGN(const auto text, base::read_file(flags.trace));
  RL_TRY_ASSIGN(const auto times, execute::parse_arrival_trace(text, flags.trace));
  load.process = "trace";
  load.trace = flags.trace;
  // The last frame belongs to it too.
  const double all_s = static_cast<double>(times.back()) * 1e-9 + 1e-3;
  load.duration_s = flags.duration_s.value_or(all_s);
  const auto end = std::lower_bound(times.begin(), times.end(), static_cast<std::int64_t>(load.duration_s * 1e9));
  load.rate_per_s = static_cast<double>(end - times.begin()) / std::min(load.duration_s, all_s);
  return load;
}

/// What a user may have meant otherwise.
Result<std::vector<schema::Message>> flag_notes(const StreamFlags& flags) {
  std::vector<schema::Message> notes;
  const auto& file = flags.model.write.config;
  if (file.empty()) return notes;
  RL_TRY_ASSIGN(const auto text, base::read_file(file));
  RL_TRY_ASSIGN(const auto stray, config::stray_stream_keys(text, file));
  if (!stray.empty()) notes.push_back(campaign::messages::stream_keys_outside({.file = file, .keys = stray}));
  return notes;
}

/// --settings: what that run recommends, where flags say nothing else.
Result<void> take_tuned(const StreamFlags& flags, const Context& context, const schema::Configuration& fixed,
                        campaign::StreamCampaignRequest& request) {
  const auto in_flag = [&](base::Error error) {
    return tl::unexpected(std::move(error).in(fmt::format("--settings {}", flags.settings)));
  };
  auto store = context.open_store(store::Access::read);
  if (!store) return in_flag(store.error());
  const auto run = store->load<schema::TuneRun>(flags.settings);
  if (!run) return in_flag(run.error());
  RL_TRY_ASSIGN(auto tuned, campaign::tuned_settings(*run));
  const bool has_provider = !request.provider.empty() && request.provider != tuned.provider;
  request.configuration =
      (has_provider ? campaign::settings_for_provider(tuned.configuration, request.provider) : tuned.configuration)
          .merged(fixed);
  if (!has_provider) request.provider = tuned.provider;
  if (!has_provider && flags.model.where.text().empty()) request.where = tuned.where;
  request.settings_run = tuned.run_id;
  request.tuned = std::move(tuned);
  return {};
}

}  // namespace

void add_stream_flags(CLI::App& command, Context& context, StreamFlags& flags) {
  auto& model = flags.model;
  command.option_defaults()->group("Frames");
  command
      .add_option("--source", flags.sources,
                  "Video file, image folder, image name pattern such as 'pics/*.jpg' or img%04d.png, rtsp:// or "
                  "another address, /dev/videoN, - for standard input, synthetic:WxH; repeatable")
      ->type_name("SOURCE")
      ->allow_extra_args(false)
      ->required();
  command
      .add_option("--raw", flags.raw,
                  "Read frames without headers from standard input or the file: bgr24, rgb24, gray or nv12")
      ->type_name("WxH:FORMAT[@FPS]");
  command.add_option("--camera", flags.camera, "Mode to request from a camera (default: its own choice)")
      ->type_name("WxH[@FPS]");
  add_choice(command, context, "--rtsp-transport", flags.rtsp_transport, {"tcp", "udp"},
             "RTSP transport; udp loses frames rather than time");
  add_number(command, "--sources", flags.copies, 1, static_cast<std::int64_t>(execute::kMostSources),
             "Number of copies of each source, run at the same time");
  add_number(command, "--frames", flags.frames, 0, kAnyNumber, "Number of frames per source; 0: all");
  command.option_defaults()->group("Model");
  command.add_option("--model", model.model_option, "ONNX file; null: no model, to measure the pipeline alone")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--crop-model", flags.crop_model,
                  "ONNX file of a second model, which runs on the boxes found by the first")
      ->type_name("FILE");
  auto providers = schema::provider_ids();
  providers.insert(providers.begin(), "auto");
  add_choice(command, context, "--provider", model.provider, providers,
             "Execution provider (default: CUDA if available, otherwise the CPU)");
  add_runtime_flags(command, model.where);
  command.add_option("--set", model.set, "Set one runtime parameter; repeatable; see ridgeline params")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--settings", flags.settings,
                  "Use the runtime, provider and settings that a tune run recommends, instead of those in --config; "
                  "other flags take precedence")
      ->type_name("RUN|latest:tune");
  command.add_option("--devices", model.devices, "GPU number as in nvidia-smi (default: the first)")->type_name("N");
  command.option_defaults()->group("Pipeline");
  command
      .add_option("--config", model.write.config,
                  "YAML file with a section stream and, optionally, the runtime's settings")
      ->type_name("FILE");
  command
      .add_option("--stream", flags.stream_set,
                  "Set one value of the section stream, for example batch_size=8; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  auto* slo =
      command
          .add_option("--slo", flags.slo_s,
                      "Latency limit per frame, for sources with a frame rate, such as 60ms; later frames are dropped")
          ->type_name("TIME");
  check_latency(*slo, "--slo", "100us", "1h");
  command.add_option("--labels", flags.labels, "Names of classes, or characters of text, one per line")
      ->type_name("FILE");
  command.add_option("--crop-labels", flags.crop_labels, "Same as --labels, for the second model")->type_name("FILE");
  command.option_defaults()->group("Output");
  command.add_option("--output", flags.output, "Results as JSON lines, one per frame; - is standard output")
      ->type_name("FILE");
  add_report_option(command, flags.report);
  command.add_flag("--json", flags.json, "Print the run as JSON on standard output");
  command
      .add_option("--live-json", flags.live_json, "Live statistics as JSON lines, one per second; - is standard output")
      ->type_name("FILE");
  command
      .add_option("--prometheus", flags.prometheus,
                  "Serve metrics over HTTP at /metrics while running; without HOST, on loopback only")
      ->type_name("[HOST]:PORT");
  command
      .add_option("--latency-socket", flags.latency_socket,
                  "Send each frame's latency to ridgeline watch --latency-socket PATH")
      ->type_name("PATH");
  command.add_flag("--headless", flags.headless, "No live screen, even in a terminal: print one line and update it");
  command.add_flag("-q,--quiet", flags.quiet, "Print only errors");
  add_database_option(command, context);
}

void add_load_flags(CLI::App& command, Context& context, StreamFlags& flags) {
  command.option_defaults()->group("Load");
  auto* rate =
      command
          .add_option("--rate", flags.rates,
                      "Frames per second per source, sent whether or not the pipeline keeps up (default: as fast as it "
                      "takes them); several rates, separated by commas, are measured one after another")
          ->type_name("FPS[,FPS...]")
          ->delimiter(',')
          ->allow_extra_args(false);
  check_real(*rate, "--rate", 0.001, 1e6);
  add_choice(command, context, "--arrivals", flags.process, {"fixed", "poisson", "burst"},
             "Arrival pattern: at fixed intervals like cameras, at random, or in bursts");
  auto* variation =
      command
          .add_option("--variation", flags.variation,
                      "For bursts: standard deviation of the gaps between frames, divided by their mean, 1 to 20")
          ->type_name("NUMBER")
          ->capture_default_str();
  check_real(*variation, "--variation", 1, 20);
  command
      .add_option("--trace", flags.trace,
                  "File of arrival times for the frames of each source, in seconds since the start, one per line; "
                  "replaces --rate")
      ->type_name("FILE")
      ->excludes("--rate")
      ->excludes("--arrivals");
  add_share(command, "--jitter", flags.jitter, "For fixed arrivals: jitter as a share of the interval", 0, 1);
  add_time(command, "--time", flags.duration_s, "Duration for each rate (default: 10s; for a trace, its length)",
           "100ms", "24h");
  add_share(command, "--max-drops", flags.most_drops, "Share of frames that may be dropped before the exit code is 1",
            0, 1);
  add_number(command, "--seed", flags.seed, 1, kAnyNumber, "Seed for the arrivals");
}

Result<campaign::StreamCampaignRequest> read_stream_flags(const StreamFlags& flags, const Context& context,
                                                          bool is_bench) {
  campaign::StreamCampaignRequest request;
  request.arguments = {context.arguments.begin() + 1, context.arguments.end()};
  auto& spec = request.spec;
  RL_TRY_ASSIGN(spec.settings, read_settings(flags));
  RL_TRY_ASSIGN(request.notes, flag_notes(flags));
  if (flags.model.model_option == kNoModel) {
    if (!flags.settings.empty())
      return base::fail(ErrorCode::invalid_argument, "--settings {}: there is no model to use them with",
                        flags.settings);
    request.workload.kind = "onnx";
    request.workload.location = kNoModel;
  } else {
    RL_TRY_ASSIGN(const auto plan, read_tune_flags(flags.model, context));
    request.workload = plan.request.workload;
    request.provider = plan.request.provider;
    request.where = plan.request.where();
    request.configuration = plan.request.current.merged(plan.request.space.fixed);
    if (!flags.settings.empty()) RL_TRY(take_tuned(flags, context, plan.request.space.fixed, request));
  }
  std::size_t piped = 0;
  for (const auto& source : flags.sources) {
    piped += source == "-" ? 1 : 0;
    spec.sources.push_back({source, flags.realtime, flags.live && source == "-"});
  }
  if (piped > 1 || (piped == 1 && flags.copies > 1))
    return base::fail(ErrorCode::invalid_argument, "--source - : only one source can read standard input");
  if (flags.live && piped == 0)
    return base::fail(ErrorCode::invalid_argument, "--live: only valid with frames on standard input")
        .hint("add --source -, or use --realtime to play files at their own frame rate");
  if (flags.sources.size() * static_cast<std::size_t>(flags.copies) > execute::kMostSources)
    return base::fail(ErrorCode::invalid_argument, "{} sources; expected at most {}",
                      flags.sources.size() * static_cast<std::size_t>(flags.copies), execute::kMostSources);
  if (flags.output == "-" && flags.json)
    return base::fail(ErrorCode::invalid_argument, "--output - and --json: both are standard output");
  if (flags.live_json == "-" && (flags.output == "-" || flags.json))
    return base::fail(ErrorCode::invalid_argument, "--live-json - and {}: both are standard output",
                      flags.json ? "--json" : "--output -");
  if (!flags.crop_model.empty() && flags.model.model_option == kNoModel)
    return base::fail(ErrorCode::invalid_argument, "--crop-model: without a model there are no boxes to cut out");
  spec.crop_model.kind = "onnx";
  spec.crop_model.location = flags.crop_model;
  if (!flags.tensors.empty() && flags.model.model_option == kNoModel)
    return base::fail(ErrorCode::invalid_argument, "--tensors: without a model there are no outputs");
  spec.raw = flags.raw;
  spec.announces = !flags.ready.empty();
  spec.tensors = flags.tensors;
  spec.video = flags.video;
  spec.copies = flags.copies;
  spec.most_frames = flags.frames;
  spec.reconnect_s = flags.reconnect_s;
  spec.camera = flags.camera;
  spec.rtsp_transport = flags.rtsp_transport;
  request.output = flags.output;
  request.most_drops = flags.most_drops;
  if (is_bench) {
    if (flags.frames > 0)
      return base::fail(ErrorCode::invalid_argument, "--frames {}: a bench offers frames by --rate for --time",
                        flags.frames)
          .hint("leave it out, or use stream run --frames");
    request.rates = flags.rates;
    std::sort(request.rates.begin(), request.rates.end());
    request.rates.erase(std::unique(request.rates.begin(), request.rates.end()), request.rates.end());
    if (request.rates.size() > 1 && !flags.output.empty())
      return base::fail(ErrorCode::invalid_argument,
                        "--output with {} rates: frames of each would have the same numbers", request.rates.size())
          .hint("write the results of one rate");
    RL_TRY_ASSIGN(spec.load, read_load(flags));
  }
  return request;
}

}  // namespace ridgeline::app
