// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "campaign/stream/stream_verdict.hpp"
#include "execute/gpu_choice.hpp"
#include "execute/local_environment.hpp"
#include "report/stream/stream_report.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/line_output.hpp"
#include "ridgeline/python_packages.hpp"
#include "ridgeline/report_files.hpp"
#include "ridgeline/section_text.hpp"
#include "ridgeline/stream_child.hpp"
#include "ridgeline/stream_display.hpp"
#include "ridgeline/stream_exports.hpp"
#include "ridgeline/stream_flags.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"
#include "ridgeline/words.hpp"
#include "ridgeline/worker_options.hpp"

namespace ridgeline::app {
namespace {

/// For people: on standard error, as standard output may be the results.
void print_stream(const schema::StreamRun& run, const Terminal& terminal) {
  fmt::print(stderr, "\n{}\n", answer_text(report::build_stream_report(words(), run), terminal));
}

base::Result<void> write_stream_report(const schema::StreamRun& run, const StreamFlags& flags) {
  const auto files = flags.report.files();
  if (files.empty()) return {};
  RL_TRY(write_reports(report::build_stream_report(words(), run), files));
  for (const auto& file : files)
    if (flags.talks()) fmt::print(stderr, "{:<{}}{}\n", "report", kLabelWidth, file.path);
  return {};
}

monitor::StreamView view_of(const campaign::StreamCampaignRequest& request) {
  monitor::StreamView view;
  schema::StreamRun run;
  run.request = request;
  view.subject = schema::stream_subject(run);
  const auto& model = request.workload.location;
  view.model = model == "null" ? "no model" : std::string(base::file_name(model));
  view.slo_ms = request.spec.settings.slo_ms;
  if (const auto& load = request.spec.load)
    view.load = load->process == "offline" ? "peak" : fmt::format("{:.4g} FPS per source", load->rate_per_s);
  return view;
}

base::Result<int> run_stream_command(const StreamFlags& flags, const Context& context, bool is_bench) {
  RL_TRY(check_report_flags(flags.report));
  RL_TRY_ASSIGN(auto request, read_stream_flags(flags, context, is_bench));
  const auto environment = execute::local_environment();
  RL_TRY_ASSIGN(const auto groups, execute::choose_gpus(flags.model.devices, environment));
  RL_TRY_ASSIGN(auto store, context.open_store());
  const auto gpus = groups.empty() ? execute::GpuGroup() : groups.front();
  const auto executor = make_executor(execute::Isolation::pooled, gpus, {});
  const auto terminal = inspect_terminal(stderr);
  StreamDisplay display(
      terminal,
      stream_display_mode(terminal, flags.talks(), flags.headless,
                          (flags.output == "-" || flags.live_json == "-") && inspect_terminal(stdout).interactive),
      view_of(request));
  RL_TRY_ASSIGN(const auto exports, StreamExports::open(flags, view_of(request)));
  if (const auto url = exports->url(); !url.empty() && !flags.quiet) fmt::print(stderr, "serving  {}\n", url);
  RL_TRY_ASSIGN(auto output, LineOutput::open(flags.output));
  RL_TRY_ASSIGN(auto loaded, LineOutput::open(flags.ready, "--ready"));
  request.child = stream_child(gpus);
  auto& child = request.child;
  child.on_ready = [&](const auto& ready) {
    exports->ready(ready);
    display.ready(ready);
  };
  request.on_progress = [&](const auto& progress) {
    exports->progress(progress);
    display.progress(progress);
  };
  child.on_note = [&](const auto& note) { display.note(words().text(note)); };
  base::Result<void> told_loaded;
  child.on_loaded = [&](const auto& line) { told_loaded = loaded.write(line); };
  for (const auto& note : words().texts(request.notes)) display.note(note);
  child.on_frame = [&](const auto& line) {
    exports->frame(line);
    return output.write(line);
  };
  child.stopping = [&] { return display.wants_end() || base::cancel_requested(); };
  request.on_rate = [&](double rate) { display.load(fmt::format("{:g} FPS per source", rate)); };
  auto ran = campaign::run_stream_campaign(request, *executor, store, [&](const auto& what) { display.stage(what); });
  display.close();
  if (!ran) return tl::unexpected(std::move(ran).error());
  const auto& run = *ran;
  RL_TRY(output.finish());
  RL_TRY(std::move(told_loaded));
  RL_TRY(exports->finish());
  if (const auto note = exports->note(); !note.empty()) display.note(note);
  if (flags.json) fmt::print("{}\n", base::dump_json(report::stream_json(words(), run)));
  if (flags.talks()) print_stream(run, terminal);
  RL_TRY(write_stream_report(run, flags));
  if (!run.error.empty())
    return base::fail(base::ErrorCode::crashed, "{}", words().text(run.error)).hint("{}", words().hint(run.error));
  if (run.interrupted) return kCancelled;
  if (const auto& lost = run.status.lost_sources; !lost.empty())
    return base::fail(base::ErrorCode::io, "{}{}", words().text(lost.front()),
                      lost.size() > 1 ? fmt::format("; {} sources were lost", lost.size()) : "")
        .hint("the results of all received frames are complete");
  if (const auto& lost = run.status.lost_videos; !lost.empty())
    return base::fail(base::ErrorCode::io, "{}", words().line(lost.front())).hint("the results are complete");
  if (run.status.failures > 0)
    return base::fail(base::ErrorCode::io, "{}, the last with: {}",
                      base::counted(static_cast<std::size_t>(run.status.failures), "failed inference"),
                      words().text(run.status.last_failure))
        .hint("their frames are in the output as \"dropped\":\"failed\"");
  if (!run.verdict || run.verdict->passed) return kOk;
  return run.is_void() ? kNoAnswer : kFinding;
}

}  // namespace

void add_stream(CLI::App& app, Context& context) {
  auto chosen = std::make_shared<CLI::App*>(nullptr);
  auto* stream =
      add_subcommand(app, context, "stream", "Run video and camera frames through a model, and measure the pipeline",
                     "  ridgeline stream run --source video.mp4 --model det.onnx --output out.jsonl\n"
                     "  ridgeline stream bench --source video.mp4 --model det.onnx --rate 30 --sources 8 --slo 60ms\n",
                     [chosen, &context]() -> base::Result<int> {
                       if (!(*chosen)->get_subcommands().empty()) return context.exit_code;
                       return base::fail(base::ErrorCode::invalid_argument, "stream: expected run or bench")
                           .hint("ridgeline stream run --help");
                     });
  *chosen = stream;
  stream->require_subcommand(0, 1);
  auto run = std::make_shared<StreamFlags>();
  auto* run_command =
      add_subcommand(*stream, context, "run", "Pass every frame through the model and write the results",
                     "  ridgeline stream run --source video.mp4 --model det.onnx --output out.jsonl\n"
                     "  ridgeline stream run --source rtsp://camera/1 --model det.onnx --slo 60ms --output -\n"
                     "  ... | ridgeline stream run --source - --raw 1280x720:bgr24@30 --model det.onnx\n",
                     [run, &context] { return run_stream_command(*run, context, false); });
  add_stream_flags(*run_command, context, *run);
  run_command->add_flag("--realtime", run->realtime, "Play files at their own frame rate; late frames are dropped")
      ->group("Frames");
  run_command->add_flag("--live", run->live, "Treat frames on standard input as live: late ones are dropped")
      ->group("Frames");
  run_command
      ->add_option("--video", run->video,
                   "Video with the results drawn in: .mp4, .mkv or .avi; with several sources NAME.0.mp4 ...")
      ->type_name("FILE")
      ->group("Output");
  run_command
      ->add_option("--tensors", run->tensors,
                   "Folder for the model's outputs for every frame, as SOURCE-FRAME.OUTPUT.npy")
      ->type_name("FOLDER")
      ->group("Output");
  run_command
      ->add_option("--ready", run->ready,
                   "File that gets one line when the pipeline is ready for frames, for the program that sends them")
      ->type_name("FILE")
      ->group("Output");
  add_time(*run_command, "--reconnect", run->reconnect_s, "How long to retry a lost camera or address", "100ms", "24h");
  add_subcommand(*stream, context, "python", "Print the folder to put in PYTHONPATH for ridgeline.stream",
                 "  PYTHONPATH=$(ridgeline stream python) python3 server.py\n", []() -> base::Result<int> {
                   RL_TRY_ASSIGN(const auto folder, python_packages());
                   fmt::print("{}\n", folder);
                   return kOk;
                 });
  auto bench = std::make_shared<StreamFlags>();
  auto* bench_command = add_subcommand(
      *stream, context, "bench", "Measure the pipeline under a fixed load; exit code 1 if it does not keep up",
      "  ridgeline stream bench --source video.mp4 --model det.onnx --rate 30 --sources 8 --slo 60ms\n"
      "  ridgeline stream bench --source video.mp4 --model det.onnx                      (its peak)\n"
      "  ridgeline stream bench --source video.mp4 --model det.onnx --rate 10,20,40 --slo 60ms   (latency against "
      "load)\n",
      [bench, &context] { return run_stream_command(*bench, context, true); });
  add_stream_flags(*bench_command, context, *bench);
  add_load_flags(*bench_command, context, *bench);
}

}  // namespace ridgeline::app
