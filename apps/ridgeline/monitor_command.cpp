// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/cancel.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "monitor/csv_recorder.hpp"
#include "monitor/first_gap.hpp"
#include "monitor/history.hpp"
#include "monitor/json_export.hpp"
#include "monitor/metrics_server.hpp"
#include "monitor/prometheus_text.hpp"
#include "monitor/resident_pages.hpp"
#include "monitor/screen.hpp"
#include "monitor/snapshot_source.hpp"
#include "monitor/view_state.hpp"
#include "ridgeline/flag_values.hpp"
#include "ridgeline/screen_terminal.hpp"
#include "ridgeline/subcommand.hpp"
#include "ridgeline/terminal.hpp"

namespace ridgeline::app {
namespace {

using base::ErrorCode;
using base::Result;
using std::chrono::milliseconds;

struct MonitorFlags {
  bool once = false;
  bool json = false;
  std::string csv;
  double interval_s = 1;
  std::string prometheus;
  std::string devices = "all";
  std::optional<std::int64_t> count;
  std::string sort = "memory";
  std::string filter;
  bool headless = false;
  bool measure_pcie = false;
  bool no_color = false;
  bool ascii = false;
};

/// Looks at the machine and hands each look to whoever wants it.
class Watch {
 public:
  Watch(monitor::SnapshotSource source, std::optional<monitor::CsvRecorder> csv)
      : source_(std::move(source)), csv_(std::move(csv)) {}

  /// `recorded`: false for the first of two looks, whose rates are not known yet.
  Result<std::shared_ptr<const monitor::Snapshot>> look(bool recorded) {
    auto snapshot = std::make_shared<const monitor::Snapshot>(source_.look());
    {
      const std::scoped_lock lock(mutex_);
      latest_ = snapshot;
    }
    if (csv_ && recorded) RL_TRY(csv_->write(*snapshot));
    return snapshot;
  }

  [[nodiscard]] std::string metrics() {
    const std::scoped_lock lock(mutex_);
    return latest_ != nullptr ? monitor::prometheus_text(*latest_) : std::string();
  }

 private:
  monitor::SnapshotSource source_;
  std::optional<monitor::CsvRecorder> csv_;
  std::mutex mutex_;
  std::shared_ptr<const monitor::Snapshot> latest_;
};

/// Unlike Clock::sleep_for this ends at a signal.
void rest_until(base::Nanoseconds moment) {
  while (!base::cancel_requested()) {
    const auto left = std::chrono::ceil<milliseconds>(moment - base::system_clock().now());
    if (left.count() <= 0) return;
    ::poll(nullptr, 0, static_cast<int>(std::min<milliseconds::rep>(left.count(), 60'000)));
  }
}

/// The moment of the look after `last`: on the beat, beats that were missed left out.
base::Nanoseconds next_beat(base::Nanoseconds last, base::Nanoseconds interval) {
  const auto now = base::system_clock().now();
  return now > last + interval ? now + interval : last + interval;
}

Style style_of(monitor::Style style) {
  using From = monitor::Style;
  switch (style) {
    case From::dim: return Style::dim;
    case From::good:
    case From::heat_low: return Style::good;
    case From::warn:
    case From::heat_mid: return Style::warning;
    case From::bad:
    case From::heat_high: return Style::bad;
    case From::accent:
    case From::key:
    case From::load_low:
    case From::load_mid:
    case From::load_high: return Style::accent;
    default: return Style::bold;
  }
}

void print_once(const monitor::CellGrid& canvas, bool colour) {
  const auto text = canvas.text();
  if (!colour) {
    fmt::print("{}\n", text);
    return;
  }
  const auto rows = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (int row = 0; row < rows; ++row) {
    std::string line;
    for (int column = 0; column < canvas.columns();) {
      const auto style = canvas.at(row, column).style;
      std::string run;
      for (; column < canvas.columns() && canvas.at(row, column).style == style; ++column)
        if (canvas.at(row, column).glyph != 0) run += base::utf8(canvas.at(row, column).glyph);
      line += styled(run, style_of(style), style != monitor::Style::normal);
    }
    fmt::print("{}\n", line);
  }
}

monitor::ProcessOrder order_of(const MonitorFlags& flags) {
  monitor::ProcessOrder order;
  order.key = *base::enum_from_name<monitor::SortKey>(flags.sort);
  order.filter = flags.filter;
  return order;
}

Result<int> once(const MonitorFlags& flags, Watch& watch, base::Nanoseconds begun) {
  const auto first = base::system_clock().now();
  RL_TRY(watch.look(false));
  rest_until(first + monitor::gap_after(first - begun));
  RL_TRY_ASSIGN(const auto snapshot, watch.look(true));
  if (flags.json) {
    fmt::print("{}\n", base::dump_json(monitor::json_of(*snapshot, order_of(flags))));
  } else {
    const auto terminal = inspect_terminal(stdout);
    const bool unicode = locale_is_utf8() && !flags.ascii;
    print_once(monitor::draw_once(*snapshot, order_of(flags), std::min(terminal.width, 160), unicode),
               terminal.colour && !flags.no_color);
  }
  if (snapshot->gpus.empty()) {
    std::fflush(stdout);
    fmt::print(stderr, "{} run ridgeline doctor: it shows why no GPU is visible and how to fix it\n",
               styled("hint:", Style::accent, inspect_terminal(stderr).colour && !flags.no_color));
  }
  return kOk;
}

Result<int> stream(const MonitorFlags& flags, Watch& watch, base::Nanoseconds interval, std::int64_t count) {
  auto at = base::system_clock().now();
  RL_TRY(watch.look(false));
  rest_until(at + std::min<base::Nanoseconds>(interval, monitor::kFirstGap));
  for (std::int64_t done = 0; !base::cancel_requested() && (count == 0 || done < count); ++done) {
    if (done > 0) {
      at = next_beat(at, interval);
      rest_until(at);
      if (base::cancel_requested()) break;
    }
    RL_TRY_ASSIGN(const auto snapshot, watch.look(true));
    if (done == 0) monitor::release_start_up_pages();
    if (!flags.json) continue;
    fmt::print("{}\n", base::dump_json(monitor::json_of(*snapshot, order_of(flags))));
    if (std::fflush(stdout) != 0)
      return base::fail(ErrorCode::io, "cannot write to standard output").hint("is the disk full?");
  }
  return kOk;
}

Result<int> screen(const MonitorFlags& flags, Watch& watch, base::Nanoseconds interval, std::int64_t count,
                   bool colour) {
  monitor::ViewState view;
  view.interval = std::chrono::duration_cast<milliseconds>(interval);
  view.order = order_of(flags);
  monitor::History history;
  auto at = base::system_clock().now();
  RL_TRY(watch.look(false));
  rest_until(at + monitor::kFirstGap);
  RL_TRY_ASSIGN(auto latest, watch.look(true));
  history.add(*latest);
  // Opened last: what goes wrong before is said on a terminal in its normal mode.
  RL_TRY_ASSIGN(auto terminal, ScreenTerminal::open(colour, flags.ascii));
  std::shared_ptr<const monitor::Snapshot> shown = latest;
  std::unique_ptr<monitor::History> frozen;
  monitor::release_start_up_pages();
  std::int64_t done = 1;
  while (!view.quit && !base::cancel_requested()) {
    terminal.show(monitor::draw_screen(*shown, frozen ? *frozen : history, view, terminal.size()));
    const auto left = std::chrono::ceil<milliseconds>(at + view.interval - base::system_clock().now());
    if (left.count() > 0) {
      if (const auto key = terminal.wait_for_key(left)) {
        view.press(*key, *shown);
        if (view.paused && !frozen) frozen = std::make_unique<monitor::History>(history);
        if (!view.paused) frozen.reset();
        if (!view.paused) shown = latest;
      }
      continue;
    }
    if (count != 0 && done >= count) break;
    at = next_beat(at, view.interval) - view.interval;
    RL_TRY_ASSIGN(latest, watch.look(true));
    history.add(*latest);
    if (!view.paused) shown = latest;
    ++done;
  }
  return kOk;
}

Result<int> monitor_machine(const MonitorFlags& flags) {
  const auto begun = base::system_clock().now();
  const auto interval = base::from_seconds(flags.interval_s);
  const auto count = flags.count.value_or(0);
  if (!base::enum_from_name<monitor::SortKey>(flags.sort))
    return base::fail(ErrorCode::invalid_argument, "--sort {}: unknown column", flags.sort);
  if (flags.once && count != 0)
    return base::fail(ErrorCode::invalid_argument, "--once with --count {}: --once takes one reading", count)
        .hint("leave one out");
  if (flags.headless && !flags.once && !flags.json && flags.csv.empty() && flags.prometheus.empty())
    return base::fail(ErrorCode::invalid_argument, "--headless: there would be no output")
        .hint("add --once, --json, --csv FILE or --prometheus :PORT");
  if (flags.csv == "-")
    return base::fail(ErrorCode::invalid_argument, "--csv -: expected a file").hint("for standard output use --json");
  if (flags.once && !flags.prometheus.empty())
    return base::fail(ErrorCode::invalid_argument, "--once with --prometheus: an exporter must keep running")
        .hint("leave one out");

  monitor::SourceOptions options;
  options.devices = flags.devices;
  options.measure_pcie = flags.measure_pcie;
  RL_TRY_ASSIGN(auto source, monitor::SnapshotSource::open(std::move(options), base::system_clock()));
  std::optional<monitor::CsvRecorder> csv;
  if (!flags.csv.empty()) {
    RL_TRY_ASSIGN(auto opened, monitor::CsvRecorder::open(flags.csv));
    csv.emplace(std::move(opened));
  }
  Watch watch(std::move(source), std::move(csv));
  std::optional<monitor::MetricsServer> server;
  if (!flags.prometheus.empty()) {
    RL_TRY(watch.look(false));
    RL_TRY_ASSIGN(auto started, monitor::MetricsServer::start(flags.prometheus, [&watch] { return watch.metrics(); }));
    server.emplace(std::move(started));
    fmt::print(stderr, "serving {}\n", server->url());
  }
  if (flags.once) return once(flags, watch, begun);
  const auto terminal = inspect_terminal(stdout);
  const bool records = flags.json || !flags.csv.empty() || !flags.prometheus.empty();
  if (flags.json || flags.headless || (records && !terminal.interactive)) return stream(flags, watch, interval, count);
  if (!terminal.interactive || inspect_terminal(stdin).interactive == false) return once(flags, watch, begun);
  return screen(flags, watch, interval, count, terminal.colour && !flags.no_color);
}

}  // namespace

void add_monitor(CLI::App& app, Context& context) {
  auto flags = std::make_shared<MonitorFlags>();
  auto* command = add_subcommand(app, context, "monitor", "Show GPU activity live, record it, or export it",
                                 "  ridgeline monitor\n"
                                 "  ridgeline monitor --once --json\n"
                                 "  ridgeline monitor --csv gpus.csv --interval 5s --headless\n"
                                 "  ridgeline monitor --prometheus :9417 --headless",
                                 [flags] { return monitor_machine(*flags); });
  command->add_flag("--once", flags->once, "Print one reading and exit; rates come from two samples about 60 ms apart");
  command->add_flag("--json", flags->json,
                    "Print JSON with units in the keys: one object with --once, otherwise one per line");
  command
      ->add_option("--csv", flags->csv,
                   "Record to this file, one line per GPU and interval; appends to an earlier recording")
      ->type_name("FILE");
  add_time(*command, "--interval", flags->interval_s, "Time between readings, 100ms to 1h", "100ms", "1h");
  add_number(*command, "--count", flags->count, 1, kAnyNumber, "Number of readings after which to exit");
  command
      ->add_option("--prometheus", flags->prometheus,
                   "Serve metrics over HTTP at /metrics; without HOST, on loopback only")
      ->type_name("[HOST]:PORT");
  command->add_option("--devices", flags->devices, "GPUs by number or UUID, separated by commas, or all")
      ->type_name("LIST")
      ->capture_default_str();
  add_choice(*command, context, "--sort", flags->sort,
             {"memory", "sm", "cpu", "host-memory", "pid", "user", "gpu", "name"}, "Sort order of the processes");
  command
      ->add_option("--filter", flags->filter,
                   "Show only processes with this text in number, user, container or command")
      ->type_name("TEXT");
  command->add_flag("--headless", flags->headless,
                    "No live screen, even in a terminal: only record, export or print JSON");
  command->add_flag("--pcie-traffic", flags->measure_pcie,
                    "Measure PCIe traffic even if that takes 40 ms per GPU (before Hopper)");
  command->add_flag("--no-color", flags->no_color, "Disable colours (also: NO_COLOR)");
  command->add_flag("--ascii", flags->ascii, "Use only ASCII characters, even in a UTF-8 terminal");
}

}  // namespace ridgeline::app
