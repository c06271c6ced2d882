// SPDX-License-Identifier: Apache-2.0
#include "python_stack.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_set>

namespace ridgeline::inject {
namespace {

constexpr std::uintptr_t kTags = 7;  // Python 3.14 marks references in their lowest bits
constexpr std::int64_t kObjectType = 8;
constexpr std::string_view kTriton = "-packages/triton/";  // launches what the program calls, as torch does

template <typename Value>
Value at(std::uintptr_t address, std::int64_t offset) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const char*>(address) + offset, sizeof value);
  return value;
}

bool starts(std::string_view file, const std::vector<std::string>& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& one) { return file.starts_with(one); });
}

/// One object for each text, which is never freed: threads of the program may run until the very end.
const std::string* kept(std::string text) {
  static auto* mutex = new std::mutex;
  static auto* texts = new std::unordered_set<std::string>;
  const std::lock_guard lock(*mutex);
  return &*texts->insert(std::move(text)).first;
}

}  // namespace

const std::string* PythonStack::line() {
  const auto thread = state_of_thread(layout_);
  if (thread == 0) return nullptr;
  auto frame = at<Address>(thread, layout_.thread_frame);
  if (frame != 0 && layout_.holder_frame >= 0) frame = at<Address>(frame, layout_.holder_frame);
  bool compiled = false;
  for (int i = 0; i < kMostFrames && frame != 0; ++i, frame = at<Address>(frame, layout_.frame_previous)) {
    const auto code = at<Address>(frame, layout_.frame_code) & ~kTags;
    if (code == 0) continue;
    const auto kind = kind_of(code);
    if (kind == Kind::compiled) compiled = true;
    if (kind == Kind::enters_compiled) compiled = false;
    if (kind == Kind::wanted && !compiled) return text_of(code, frame);
  }
  return nullptr;
}

PythonStack::Kind PythonStack::kind_of(Address code) {
  auto& known = kinds_[(code >> 5U) % kKnownKinds];
  const auto file = at<Address>(code, layout_.code_file);
  if (known.code == code && known.file == file) return known.kind;
  if (at<std::int64_t>(code, kObjectType) != layout_.code_type) return Kind::left_out;
  known = {code, file, kind_of_file(text(file))};
  return known.kind;
}

PythonStack::Kind PythonStack::kind_of_file(std::string_view file) const {
  if (!files_.torch.empty() && file.starts_with(files_.torch)) {
    const auto part = file.substr(files_.torch.size());
    if (part == "_dynamo/eval_frame.py") return Kind::enters_compiled;
    return part.starts_with("_inductor/") || part.starts_with("_functorch/") ? Kind::compiled : Kind::left_out;
  }
  if (file.find("/torchinductor_") != std::string_view::npos) return Kind::compiled;
  if (file.empty()) return Kind::wanted;  // it may be the program's: nothing is known of its lines
  // "<string>" names no file, as its caller does.
  if (!file.ends_with(".py") || starts(file, files_.left_out)) return Kind::left_out;
  if (file.find(kTriton) != std::string_view::npos) return Kind::left_out;
  if (file.find("-packages/") != std::string_view::npos) return Kind::wanted;
  return starts(file, files_.libraries) ? Kind::left_out : Kind::wanted;
}

std::int64_t PythonStack::place_of(Address code, Address frame) const {
  if (layout_.instruction_unit != 0)
    return at<std::int32_t>(frame, layout_.frame_instruction) * layout_.instruction_unit;
  return static_cast<std::int64_t>(at<Address>(frame, layout_.frame_instruction) - code) - layout_.code_first;
}

const std::string* PythonStack::text_of(Address code, Address frame) {
  const auto file = text(at<Address>(code, layout_.code_file));
  const auto name = text(at<Address>(code, layout_.code_name));
  const auto lines = bytes(at<Address>(code, layout_.code_lines));
  const auto first_line = at<int>(code, layout_.code_first_line);
  const auto place = place_of(code, frame);
  if (file.empty() || name.empty() || place < 0) return nullptr;
  auto& known = places_[((code >> 5U) ^ static_cast<std::uint64_t>(place)) % kKnownPlaces];
  if (known.code == code && known.place == place && known.first_line == first_line && known.lines == lines &&
      known.file == file && known.name == name)
    return known.text;
  known = {code, place, first_line, std::string(file), std::string(name), std::string(lines), nullptr};
  known.text = make_text(known);
  return known.text;
}

const std::string* PythonStack::make_text(const Known& known) const {
  const auto line =
      reinterpret_cast<int (*)(Address, int)>(layout_.line_of_code)(known.code, static_cast<int>(known.place));
  if (line <= 0) return nullptr;
  return kept(std::string(shortened(known.file)) + "(" + std::to_string(line) + "): " + known.name);
}

std::string_view PythonStack::shortened(std::string_view file) const {
  std::size_t most = 0;
  for (const auto& folder : files_.shortened)
    if (file.starts_with(folder)) most = std::max(most, folder.size());
  return file.substr(most);
}

std::string_view PythonStack::text(Address object) const {
  if (object == 0 || (at<std::uint32_t>(object, layout_.text_state) & layout_.text_is_ascii) != layout_.text_is_ascii)
    return {};
  return {reinterpret_cast<const char*>(object) + layout_.text_first, at<std::size_t>(object, layout_.text_length)};
}

std::string_view PythonStack::bytes(Address object) const {
  if (object == 0) return {};
  return {reinterpret_cast<const char*>(object) + layout_.bytes_first, at<std::size_t>(object, layout_.text_length)};
}

}  // namespace ridgeline::inject
