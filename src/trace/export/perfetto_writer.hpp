// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/export/output_file.hpp"
#include "trace/export/slice.hpp"

namespace ridgeline::trace {

/// A track of Perfetto's timeline.
struct PerfettoTrack {
  std::string name;          ///< "": the viewer's own, as for threads
  std::uint64_t parent = 0;  ///< uuid; 0: none
  std::int32_t process = 0;  ///< with a thread: of that; alone: the track is a process; 0: neither
  std::int32_t thread = 0;
  std::int32_t rank = 0;  ///< among the tracks of its parent
  bool has_ranked_children = false;
  bool counts_bytes = false;  ///< the track is a counter, of count() alone
  std::string unit;           ///< likewise, of something else; "": no counter
};

/// What a slice tells besides its name and its time.
enum class PerfettoArgument : std::uint8_t {
  grid,
  block,
  registers_per_thread,
  shared_bytes,
  graph_node,
  bytes,
  operation,
  provider,
  activation_bytes,
  parameter_bytes,
  output_bytes,
};
inline constexpr std::size_t kPerfettoArguments = 11;

/// Writes packets of Perfetto's protobuf format (protos/perfetto/trace/trace_packet.proto). Each track has a packet
/// sequence of its own, with the track as its default, an incremental clock, and each text once. To be called in this
/// order: add_track, then of that track begin_slice and end_slice, or count, by time.
class PerfettoWriter {
 public:
  /// Both must outlive the object. `zero_ns`: no time comes before it; if negative, it is the zero of the file.
  PerfettoWriter(OutputFile& file, const StringTable& strings, std::int64_t zero_ns);

  /// Its uuid.
  std::uint64_t add_track(const PerfettoTrack& track);

  /// Arguments of the slice that is to begin next.
  void add_number(PerfettoArgument name, std::int64_t value);
  void add_text(PerfettoArgument name, NameId value);
  void add_extent(PerfettoArgument name, const Dim3& value);
  /// `begun`: flows that begin with this slice; `ended`: the one that ends with it; 0: none.
  void begin_slice(std::int64_t at_ns, NameId name, SliceCategory category, std::span<const std::uint32_t> begun,
                   std::uint32_t ended);
  /// The innermost open one.
  void end_slice(std::int64_t at_ns);
  /// What a counter has from then on.
  void count(std::int64_t at_ns, std::int64_t value);

 private:
  struct DimHash {
    std::size_t operator()(const Dim3& dim) const noexcept;
  };

  void begin_sequence(std::uint64_t track);
  void forget_texts();
  [[nodiscard]] std::uint32_t name_iid(NameId name);
  [[nodiscard]] std::uint32_t text_iid(std::uint32_t& place, std::string_view text);
  void add_interned(std::uint32_t field, std::uint32_t iid, std::string_view text);
  std::uint32_t argument_iid(PerfettoArgument name);
  void add_text_iid(PerfettoArgument name, std::uint32_t iid);
  void write_event(std::int64_t at_ns);
  void write_packet();

  OutputFile& file_;
  const StringTable& strings_;
  std::int64_t zero_ns_;
  std::int64_t first_ns_;     ///< from zero_ns_
  std::int64_t now_ns_ = 0;   ///< of the sequence, from zero_ns_
  std::uint64_t tracks_ = 0;  ///< whose uuids and sequences are numbered from 1

  // What the sequence knows: numbers of texts, 0 where it has not seen one.
  std::vector<std::uint32_t> names_;
  std::vector<NameId> known_names_;
  std::uint32_t categories_[kSliceCategories]{};
  std::uint32_t arguments_[kPerfettoArguments]{};
  std::unordered_map<Dim3, std::uint32_t, DimHash> extents_;
  std::unordered_map<NameId, std::uint32_t> texts_;
  std::uint32_t next_text_ = 1;

  // Of the packet that is made.
  std::string interned_;
  std::string event_;
  std::string packet_;
};

}  // namespace ridgeline::trace
