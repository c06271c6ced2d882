// SPDX-License-Identifier: Apache-2.0
#include "trace/import/snapshot_frames.hpp"

#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/export/clean_text.hpp"
#include "trace/import/message_text.hpp"
#include "trace/torch_files.hpp"

namespace ridgeline::trace {
namespace {

constexpr std::size_t kMostNameBytes = 200;
constexpr std::string_view kBackward = "backward: ";

bool is_of_user(std::string_view file) {
  // Frames of C++ are of libraries and of sources, or of "??".
  const bool is_python = file.ends_with(".py") || file.starts_with("<");
  return is_python && !is_of_torch(file);
}

/// "MmBackward0", of "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)".
std::string_view autograd_node(std::string_view function) {
  const auto end = function.find("::apply(");
  if (end == std::string_view::npos || !function.starts_with("torch::autograd::")) return {};
  function = function.substr(0, end);
  const auto node = function.substr(function.rfind("::") + 2);
  return node == "PyNode" ? std::string_view() : node;  // of any function in Python
}

}  // namespace

SnapshotFrames::SnapshotFrames(PickleReader& pickle, StringTable& places)
    : pickle_(pickle),
      places_(places),
      file_(pickle.name("filename")),
      line_(pickle.name("line")),
      name_(pickle.name("name")) {}

NameId SnapshotFrames::place_of(PickleValue frames) {
  if (const auto* known = pickle_.nodes.replacement(frames)) return *known;
  const auto* list = pickle_.nodes.find(frames);
  if (list == nullptr || frames.kind != PickleKind::list) return 0;
  NameId place = 0;
  for (std::size_t i = 0; (place == 0 || is_backward(place)) && i < list->size(); ++i)
    if (const auto next = place_of_frame((*list)[i]); next != 0 && (place == 0 || !is_backward(next))) place = next;
  pickle_.nodes.replace(frames, place);
  return place;
}

bool SnapshotFrames::is_backward(NameId place) const { return places_.text(place).starts_with(kBackward); }

NameId SnapshotFrames::place_of_frame(PickleValue frame) {
  if (frame.kind != PickleKind::dictionary) return 0;
  if (const auto* known = pickle_.nodes.replacement(frame)) return *known;
  const auto* fields = pickle_.nodes.find(frame);
  if (fields == nullptr) return 0;
  std::string_view file;
  std::string_view name;
  std::int64_t line = 0;
  const auto text = [&](PickleValue value) {
    return value.kind == PickleKind::text ? pickle_.strings.text(static_cast<NameId>(value.bits)) : std::string_view();
  };
  for (std::size_t i = 0; i + 1 < fields->size(); i += 2) {
    const auto key = (*fields)[i];
    const auto value = (*fields)[i + 1];
    if (key.is_text(file_))
      file = text(value);
    else if (key.is_text(name_))
      name = text(value);
    else if (key.is_text(line_))
      line = value.integer_or(0);
  }
  NameId place = 0;
  const auto called = [&](const std::string& what) {
    std::string room;
    return places_.id(message_text(clean_text(what, room)));
  };
  if (is_of_user(file))
    place = called(fmt::format("{}({}): {}", base::file_name(file).substr(0, kMostNameBytes), line,
                               name.substr(0, kMostNameBytes)));
  else if (const auto node = autograd_node(name); !node.empty())
    place = called(fmt::format("{}{}", kBackward, node.substr(0, kMostNameBytes)));
  pickle_.nodes.replace(frame, place);
  return place;
}

}  // namespace ridgeline::trace
