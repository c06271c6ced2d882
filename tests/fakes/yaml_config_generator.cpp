// SPDX-License-Identifier: Apache-2.0
#include "fakes/yaml_config_generator.hpp"

#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/random.hpp"

namespace ridgeline::fakes {
namespace {

using Words = std::vector<std::string_view>;

struct Domain {
  std::string_view name;
  Words sections;
  Words keys;
  Words values;
};

const std::vector<Domain>& domains() {
  static const std::vector<Domain> all{
      {"k8s",
       {"metadata", "spec", "template", "containers", "resources", "limits", "env", "labels", "selector",
        "livenessProbe"},
       {"apiVersion", "kind", "name", "image", "replicas", "cpu", "memory", "app.kubernetes.io/name", "path", "port"},
       {"apps/v1", "Deployment", "registry.example.org/team/app:1.2.3", "500m", "2Gi", "/healthz", "3", "\"8080\"",
        "web"}},
      {"compose",
       {"services", "web", "worker", "environment", "deploy", "volumes", "networks", "healthcheck", "logging", "build"},
       {"image", "restart", "command", "ports_http", "hostname", "user", "shm_size", "runtime", "container_name",
        "tty"},
       {"postgres:15", "unless-stopped", "\"python -m app --workers 4\"", "1gb", "nvidia", "'1000:1000'", "db", "yes"}},
      {"hydra",
       {"model", "optimizer", "trainer", "data", "callbacks", "scheduler", "logger", "hydra", "sweeper", "encoder"},
       {"_target_", "lr", "weight_decay", "max_epochs", "num_workers", "precision", "seed", "dropout", "hidden_dim",
        "name"},
       {"torch.optim.AdamW", "3e-4", "1.0e-2", "100", "16-mixed", "null", "0.1", "${oc.env:HOME}/data", "256"}},
      {"mlflow",
       {"artifacts", "flavors", "python_function", "signature", "onnx", "metadata", "inputs", "tracking", "registry"},
       {"artifact_path", "loader_module", "python_version", "run_id", "utc_time_created", "model_uuid", "onnx_version",
        "uri"},
       {"model", "mlflow.onnx", "3.11.4", "8f1c0e2d", "'2026-11-21 08:15:00.123456'", "1.15.0", "s3://bucket/key",
        "~"}},
      {"ros",
       {"camera_node", "ros__parameters", "detector", "qos", "topics", "tf", "filters", "planner_server", "costmap"},
       {"frame_id", "rate_hz", "topic", "use_sim_time", "queue_depth", "reliability", "min_score", "exposure_us",
        "fps"},
       {"camera_link", "30.0", "/camera/image_raw", "false", "10", "best_effort", "0.35", "true", "1e3"}},
      {"ci",
       {"jobs", "build", "test", "steps", "strategy", "matrix", "with", "on", "push", "services"},
       {"runs-on", "uses", "name", "run", "timeout-minutes", "if", "shell", "branches", "needs", "cache-key"},
       {"ubuntu-22.04", "actions/checkout@v4", "\"${{ matrix.os }}\"", "cmake --build build", "15", "always()", "bash",
        "main"}}};
  return all;
}

/// The spellings that one setting is found in.
struct Setting {
  std::string_view key;
  Words values;
};
const std::vector<Setting>& settings() {
  static const std::vector<Setting> all{
      {"intra_op_num_threads", {"8", "0", "\"8\"", "'16'", "0x10", "", "~", "!!int 8"}},
      {"inter_op_num_threads", {"1", "2", "\"1\"", "!!int \"2\""}},
      {"execution_mode",
       {"sequential", "parallel", "ORT_PARALLEL", "\"ORT_SEQUENTIAL\"", "PARALLEL", "ExecutionMode.ORT_PARALLEL"}},
      {"graph_optimization_level",
       {"all", "basic", "99", "ORT_ENABLE_ALL", "'extended'", "\"disable_all\"", "ENABLE_ALL"}},
      {"enable_mem_pattern", {"true", "false", "yes", "On", "True", "\"1\"", "off"}},
      {"enable_cpu_mem_arena", {"true", "no", "FALSE", "'true'"}},
      {"intra_op_allow_spinning", {"\"1\"", "\"0\"", "1", "false"}},
      {"intra_op_thread_affinities", {"1;2;3", "\"1,2;3,4\"", "''", "'2-3;4-5'"}},
      {"batch_size", {"1", "8", "'4'"}}};
  return all;
}

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed), domain_(domains()[seed % domains().size()]) {
    newline_ = chance(20) ? "\r\n" : "\n";
    step_ = std::array<std::size_t, 4>{2, 2, 4, 3}[random_.below(4)];
    indent_lists_ = chance(50);
  }

  GeneratedConfig write(std::uint64_t seed) {
    out_ = chance(10) ? "\xEF\xBB\xBF" : "";
    if (chance(15)) line("# Größe: 設定ファイル – do not edit by hand ⚙");
    if (chance(30)) line("---");
    const auto home = random_.below(3);  // which top-level section holds the settings
    has_settings_ = !chance(15);
    if (chance(20)) line("x-shared: &shared {retries: 3, backoff: 1.5}");
    for (std::uint64_t i = 0; i < 3; ++i) {
      if (chance(40)) out_ += newline_;
      section(i, home == i, 0, fmt::format("{}{}", domain_.sections[random_.below(domain_.sections.size())], i));
    }
    if (chance(15))
      line(fmt::format("script: |{}{}  set -e{}  echo \"a: b # no comment\"", chance(50) ? "-" : "", newline_,
                       newline_));
    if (chance(10)) line("# the end");
    if (chance(10)) {
      line("---");
      line("second: {document: true, list: [1, 2, 3]}");
    } else if (chance(10)) {
      line("...");
    }
    if (chance(15) && out_.size() > newline_.size()) out_.resize(out_.size() - newline_.size());
    return {fmt::format("{}-{}", domain_.name, seed), out_};
  }

 private:
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  std::string_view pick(const Words& words) { return words[random_.below(words.size())]; }

  void line(std::string_view text) {
    out_ += text;
    out_ += newline_;
  }

  std::string comment() {
    if (!chance(25)) return "";
    static const Words texts{"# keep",    "#tuned by hand: 8 -> 4", "# see \"docs\" {x}", "# größer ist schneller", "#",
                             "# 'quoted'"};
    return std::string(chance(20) ? "\t" : chance(50) ? "  " : " ") + std::string(pick(texts));
  }

  std::string settings_flow() {
    std::string text;
    for (const auto& [key, value] : chosen_settings())
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key,
                          value.find(',') != std::string_view::npos && value.front() != '"' ? "x" : value);
    return text;
  }

  std::vector<std::pair<std::string_view, std::string_view>> chosen_settings() {
    std::vector<std::pair<std::string_view, std::string_view>> chosen;
    const auto first = random_.below(settings().size());
    const auto count = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto& setting = settings()[(first + 2 * i) % settings().size()];
      chosen.emplace_back(setting.key, pick(setting.values));
    }
    return chosen;
  }

  void settings_block(std::size_t column) {
    const std::string pad(column, ' ');
    for (const auto& [key, value] : chosen_settings()) {
      if (chance(15)) line(pad + "# " + std::string(key) + ": how it was found");
      const auto gap = chance(10) ? "   " : " ";
      const auto name = chance(10) ? fmt::format("\"{}\"", key) : std::string(key);
      line(fmt::format("{}{}:{}{}{}", pad, name, value.empty() ? "" : gap, value, comment()));
    }
  }

  /// A key of ours, unique within its mapping by its number.
  void plain_pair(std::size_t column, std::uint64_t number) {
    const std::string pad(column, ' ');
    const auto key = fmt::format("{}_{}", pick(domain_.keys), number);
    switch (random_.below(9)) {
      case 0: return line(fmt::format("{}{}: [{}, {}]{}", pad, key, number, "\"a b\"", comment()));
      case 1: return line(fmt::format("{}{}: {{a: 1, 'b c': [x, y]}}{}", pad, key, comment()));
      case 2:
        line(fmt::format("{}{}: >{}", pad, key, chance(50) ? "-" : ""));
        line(fmt::format("{}  folded text: with a colon,", pad));
        line("");
        return line(fmt::format("{}  # and no comment", pad));
      case 3: {
        line(fmt::format("{}{}:{}", pad, key, comment()));
        const std::string dash(column + (indent_lists_ ? step_ : 0), ' ');
        line(fmt::format("{}- {}", dash, pick(domain_.values)));
        return line(fmt::format("{}- name: é{}{}", dash, number, comment()));
      }
      case 4: return line(fmt::format("{}{}: \"{}\"{}", pad, key, "tab\\t and \\\"quotes\\\" # here", comment()));
      case 5: return line(fmt::format("{}{}:{}", pad, key, comment()));
      default: return line(fmt::format("{}{}: {}{}", pad, key, pick(domain_.values), comment()));
    }
  }

  void section(std::uint64_t number, bool home, std::size_t column, const std::string& name) {
    const std::string pad(column, ' ');
    const bool flow = home && has_settings_ && chance(20);
    if (flow) return line(fmt::format("{}{}: {{{}, z: 1}}{}", pad, name, settings_flow(), comment()));
    line(fmt::format("{}{}:{}{}", pad, name, chance(8) ? fmt::format(" &anchor{}", number) : "", comment()));
    const auto inner = column + step_;
    const auto pairs = 1 + random_.below(4);
    const bool nest = column < 4 * step_ && chance(60);
    for (std::uint64_t i = 0; i < pairs; ++i) plain_pair(inner, i);
    if (nest) section(number, home, inner, std::string(pick(domain_.sections)) + "_in");
    if (home && has_settings_ && !nest) settings_block(inner);
    if (chance(30)) plain_pair(inner, 9);
  }

  base::Random random_;
  const Domain& domain_;
  std::string newline_;
  std::size_t step_ = 2;
  bool indent_lists_ = true;
  bool has_settings_ = true;
  std::string out_;
};

}  // namespace

GeneratedConfig generate_yaml_config(std::uint64_t seed) { return Writer(seed).write(seed); }

}  // namespace ridgeline::fakes
