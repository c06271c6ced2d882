// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ridgeline::trace {

/// Reads the events of a Chrome trace (an array of objects, or an object whose key `traceEvents` is one) from a plain
/// or gzip file, in batches of a few megabytes, so that memory does not grow with the file. What follows a cut is lost,
/// what lies before it is not; an event that is damaged takes no other along: one that begins within what looks like a
/// string shows that a quote before it is missing or too many.
class JsonEvents {
 public:
  /// Errors: io; unsupported where the file is no such trace.
  [[nodiscard]] static base::Result<JsonEvents> open(const std::string& path);
  ~JsonEvents();
  JsonEvents(JsonEvents&&) noexcept;
  JsonEvents& operator=(JsonEvents&&) = delete;

  /// A JSON array of whole events, with room for simdjson behind it; valid until the next call. nullopt: there are no
  /// more. Errors: corrupt where one event has more than 64 MiB.
  [[nodiscard]] base::Result<std::optional<std::string_view>> next();
  /// The next object of a batch from position `at` on, which moves behind it; "" where there is none.
  [[nodiscard]] static std::string_view next_object(std::string_view batch, std::size_t& at);
  /// Of that many bytes behind a batch simdjson may read.
  [[nodiscard]] static std::size_t padding() noexcept;

  /// Whether next() has to look into the file for an answer, rather than that there are no more.
  [[nodiscard]] bool may_have_more() const noexcept { return in_events_; }

  /// Values beside the events, as JSON text: of those keys that were asked for (kKept). Complete after the last batch.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& others() const noexcept { return others_; }
  /// The file ends within its events.
  [[nodiscard]] bool cut_off() const noexcept { return cut_off_; }
  /// Events that lack a bracket or a quote, so that they end where the next begins.
  [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }
  /// Brackets between events that belong to none.
  [[nodiscard]] std::size_t put_right() const noexcept { return put_right_; }
  /// Commas at the seams of batches that are missing or too many.
  [[nodiscard]] std::size_t commas() const noexcept { return commas_; }
  /// What lies before or behind the events is no JSON, so that others() may lack some.
  [[nodiscard]] bool others_damaged() const noexcept { return others_damaged_; }
  /// Lists of events, of which a file has one.
  [[nodiscard]] std::size_t lists() const noexcept { return lists_; }
  /// Bytes behind the end of the trace, which are not read, from the first that is no white space on.
  [[nodiscard]] std::uint64_t bytes_behind() const noexcept { return bytes_behind_; }
  /// They look like JSON, too.
  [[nodiscard]] bool json_behind() const noexcept { return json_behind_; }

 private:
  struct File;
  explicit JsonEvents(std::unique_ptr<File> file);
  /// More bytes behind end_; what lies before `keep` may go, and positions move by what went. False at the end.
  bool refill(std::size_t& keep);
  /// The next byte that is no white space, not taken; -1 at the end.
  int peek();
  /// Whether the bytes behind `at` do not tell whether an event begins there.
  [[nodiscard]] bool waits_at(std::size_t at) const;
  /// Makes blanks of an event.
  void leave_out(std::size_t begin, std::size_t end);
  /// Reads the keys behind the events, or goes on with the events where more follow.
  void go_on_behind_events();
  /// Up to the value of traceEvents, or to the end. False where there is none.
  bool skip_to_events();
  /// The same from the file's begin on, by the key alone, whatever lies before it.
  bool find_events();
  /// Of what lies behind the end of the trace.
  void count_behind();
  [[nodiscard]] std::optional<std::string> read_string();
  /// Reads over a value; its text where it is to be kept.
  bool skip_value(std::string* text);

  std::unique_ptr<File> file_;
  std::string path_;
  std::size_t read_bytes_ = 0;  ///< at once
  std::vector<char> bytes_;
  std::size_t at_ = 1;       ///< next byte; one before it is ours
  std::size_t end_ = 1;      ///< behind the last byte that was read
  std::vector<char> last_;   ///< the last batch
  std::size_t patched_ = 0;  ///< where a bracket stands in place of patched_byte_; 0: nowhere
  char patched_byte_ = 0;
  bool in_events_ = false;
  bool is_array_ = false;  ///< the file as a whole
  bool cut_off_ = false;
  std::size_t left_out_ = 0;
  std::size_t put_right_ = 0;
  std::size_t commas_ = 0;
  std::size_t lists_ = 0;
  bool list_begins_ = true;  ///< no comma belongs before the next event
  bool others_damaged_ = false;
  bool json_behind_ = false;
  std::uint64_t bytes_behind_ = 0;
  std::map<std::string, std::string, std::less<>> others_;
};

}  // namespace ridgeline::trace
