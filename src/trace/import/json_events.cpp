// SPDX-License-Identifier: Apache-2.0
#include "trace/import/json_events.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <simdjson.h>

#include "trace/import/bracket_scan.hpp"
#include "trace/import/json_damage.hpp"

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kLeastReadBytes = 1 << 13;
constexpr std::size_t kMostReadBytes = 1 << 20;
constexpr std::size_t kBatchBytes = 4 << 20;
constexpr std::size_t kMostEventBytes = 64 << 20;
constexpr std::size_t kMostOtherBytes = 4 << 20;
constexpr int kEnd = -1;
constexpr std::string_view kEventsKey = "traceEvents";
constexpr std::array<std::string_view, 2> kKept{"deviceProperties", "baseTimeNanoseconds"};

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/// Bytes needed after a bracket to see whether it begins an event.
constexpr std::size_t kKeyBytes = 64;

/// The last byte before `at` that is no white space.
char byte_before(const char* bytes, std::size_t at) {
  do --at;
  while (at > 0 && is_space(bytes[at]));
  return bytes[at];
}

bool is_behind_event(const char* bytes, std::size_t at) {
  const char before = byte_before(bytes, at);
  return before == ',' || before == '}';
}

/// Where the list of events ends, if the last one, which begins at `event`, lacks a quote or a bracket: the bracket is
/// within what looks like a string, or closes nothing of the event; npos: nowhere.
std::size_t hidden_end(std::string_view text, std::size_t event, bool is_array) {
  const auto behind_blanks = [&](std::size_t at) {
    while (at < text.size() && is_space(text[at])) ++at;
    return at;
  };
  const auto ends_list = [&](std::size_t at) {
    if (text[at] != ']' || byte_before(text.data(), at) != '}') return false;
    const auto behind = behind_blanks(at + 1);
    if (behind == text.size()) return is_array;
    const auto key = behind_blanks(behind + 1);
    return text[behind] == '}' || (text[behind] == ',' && key < text.size() && text[key] == '"');
  };
  BracketScan scan;
  Brackets open;
  for (auto at = event; at < text.size();) {
    const auto block = scan.next(text.data() + at, text.size() - at);
    for (auto left = block.brackets | block.in_strings; left != 0; left &= left - 1) {
      const auto place = at + static_cast<std::size_t>(std::countr_zero(left));
      const char c = text[place];
      const bool is_hidden = (block.in_strings & left & (~left + 1)) != 0;
      if (c == ']' && (is_hidden || open.in_object()) && ends_list(place)) return place;
      if (is_hidden) continue;
      if (c == '{' || c == '[')
        open.open(c == '[');
      else if (open.any())
        (void)open.close(c == ']');
    }
    at += block.size;
  }
  return std::string_view::npos;
}

}  // namespace

struct JsonEvents::File {
  gzFile handle = nullptr;
  bool ended = false;
  ~File() {
    if (handle != nullptr) ::gzclose(handle);
  }
};

JsonEvents::JsonEvents(std::unique_ptr<File> file) : file_(std::move(file)) { bytes_.resize(1 + padding()); }
JsonEvents::~JsonEvents() = default;
JsonEvents::JsonEvents(JsonEvents&&) noexcept = default;

std::size_t JsonEvents::padding() noexcept { return simdjson::SIMDJSON_PADDING; }

std::string_view JsonEvents::next_object(std::string_view batch, std::size_t& at) {
  at = batch.find('{', at);
  const std::size_t begin = at;
  Brackets open;
  while (at < batch.size()) {
    const char c = batch[at++];
    if (c == '"')
      at = std::min(behind_string(batch.data(), at, batch.size()), batch.size());
    else if (c == '{' || c == '[')
      open.open(c == '[');
    else if ((c == '}' || c == ']') && open.close(c == ']'))
      return batch.substr(begin, at - begin);
  }
  at = batch.size();
  return {};
}

Result<JsonEvents> JsonEvents::open(const std::string& path) {
  auto file = std::make_unique<File>();
  errno = 0;
  file->handle = ::gzopen(path.c_str(), "rb");
  if (file->handle == nullptr)
    return base::fail(ErrorCode::io, "{}: {}", path, std::error_code(errno, std::generic_category()).message());
  // A small file gets along with small buffers, which take longer to make than it takes to read.
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const auto read_bytes = std::clamp<std::uintmax_t>(ignored ? 0 : size, kLeastReadBytes, kMostReadBytes);
  ::gzbuffer(file->handle, static_cast<unsigned>(read_bytes));
  JsonEvents events(std::move(file));
  events.path_ = path;
  events.read_bytes_ = static_cast<std::size_t>(read_bytes);
  int first = events.peek();
  if (std::string_view(events.bytes_.data() + events.at_, events.end_ - events.at_).starts_with(kByteOrderMark)) {
    events.at_ += kByteOrderMark.size();
    first = events.peek();
  }
  if (first == '[') {
    events.is_array_ = events.in_events_ = true;
    events.lists_ = 1;
    ++events.at_;
    return events;
  }
  if (first != '{')
    return base::fail(ErrorCode::unsupported, "{}: {}; expected a trace of the PyTorch profiler or of Chrome (JSON)",
                      path, first == kEnd ? "empty" : "not JSON");
  ++events.at_;
  if (!events.skip_to_events() && !events.find_events())
    return base::fail(ErrorCode::unsupported,
                      "{}: no traceEvents; expected a trace of the PyTorch profiler or of Chrome", path);
  return events;
}

bool JsonEvents::refill(std::size_t& keep) {
  if (file_->ended) return false;
  if (keep > 1) {
    const std::size_t gone = keep - 1;
    std::memmove(bytes_.data() + 1, bytes_.data() + keep, end_ - keep);
    end_ -= gone;
    at_ -= std::min(gone, at_ - 1);
    keep = 1;
  }
  if (bytes_.size() < end_ + read_bytes_ + padding()) bytes_.resize(end_ + read_bytes_ + padding());
  const int got = ::gzread(file_->handle, bytes_.data() + end_, static_cast<unsigned>(read_bytes_));
  if (got <= 0) {
    file_->ended = true;
    return false;
  }
  end_ += static_cast<std::size_t>(got);
  return true;
}

int JsonEvents::peek() {
  for (;;) {
    while (at_ < end_ && is_space(bytes_[at_])) ++at_;
    if (at_ < end_) return static_cast<unsigned char>(bytes_[at_]);
    std::size_t keep = at_;
    if (!refill(keep)) return kEnd;
  }
}

std::optional<std::string> JsonEvents::read_string() {
  if (peek() != '"') return std::nullopt;
  std::size_t begin = at_ + 1;
  for (;;) {
    if (const auto behind = behind_string(bytes_.data(), begin, end_); behind != std::string_view::npos) {
      at_ = behind;
      return std::string(bytes_.data() + begin, behind - 1 - begin);
    }
    std::size_t keep = begin;
    if (end_ - begin > kMostOtherBytes || !refill(keep)) return std::nullopt;
    begin = keep;
  }
}

bool JsonEvents::skip_value(std::string* text) {
  int depth = 0;
  bool begun = false;
  if (peek() == kEnd) return false;
  for (;;) {
    if (at_ >= end_) {
      std::size_t keep = at_;
      if (!refill(keep)) return false;
      continue;
    }
    const char c = bytes_[at_];
    if (c == '"') {
      auto found = read_string();
      if (!found) return false;
      if (text != nullptr && text->size() < kMostOtherBytes) *text += '"' + *found + '"';
      begun = true;
      if (depth == 0) return true;
      continue;
    }
    if (depth == 0 && begun && (c == ',' || c == '}' || c == ']' || is_space(c))) return true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (text != nullptr && text->size() < kMostOtherBytes) *text += c;
    ++at_;
    begun = true;
    if (depth == 0 && (c == '}' || c == ']')) return true;
  }
}

bool JsonEvents::skip_to_events() {
  for (;;) {
    const int c = peek();
    if (c == ',') {
      ++at_;
      continue;
    }
    if (c != '"') return false;
    const auto key = read_string();
    if (!key || peek() != ':') return false;
    ++at_;
    if (*key == kEventsKey && peek() == '[') {
      ++at_;
      ++lists_;
      in_events_ = list_begins_ = true;
      return true;
    }
    const bool keep = std::find(kKept.begin(), kKept.end(), *key) != kKept.end();
    std::string text;
    if (!skip_value(keep ? &text : nullptr)) {
      others_damaged_ = true;
      at_ = end_;
      return false;
    }
    if (keep) others_[*key] = std::move(text);
  }
}

bool JsonEvents::find_events() {
  if (::gzrewind(file_->handle) != 0) return false;
  file_->ended = false;
  at_ = end_ = 1;
  const std::string key = fmt::format("\"{}\"", kEventsKey);
  std::erase_if(others_, [&](const auto& other) { return other.second.find(key) != std::string::npos; });
  for (std::size_t from = 1;;) {
    const std::string_view text(bytes_.data(), end_);
    const auto found = text.find(key, from);
    if (found == std::string_view::npos) {
      std::size_t keep = std::max(from, end_ - std::min(end_ - 1, key.size()));
      if (!refill(keep)) return false;
      from = keep;
      continue;
    }
    at_ = found + key.size();
    if (peek() == ':') {
      ++at_;
      if (peek() == '[') break;
    }
    from = at_;
  }
  ++at_;
  lists_ = 1;
  return in_events_ = others_damaged_ = true;
}

void JsonEvents::count_behind() {
  const int first = peek();
  if (first == kEnd) return;
  json_behind_ = first == '{' || first == '[';
  do bytes_behind_ += end_ - std::exchange(at_, end_);
  while (peek() != kEnd);
}

bool JsonEvents::waits_at(std::size_t at) const { return end_ - at < kKeyBytes && !file_->ended; }

void JsonEvents::leave_out(std::size_t begin, std::size_t end) {
  std::memset(bytes_.data() + begin, ' ', end - begin);
  ++left_out_;
}

void JsonEvents::go_on_behind_events() {
  if (peek() == ',') {
    ++at_;
    in_events_ = peek() == '{';  // the list was closed too early
  }
  if (in_events_) {
    list_begins_ = true;
    ++put_right_;
    return;
  }
  if (!is_array_) {
    if (skip_to_events()) return;
    if (peek() == '}') ++at_;
  }
  count_behind();
}

Result<std::optional<std::string_view>> JsonEvents::next() {
  if (patched_ != 0) bytes_[std::exchange(patched_, 0)] = patched_byte_;
  while (in_events_) {
    std::size_t commas = 0;
    int first = peek();
    for (; first == ','; first = peek()) {
      ++at_;
      ++commas;
    }
    const std::size_t expected = std::exchange(list_begins_, false) || first == ']' || first == kEnd ? 0 : 1;
    commas_ += first != kEnd && commas != expected ? 1U : 0U;
    std::size_t begin = at_;
    std::size_t scanned = begin;
    std::size_t whole = begin;  // behind the last event that is complete
    std::size_t event = begin;  // where the one that is not begins
    Brackets open;
    BracketScan scan;
    bool closed = false;
    const auto text = [&] { return std::string_view(bytes_.data(), end_); };
    while (!closed) {
      bool waits = false;      // for bytes behind a bracket
      bool in_string = false;  // what it is in
      while (scanned < end_ && !closed && !waits) {
        const auto block = scan.next(bytes_.data() + scanned, end_ - scanned);
        auto behind = scanned + block.size;
        auto brackets = block.brackets;
        std::size_t resumed = std::string_view::npos;  // at an event within what looks like a string
        for (auto left = block.in_strings; left != 0; left &= left - 1) {
          const auto bit = static_cast<unsigned>(std::countr_zero(left));
          const auto at = scanned + bit;
          if (bytes_[at] != '{' || !is_behind_event(bytes_.data(), at) || (!waits_at(at) && !begins_event(text(), at)))
            continue;
          brackets &= (std::uint64_t{1} << bit) - 1;
          waits = in_string = waits_at(at);
          resumed = behind = at;
          break;
        }
        for (auto left = brackets; left != 0; left &= left - 1) {
          const auto at = scanned + static_cast<std::size_t>(std::countr_zero(left));
          const char c = bytes_[at];
          if (c == '{' || c == '[') {
            if (!open.any()) event = at;
            // Values of an object follow a colon: this one is the next event, and the one before has no end.
            if (c == '{' && open.in_object() && byte_before(bytes_.data(), at) != ':') {
              if (waits_at(at)) {
                waits = true;
                in_string = false;
                behind = at;
                break;
              }
              if (begins_event(text(), at)) {
                leave_out(event, at);
                event = at;
                open = {};
              }
            }
            open.open(c == '[');
          } else if (open.any()) {
            if (open.close(c == ']')) whole = at + 1;
          } else if (c == '}') {
            bytes_[at] = ' ';  // one too many
            ++put_right_;
          } else {
            closed = true;
            behind = at;
            break;
          }
        }
        if (resumed != std::string_view::npos && !closed && !waits) {
          if (open.any()) {
            leave_out(event, resumed);
          } else {
            std::memset(bytes_.data() + whole, ' ', resumed - whole);
            if (whole > begin) bytes_[whole] = ',';
            ++put_right_;
          }
          event = resumed;
          open = {};
          scan.restart();
        }
        if (closed || waits) scan.restart(waits && in_string);
        scanned = behind;
      }
      if (closed || whole - begin >= kBatchBytes) break;
      const bool too_long = end_ - whole > kMostEventBytes;
      const std::size_t before = begin;
      const bool has_more = !too_long && refill(begin);
      const std::size_t moved = before - begin;
      scanned -= moved;
      whole -= moved;
      event -= moved;
      if (has_more || (waits && !too_long)) continue;
      // The event that has no end may be one that lacks a quote or a bracket.
      auto next = open.any() || too_long ? next_event(text(), event + 1) : std::string_view::npos;
      if (const auto list_end = too_long ? next : hidden_end(text(), event, is_array_); list_end < next) {
        next = list_end;
        whole = std::min(whole, event);
      }
      if (next == std::string_view::npos && too_long)
        return base::fail(ErrorCode::corrupt, "{}: an event has more than {} MiB", path_, kMostEventBytes >> 20);
      if (next == std::string_view::npos) {
        cut_off_ = true;
        break;
      }
      leave_out(event, next);
      scanned = event = next;
      open = {};
      scan.restart();
    }
    const std::size_t end = whole;
    if (closed || cut_off_) in_events_ = false;
    at_ = closed ? scanned + 1 : end;
    if (end > begin) {
      if (closed) {
        // Keys behind the events are read first: what is patched below has to stay until the next call.
        // They may move the bytes, so the batch is copied out only in this one, last case.
        const std::size_t size = end - begin + 2;
        last_.assign(size + padding(), '\0');
        last_[0] = '[';
        std::copy_n(bytes_.data() + begin, end - begin, last_.data() + 1);
        last_[size - 1] = ']';
        go_on_behind_events();
        return std::string_view(last_.data(), size);
      }
      bytes_[begin - 1] = '[';
      patched_ = end;
      patched_byte_ = bytes_[end];
      bytes_[end] = ']';
      return std::string_view(bytes_.data() + begin - 1, end - begin + 2);
    }
    if (closed) go_on_behind_events();
  }
  return std::optional<std::string_view>();
}

}  // namespace ridgeline::trace
