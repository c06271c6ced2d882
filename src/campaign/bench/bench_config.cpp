// SPDX-License-Identifier: Apache-2.0
#include "campaign/bench/bench_config.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "config/key_place.hpp"
#include "config/one_line.hpp"
#include "config/setting_text.hpp"
#include "config/yaml_tree.hpp"

namespace ridgeline::campaign {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::int64_t kMostBatch = 1 << 24;
constexpr std::int64_t kMostWorkers = 1024;
constexpr std::int64_t kMostSteps = 1000000;

class BenchConfigReader {
 public:
  BenchConfigReader(const config::YamlTree& tree, std::string_view file) : tree_(tree), file_(file) {}

  Result<BenchConfig> read() {
    if (tree_.documents.empty() || config::is_null(tree_.at(tree_.documents.front().root))) return BenchConfig{};
    const int root = tree_.resolved(tree_.documents.front().root);
    if (tree_.at(root).kind != config::YamlKind::mapping)
      return bad(root, "expected the sections benchmark, data and training");
    const auto& children = tree_.at(root).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const auto& section = tree_.at(children[i]).value;
      const std::vector<std::string> sections{"benchmark", "data", "training"};
      if (std::find(sections.begin(), sections.end(), section) != sections.end())
        RL_TRY(read_section(section, tree_.resolved(children[i + 1])));
      else if (const auto near = base::did_you_mean(section, sections); !near.empty())
        leave(children[i], section, near);
    }
    for (const auto* section : {"data", "training"})
      for (const auto& key : keys_of(section)) RL_TRY(read_elsewhere(section, key));
    find_not_taken(root);
    return std::move(config_);
  }

 private:
  template <typename... Args>
  base::Fault bad(int node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(ErrorCode::invalid_argument, "{}:{}:{}: {}", file_, tree_.at(node).line, tree_.at(node).column,
                fmt::format(format, std::forward<Args>(args)...));
  }

  void leave(int node, const std::string& path, const std::string& why) {
    config_.not_read[path] = why;
    config_.lines[path] = tree_.at(node).line;
  }

  [[nodiscard]] std::string scalar_text(int node) const {
    return tree_.at(node).kind == config::YamlKind::scalar ? tree_.at(node).value : "...";
  }

  /// How many devices a value names: a list, a number of them, or "0,1,2".
  [[nodiscard]] std::size_t devices_of(const std::string& key, int node) const {
    if (tree_.at(node).kind == config::YamlKind::sequence) return tree_.at(node).children.size();
    if (tree_.at(node).kind != config::YamlKind::scalar) return 1;
    const auto& text = tree_.at(node).value;
    const bool counts = key != "device" && key != "device_ids" && key != "gpu_ids";
    if (const auto number = base::parse_integer(text, key); counts && number && *number > 1)
      return static_cast<std::size_t>(*number);
    return base::split(text, ',').size();
  }

  /// Keys, wherever they are, that change how fast the user's training runs and that no trial has.
  void find_not_taken(int node) {
    static const std::set<std::string, std::less<>> kPlain{
        "prefetch_factor", "persistent_workers",     "channels_last", "torch_compile",
        "compile",         "gradient_checkpointing", "max_grad_norm", "gradient_clip_val"};
    static const std::set<std::string, std::less<>> kDevices{
        "device", "devices", "device_ids", "gpus", "gpu_ids", "num_gpus", "world_size", "nproc_per_node", "num_nodes"};
    node = tree_.resolved(node);
    const auto& children = tree_.at(node).children;
    if (tree_.at(node).kind == config::YamlKind::sequence)
      for (const int child : children) find_not_taken(child);
    if (tree_.at(node).kind != config::YamlKind::mapping) return;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const auto& key = tree_.at(children[i]).value;
      const int value = tree_.resolved(children[i + 1]);
      const int line = tree_.at(children[i]).line;
      if (config::is_null(tree_.at(value))) continue;
      if (kPlain.count(key) != 0)
        config_.not_taken[line] = fmt::format("{}: {}", key, scalar_text(value));
      else if (kDevices.count(key) != 0 && devices_of(key, value) > 1)
        config_.not_taken[line] = fmt::format("{}: {} devices, of which a trial has one", key, devices_of(key, value));
      else
        find_not_taken(value);
    }
  }

  /// "${BATCH}" is a value once another program has filled it in.
  [[nodiscard]] bool is_filled_in(int node) const {
    return tree_.at(node).kind == config::YamlKind::scalar && config::is_template(tree_.at(node).value);
  }

  /// A key that is not under its section, at the only place of its name.
  Result<void> read_elsewhere(const std::string& section, const std::string& key) {
    const auto path = section + "." + key;
    if (config_.lines.count(path) != 0 || key == "data_path") return {};
    const int found = config::KeyPlace(tree_, key).value();
    if (found < 0) return {};
    const int value = tree_.resolved(found);
    if (config::is_null(tree_.at(value))) return {};
    // In a place of the user's own any value may be right.
    const auto before = config_;
    if (is_filled_in(value) || !read_key(path, value)) {
      config_ = before;
      leave(
          found, path,
          fmt::format("{} is {}", key,
                      tree_.at(value).kind == config::YamlKind::scalar ? tree_.at(value).value : "a list or section"));
      return {};
    }
    config_.lines[path] = tree_.at(found).line;
    return {};
  }

  Result<void> read_section(const std::string& section, int node) {
    if (config::is_null(tree_.at(node))) return {};
    if (tree_.at(node).kind != config::YamlKind::mapping) {
      if (section != "benchmark") return {};
      return bad(node, "{} is not what it should be: expected a mapping of keys", section);
    }
    const auto& children = tree_.at(node).children;
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      const auto& key = tree_.at(children[i]).value;
      const auto names = keys_of(section);
      if (std::find(names.begin(), names.end(), key) == names.end()) {
        const auto near = meant(key, names);
        if (section == "benchmark")
          return bad(children[i], "unknown key \"{}\" in {}; expected {}", key, section, fmt::join(names, ", "))
              .hint("{}", near);
        if (!near.empty()) leave(children[i], section + "." + key, near);
        continue;
      }
      const int value = tree_.resolved(children[i + 1]);
      if (config::is_null(tree_.at(value))) continue;
      if (section != "benchmark" && is_filled_in(value)) {
        leave(value, section + "." + key,
              fmt::format("{} is {}, which another program fills in", key, tree_.at(value).value));
        continue;
      }
      RL_TRY(read_key(section + "." + key, value));
      config_.lines[section + "." + key] = tree_.at(children[i]).line;
    }
    return {};
  }

  /// The nearest name, else the only one that the key is a part of: "workers" for num_workers.
  static std::string meant(const std::string& key, const std::vector<std::string>& names) {
    if (auto near = base::did_you_mean(key, names); !near.empty()) return near;
    std::vector<std::string> around;
    for (const auto& name : names)
      if (key.size() >= 3 && name.find(key) != std::string::npos) around.push_back(name);
    return around.size() == 1 ? fmt::format("did you mean \"{}\"?", around.front()) : std::string();
  }

  static std::vector<std::string> keys_of(const std::string& section) {
    if (section == "benchmark")
      return {"batch_sizes", "num_workers_options", "steps_per_test", "test_mixed_precision", "test_pin_memory"};
    if (section == "data") return {"batch_size", "num_workers", "pin_memory", "data_path"};
    return {"use_amp", "gradient_accumulation_steps", "learning_rate"};
  }

  /// How a key's value is read; the first that fits the path serves.
  struct KeyReader {
    std::string_view path;
    Result<void> (BenchConfigReader::*read)(const std::string& path, int node);
  };

  Result<void> read_key(const std::string& path, int node) {
    static constexpr KeyReader kReaders[] = {
        {"benchmark.batch_sizes", &BenchConfigReader::read_batches},
        {"benchmark.num_workers_options", &BenchConfigReader::read_worker_options},
        {"benchmark.steps_per_test", &BenchConfigReader::read_steps},
        {"benchmark.test_mixed_precision", &BenchConfigReader::read_flag<&BenchConfig::test_mixed_precision>},
        {"benchmark.test_pin_memory", &BenchConfigReader::read_flag<&BenchConfig::test_pin_memory>},
        {"data.batch_size", &BenchConfigReader::read_batch},
        {"data.num_workers", &BenchConfigReader::read_workers},
        {"data.pin_memory", &BenchConfigReader::read_flag<&BenchConfig::pin_memory>},
        {"data.data_path", &BenchConfigReader::read_data_path},
        {"training.use_amp", &BenchConfigReader::read_flag<&BenchConfig::use_amp>},
        {"training.gradient_accumulation_steps", &BenchConfigReader::read_accumulation},
        {"training.learning_rate", &BenchConfigReader::read_rate},
    };
    for (const auto& reader : kReaders)
      if (reader.path == path) return (this->*reader.read)(path, node);
    return bad(node, "{} is not known", path);
  }

  Result<void> read_batches(const std::string& path, int node) {
    return assign(config_.batch_sizes, list(path, node, 1, kMostBatch));
  }
  Result<void> read_worker_options(const std::string& path, int node) {
    RL_TRY_ASSIGN(const auto workers, list(path, node, 0, kMostWorkers));
    config_.num_workers_options.emplace(workers.begin(), workers.end());
    return {};
  }
  Result<void> read_steps(const std::string& path, int node) {
    return assign(config_.steps_per_test, whole(path, node, 1, kMostSteps));
  }
  Result<void> read_batch(const std::string& path, int node) {
    return assign(config_.batch_size, whole(path, node, 1, kMostBatch));
  }
  Result<void> read_workers(const std::string& path, int node) {
    return assign(config_.num_workers, whole(path, node, 0, kMostWorkers));
  }
  Result<void> read_accumulation(const std::string& path, int node) {
    return assign(config_.gradient_accumulation_steps, whole(path, node, 1, kMostSteps));
  }
  template <std::optional<bool> BenchConfig::*kMember>
  Result<void> read_flag(const std::string& path, int node) {
    return assign(config_.*kMember, flag(path, node));
  }
  Result<void> read_rate(const std::string& path, int node) {
    const auto rate = base::parse_number(tree_.at(node).value, path);
    if (tree_.at(node).kind != config::YamlKind::scalar || !rate || *rate <= 0)
      return bad(node, "{}={} is not legal: expected a number above 0", path, tree_.at(node).value);
    config_.learning_rate = *rate;
    return {};
  }
  Result<void> read_data_path(const std::string& path, int node) {
    if (tree_.at(node).kind != config::YamlKind::scalar || tree_.at(node).value.empty())
      return bad(node, "{}: expected a path", path);
    config_.data_path = tree_.at(node).value;
    return {};
  }

  template <typename T, typename U>
  static Result<void> assign(std::optional<T>& field, Result<U> value) {
    if (!value) return tl::unexpected<base::Error>(std::move(value).error());
    field = static_cast<T>(*std::move(value));
    return {};
  }

  Result<std::int64_t> whole(const std::string& path, int node, std::int64_t low, std::int64_t high) const {
    const auto value = base::parse_integer(tree_.at(node).value, path);
    if (tree_.at(node).kind != config::YamlKind::scalar || !value || *value < low || *value > high)
      return bad(node, "{}={} is not legal: expected a whole number from {} to {}", path, tree_.at(node).value, low,
                 high);
    return *value;
  }

  Result<bool> flag(const std::string& path, int node) const {
    schema::ParamDef def;
    def.key = path;
    def.type = schema::ParamType::boolean;
    RL_TRY_ASSIGN(const auto value, config::read_setting(def, tree_, node, file_));
    return value && value->as_bool();
  }

  Result<std::vector<std::int64_t>> list(const std::string& path, int node, std::int64_t low, std::int64_t high) const {
    std::vector<int> items{node};
    if (tree_.at(node).kind == config::YamlKind::sequence) items = tree_.at(node).children;
    if (items.empty()) return bad(node, "{} is an empty list", path).hint("give it values, or leave it out");
    std::vector<std::int64_t> out;
    for (const int item : items) {
      RL_TRY_ASSIGN(const auto value, whole(path, tree_.resolved(item), low, high));
      out.push_back(value);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  const config::YamlTree& tree_;
  std::string_view file_;
  BenchConfig config_;
};

}  // namespace

Result<BenchConfig> parse_bench_config(std::string_view yaml, std::string_view file_name) {
  const auto tree = config::parse_yaml(yaml, file_name);
  if (!tree) return tl::unexpected(config::one_line(tree.error()));
  return BenchConfigReader(*tree, file_name).read().map_error(config::one_line);
}

}  // namespace ridgeline::campaign
