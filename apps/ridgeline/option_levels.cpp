// SPDX-License-Identifier: Apache-2.0
#include "ridgeline/option_levels.hpp"

#include <algorithm>
#include <array>

namespace ridgeline::app {
namespace {

struct CommandOptions {
  std::string_view command;
  std::vector<std::string_view> options;
};

const std::array<CommandOptions, 9>& key_table() {
  static const std::array<CommandOptions, 9> table{{
      {"tune", {"--python", "--quick", "--max-time", "--objective", "--shape", "--config", "--apply", "--report"}},
      {"bench",
       {"--python", "--model", "--data-path", "--batch-sizes", "--num-workers", "--amp", "--config", "--report"}},
      {"sweep", {"--param", "--metric", "--objective", "--repeat", "--max-time", "--config", "--report"}},
      {"profile", {"--provider", "--shape", "--steps", "--depth", "--kernel", "--time", "--report", "--perfetto"}},
      {"stream run", {"--source", "--model", "--config", "--slo", "--output", "--video", "--realtime", "--prometheus"}},
      {"stream bench", {"--source", "--model", "--rate", "--sources", "--slo", "--arrivals", "--time", "--report"}},
      {"monitor", {"--once", "--json", "--csv", "--interval", "--prometheus", "--devices", "--sort"}},
      {"watch", {"--config", "--once", "--every", "--threshold", "--on-degrade", "--latency-file", "--quiet"}},
      {"apply", {"--config", "--dry-run", "--yes", "--for-gpu", "--match"}},
  }};
  return table;
}

const std::array<CommandOptions, 9>& seldom_table() {
  static const std::array<CommandOptions, 9> table{{
      {"tune", {"--model",      "--python-exe",     "--save-onnx",  "--seed",        "--ort-library",
                "--runtime",    "--ep-library",     "--io",         "--trials",      "--time",
                "--min-effect", "--metric-loss",    "--isolation",  "--no-ablation", "--no-comparisons",
                "--no-apply",   "--config-section", "--provenance", "--output",      "--options"}},
      {"bench",
       {"--python-exe", "--torch-plugin", "--lever", "--memory-limit", "--seed", "--stability-run", "--mem-headroom",
        "--tolerance", "--no-diagnosis", "--no-apply", "--output", "--options"}},
      {"sweep",
       {"--env", "--depends", "--metric-file", "--warmup", "--tolerance", "--trials", "--seed", "--keep-going",
        "--no-apply", "--output", "--options", "--apply-to", "--trials-dir"}},
      {"profile",
       {"--ort-library", "--runtime", "--ep-library", "--repeat", "--no-keep-trace", "--chrome", "--csv", "--output"}},
      {"profile import", {"--output"}},
      {"report", {"--output"}},
      {"stream run",
       {"--rtsp-transport", "--crop-model", "--crop-labels", "--ort-library", "--runtime", "--ep-library", "--set",
        "--settings", "--live-json", "--latency-socket", "--tensors", "--ready", "--reconnect", "--headless"}},
      {"stream bench",
       {"--rtsp-transport", "--crop-model", "--crop-labels", "--ort-library", "--runtime", "--ep-library", "--set",
        "--settings", "--live-json", "--latency-socket", "--headless", "--variation", "--jitter", "--seed",
        "--max-drops"}},
      {"watch",
       {"--config-section", "--space", "--baseline", "--model", "--ort-library", "--latency-socket", "--time",
        "--confidence", "--isolation", "--retune-time", "--retune-search", "--command-time", "--count", "--state"}},
  }};
  return table;
}

template <typename Table>
std::vector<std::string_view> options_of(const Table& table, std::string_view command) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.command == command; });
  return found == table.end() ? std::vector<std::string_view>() : found->options;
}

}  // namespace

std::vector<std::string_view> key_options(std::string_view command) { return options_of(key_table(), command); }

std::vector<std::string_view> seldom_options(std::string_view command) { return options_of(seldom_table(), command); }

bool is_seldom_used(std::string_view command, std::string_view option) {
  const auto options = seldom_options(command);
  return std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace ridgeline::app
