// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/dim_role.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace ridgeline::workload {
namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Words of letters: "img_H2" -> {"img", "h"}.
std::set<std::string> words_of(const std::string& lower) {
  std::set<std::string> words;
  std::string word;
  for (const char c : lower + " ") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

bool any_of(const std::set<std::string>& words, std::initializer_list<const char*> wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const char* word) { return words.count(word) != 0; });
}

}  // namespace

DimRole role_of_dim_name(std::string_view name) {
  std::string lower(name);
  for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (contains(lower, "dynamicdimension") || contains(lower, "unk_") || contains(lower, "dynamic_axes"))
    return DimRole::unknown;
  const auto words = words_of(lower);
  if (contains(lower, "past") || contains(lower, "kv_len")) return DimRole::past;
  if (contains(lower, "batch") || any_of(words, {"n", "b", "bs", "bsz"})) return DimRole::batch;
  if (contains(lower, "height") || any_of(words, {"h", "rows"})) return DimRole::height;
  if (contains(lower, "width") || any_of(words, {"w", "cols"})) return DimRole::width;
  if (contains(lower, "channel") || any_of(words, {"c", "ch"})) return DimRole::channels;
  if (contains(lower, "sample") || contains(lower, "audio") || contains(lower, "wave")) return DimRole::samples;
  if (contains(lower, "frame")) return DimRole::frames;
  if (contains(lower, "seq") || contains(lower, "token") || contains(lower, "length") || contains(lower, "time") ||
      any_of(words, {"len", "s", "t", "l", "ctx", "context", "text", "steps"}))
    return DimRole::sequence;
  return DimRole::unknown;
}

std::optional<std::size_t> dynamic_batch_axis(const schema::TensorDescription& tensor) {
  for (std::size_t axis = 0; axis < tensor.dims.size(); ++axis)
    if (tensor.dims[axis] < 0 && role_of_dim_name(tensor.dim_names[axis]) == DimRole::batch) return axis;
  if (tensor.dims.empty() || tensor.dims[0] >= 0) return std::nullopt;
  if (role_of_dim_name(tensor.dim_names[0]) != DimRole::unknown) return std::nullopt;
  return 0;
}

schema::ShapeSet with_batch(const std::vector<schema::TensorDescription>& inputs, schema::ShapeSet shapes,
                            std::int64_t batch) {
  for (auto& shape : shapes) {
    const auto input =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& one) { return one.name == shape.name; });
    if (input == inputs.end()) continue;
    if (const auto axis = dynamic_batch_axis(*input); axis && *axis < shape.dims.size()) shape.dims[*axis] = batch;
  }
  return shapes;
}

}  // namespace ridgeline::workload
