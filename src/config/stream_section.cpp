// SPDX-License-Identifier: Apache-2.0
#include "config/stream_section.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "config/yaml_tree.hpp"
#include "schema/suggestion.hpp"

namespace ridgeline::config {
namespace {

using base::ErrorCode;
using base::Result;
using schema::StreamSettings;

using Texts = std::vector<std::string>;

/// A key: how its values are checked and where they go.
struct Key {
  std::string name;
  bool is_list = false;
  /// The error is what was expected.
  std::function<std::optional<std::string>(const Texts&, StreamSettings&)> set;
  Texts words{};  ///< its values, if it has no others
};

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

template <typename Member>
Key whole(std::string name, Member member, std::int64_t low, std::int64_t high) {
  return {std::move(name), false,
          [member, low, high](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
            const auto value = number(texts.front());
            if (!value || *value != std::floor(*value) || *value < static_cast<double>(low) ||
                *value > static_cast<double>(high))
              return fmt::format("a whole number from {} to {}", low, high);
            member(settings) = static_cast<std::int64_t>(*value);
            return std::nullopt;
          }};
}

template <typename Member>
Key real(std::string name, Member member, double low, double high) {
  return {std::move(name), false,
          [member, low, high](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
            const auto value = number(texts.front());
            if (!value || *value < low || *value > high) return fmt::format("a number from {:g} to {:g}", low, high);
            member(settings) = *value;
            return std::nullopt;
          }};
}

template <typename Member>
Key choice(std::string name, Member member, Texts names) {
  return {std::move(name), false,
          [member, names](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
            if (std::find(names.begin(), names.end(), texts.front()) == names.end())
              return fmt::format("one of {}", fmt::join(names, ", "));
            member(settings) = texts.front();
            return std::nullopt;
          },
          names};
}

template <typename Member>
Key numbers(std::string name, Member member, double low) {
  return {std::move(name), true,
          [member, low](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
            std::vector<double> values;
            for (const auto& text : texts) {
              const auto value = number(text);
              if (!value || *value < low) return fmt::format("numbers from {:g}", low);
              values.push_back(*value);
            }
            if (values.size() != 1 && values.size() != 3) return "1 or 3 numbers";
            member(settings) = std::move(values);
            return std::nullopt;
          }};
}

/// "640", "640x384"; the error is what was expected.
std::optional<std::string> set_size(const std::string& text, std::vector<std::int64_t>& size) {
  constexpr double kLongestSide = 32768;
  std::vector<std::int64_t> sides;
  for (const auto& part : base::split(text, 'x')) {
    const auto side = number(part);
    if (!side || *side != std::floor(*side) || *side < 1 || *side > kLongestSide) return "WIDTHxHEIGHT, or one number";
    sides.push_back(static_cast<std::int64_t>(*side));
  }
  if (sides.size() > 2) return "WIDTHxHEIGHT, or one number";
  size = {sides.front(), sides.back()};
  return std::nullopt;
}

/// What a model has: its decoder and what comes before it. `of` is where its settings are.
template <typename Of>
void add_model_keys(std::vector<Key>& keys, const std::string& prefix, Of of) {
  constexpr double kSmall = 1e-9;
  const std::vector<Key> added{
      choice(prefix + "decoder", [of](auto& s) -> auto& { return of(s).decoder; },
             {"auto", "ppocr", "yolo", "yolox", "yolo-nas", "pose", "obb", "detr", "boxes", "simcc", "heatmap",
              "classify", "ctc", "none"}),
      {prefix + "labels", true,
       [of](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         of(settings).labels = texts;
         return std::nullopt;
       }},
      {prefix + "score_threshold", false,
       [of](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         const auto value = number(texts.front());
         if (!value || *value < 0 || *value > 1) return "a number from 0 to 1";
         of(settings).score_threshold = value;
         return std::nullopt;
       }},
      real(
          prefix + "iou_threshold", [of](auto& s) -> auto& { return of(s).iou_threshold; }, 0, 1),
      whole(
          prefix + "max_boxes", [of](auto& s) -> auto& { return of(s).max_boxes; }, 1, 10'000),
      {prefix + "classes", true,
       [of](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         of(settings).classes = texts;
         return std::nullopt;
       }},
      numbers(
          prefix + "preprocess.mean", [of](auto& s) -> auto& { return of(s).preprocess.mean; }, -1e6),
      numbers(
          prefix + "preprocess.std", [of](auto& s) -> auto& { return of(s).preprocess.std; }, kSmall),
      {prefix + "preprocess.scale", false,
       [of, kSmall](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         const auto value = number(texts.front());
         if (!value || *value < kSmall || *value > 1e6) return fmt::format("a number from {:g} to 1e+06", kSmall);
         of(settings).preprocess.scale = value;
         return std::nullopt;
       }},
      choice(prefix + "preprocess.channels", [of](auto& s) -> auto& { return of(s).preprocess.channels; },
             {"auto", "rgb", "bgr", "gray"}),
      choice(prefix + "preprocess.resize", [of](auto& s) -> auto& { return of(s).preprocess.resize; },
             {"auto", "stretch", "letterbox"}),
      choice(prefix + "preprocess.align", [of](auto& s) -> auto& { return of(s).preprocess.align; },
             {"auto", "center", "top-left"}),
      whole(
          prefix + "preprocess.border", [of](auto& s) -> auto& { return of(s).preprocess.border; }, 0, 255),
      whole(
          prefix + "preprocess.stride", [of](auto& s) -> auto& { return of(s).preprocess.stride; }, 1, 1024),
      {prefix + "preprocess.size", false,
       [of](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         return set_size(texts.front(), of(settings).preprocess.size);
       }},
  };
  keys.insert(keys.end(), added.begin(), added.end());
}

std::vector<Key> make_keys() {
  std::vector<Key> all{
      {"batch_size", false,
       [](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         settings.batch_size = 0;
         if (texts.front() == "auto") return std::nullopt;
         auto fault = whole(
                          "batch_size", [](auto& s) -> auto& { return s.batch_size; }, 1, 4096)
                          .set(texts, settings);
         return fault ? std::optional(*fault + ", or auto") : std::nullopt;
       }},
      real(
          "inference_scale", [](auto& s) -> auto& { return s.inference_scale; }, 0.01, 4),
      whole(
          "inference_queue_size", [](auto& s) -> auto& { return s.inference_queue_size; }, 0, 1'000'000),
      whole(
          "result_queue_size", [](auto& s) -> auto& { return s.result_queue_size; }, 1, 1'000'000),
      real(
          "frame_timeout_ms", [](auto& s) -> auto& { return s.frame_timeout_ms; }, 0, 60'000),
      whole(
          "streams", [](auto& s) -> auto& { return s.streams; }, 0, 64),
      choice("drop", [](auto& s) -> auto& { return s.drop; }, {"auto", "oldest", "newest", "none"}),
      choice("cuda_graphs", [](auto& s) -> auto& { return s.cuda_graphs; }, {"auto", "off"}),
      choice("preprocess.device", [](auto& s) -> auto& { return s.preprocess.device; }, {"auto", "cpu", "gpu"}),
      choice("decode_device", [](auto& s) -> auto& { return s.decode_device; }, {"auto", "cpu", "gpu"}),
      choice("rotate", [](auto& s) -> auto& { return s.rotate; }, {"auto", "0"}),
      {"efficiency", false,
       [](const Texts& texts, StreamSettings& settings) -> std::optional<std::string> {
         if (texts.front() != "true" && texts.front() != "false") return "true or false";
         settings.efficiency = texts.front() == "true";
         return std::nullopt;
       }},
      real(
          "slo_ms", [](auto& s) -> auto& { return s.slo_ms; }, 0, 3'600'000),
      whole(
          "every", [](auto& s) -> auto& { return s.every; }, 1, 1'000'000),
  };
  add_model_keys(
      all, "", [](auto& s) -> auto& { return s; });
  all.push_back(real(
      "crop.margin", [](auto& s) -> auto& { return s.crop.margin; }, 0, 2));
  all.push_back(whole(
      "crop.most", [](auto& s) -> auto& { return s.crop.most; }, 1, 1000));
  all.push_back(whole(
      "crop.batch_size", [](auto& s) -> auto& { return s.crop.batch_size; }, 1, 4096));
  add_model_keys(
      all, "crop.", [](auto& s) -> auto& { return s.crop; });
  return all;
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all = make_keys();
  return all;
}

const Key* find_key(std::string_view name) {
  const auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
  return found == keys().end() ? nullptr : &*found;
}

/// Keys in one mapping, with those of the mappings in it: "preprocess" for "preprocess.mean".
Texts names_in(const std::string& prefix) {
  Texts names;
  for (const auto& key : keys()) {
    if (key.name.rfind(prefix, 0) != 0) continue;
    auto rest = key.name.substr(prefix.size());
    rest.resize(std::min(rest.size(), rest.find('.')));
    if (std::find(names.begin(), names.end(), rest) == names.end()) names.push_back(std::move(rest));
  }
  return names;
}

bool is_mapping(const std::string& name) {
  return std::any_of(keys().begin(), keys().end(), [&](const Key& key) { return key.name.rfind(name + ".", 0) == 0; });
}

class StreamReader {
 public:
  StreamReader(const YamlTree& tree, std::string_view file_name) : tree_(tree), file_(file_name) {}

  Result<StreamSettings> read() {
    if (tree_.documents.empty()) return settings_;
    const int root = tree_.resolved(tree_.documents.front().root);
    if (tree_.at(root).kind != YamlKind::mapping) return settings_;
    const int section = tree_.find(root, "stream");
    if (section >= 0) RL_TRY(read_mapping(tree_.resolved(section), ""));
    return settings_;
  }

 private:
  template <typename... Args>
  base::Fault bad(int node, fmt::format_string<Args...> format, Args&&... args) const {
    return base::fail(ErrorCode::invalid_argument, "{}:{}:{}: {}", file_, tree_.at(node).line, tree_.at(node).column,
                      fmt::format(format, std::forward<Args>(args)...));
  }

  /// "stream.preprocess" for "preprocess."
  static std::string section_of(const std::string& prefix) {
    auto name = "stream." + prefix;
    name.pop_back();
    return name;
  }

  Result<void> read_mapping(int node, const std::string& prefix) {
    const auto& mapping = tree_.at(node);
    if (is_null(mapping)) return {};
    const auto what = section_of(prefix);
    if (mapping.kind != YamlKind::mapping) return bad(node, "{}: expected a mapping of settings", what);
    for (std::size_t i = 0; i < mapping.children.size(); i += 2)
      RL_TRY(read_pair(mapping.children[i], tree_.resolved(mapping.children[i + 1]), prefix));
    return {};
  }

  Result<void> read_pair(int key_node, int node, const std::string& prefix) {
    const auto name = prefix + tree_.at(key_node).value;
    if (is_mapping(name)) return read_mapping(node, name + ".");
    const auto* key = find_key(name);
    if (key == nullptr) {
      const auto names = names_in(prefix);
      return bad(key_node, "unknown key \"{}\" in {}; expected {}", tree_.at(key_node).value, section_of(prefix),
                 fmt::join(names, ", "))
          .hint("{}", schema::suggest(tree_.at(key_node).value, names));
    }
    Texts texts;
    const auto& value = tree_.at(node);
    if (value.kind == YamlKind::sequence && key->is_list) {
      for (const int item : value.children) texts.push_back(tree_.at(tree_.resolved(item)).value);
    } else if (value.kind == YamlKind::scalar && !is_null(value)) {
      texts.push_back(value.value);
    }
    if (texts.empty()) return bad(node, "stream.{}: expected {}", name, key->is_list ? "a list" : "a value");
    if (const auto expected = key->set(texts, settings_))
      return bad(node, "stream.{}: {}; expected {}", name, fmt::join(texts, ", "), *expected);
    return {};
  }

  const YamlTree& tree_;
  std::string_view file_;
  StreamSettings settings_;
};

}  // namespace

Result<StreamSettings> read_stream_section(std::string_view yaml, std::string_view file_name) {
  RL_TRY_ASSIGN(const auto tree, parse_yaml(yaml, file_name));
  return StreamReader(tree, file_name).read();
}

Result<void> set_stream_setting(StreamSettings& settings, std::string_view name, std::string_view value) {
  const auto* key = find_key(name);
  if (key == nullptr) {
    return base::fail(ErrorCode::invalid_argument, "{}: no such setting of a stream", name)
        .hint("{}", schema::suggest(name, stream_setting_names()));
  }
  Texts texts{std::string(value)};
  if (key->is_list) texts = base::split(value, ',');
  if (const auto expected = key->set(texts, settings))
    return base::fail(ErrorCode::invalid_argument, "{}={}: expected {}", name, value, *expected);
  return {};
}

std::vector<std::string> stream_setting_words(std::string_view name) {
  const auto* key = find_key(name);
  return key == nullptr ? Texts() : key->words;
}

std::vector<std::string> stream_setting_names() {
  Texts names;
  for (const auto& key : keys()) names.push_back(key.name);
  return names;
}

}  // namespace ridgeline::config
