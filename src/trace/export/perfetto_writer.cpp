// SPDX-License-Identifier: Apache-2.0
#include "trace/export/perfetto_writer.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "trace/export/clean_text.hpp"

namespace ridgeline::trace {
namespace {

using protozero::pbf_writer;

// Numbers of fields, as the .proto files have them.
namespace field {
constexpr std::uint32_t kTracePacket = 1;
namespace packet {
constexpr std::uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kFlags = 13, kClock = 58, kDefaults = 59, kTrackDescriptor = 60, kFirstOnSequence = 87;
}
namespace clock_snapshot {
constexpr std::uint32_t kClocks = 1, kId = 1, kTimestamp = 2, kIsIncremental = 3;
}
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8, kChildOrdering = 11,
                        kRank = 12;
constexpr std::uint32_t kPid = 1, kTid = 2;        // of the process's and the thread's descriptor
constexpr std::uint32_t kUnit = 3, kUnitName = 6;  // of the counter's
}  // namespace track
namespace event {
constexpr std::uint32_t kCategory = 3, kArguments = 4, kType = 9, kName = 10, kTrack = 11, kValue = 30, kFlows = 47,
                        kEndedFlows = 48;
}
namespace argument {
constexpr std::uint32_t kName = 1, kInteger = 4, kText = 17;
}
namespace interned {
constexpr std::uint32_t kCategories = 1, kNames = 2, kArguments = 3, kTexts = 29;
constexpr std::uint32_t kIid = 1, kText = 2;  // of each of them
}  // namespace interned
}  // namespace field

constexpr std::uint32_t kStateCleared = 1;  // TracePacket.SequenceFlags
constexpr std::uint32_t kNeedsState = 2;
constexpr std::uint32_t kSliceBegin = 1;  // TrackEvent.Type
constexpr std::uint32_t kSliceEnd = 2;
constexpr std::uint32_t kCount = 4;
constexpr std::uint32_t kBytes = 3;      // CounterDescriptor.Unit
constexpr std::uint32_t kExplicit = 3;   // TrackDescriptor.ChildTracksOrdering
constexpr std::uint32_t kBootTime = 6;   // BuiltinClock: the clock of a trace
constexpr std::uint32_t kOwnClock = 64;  // the first that a sequence may define

constexpr std::array<std::string_view, kPerfettoArguments> kArgumentNames{
    "grid",      "block",    "registers_per_thread", "shared_bytes",    "graph_node",  "bytes",
    "operation", "provider", "activation_bytes",     "parameter_bytes", "output_bytes"};

/// b - a, or the greatest number.
std::int64_t distance(std::int64_t a, std::int64_t b) {
  const auto exact = static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(exact, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

void add_message(pbf_writer& writer, std::uint32_t tag, std::string_view bytes) {
  writer.add_message(tag, bytes.data(), bytes.size());
}

}  // namespace

std::size_t PerfettoWriter::DimHash::operator()(const Dim3& dim) const noexcept {
  auto hash = static_cast<std::uint64_t>(static_cast<std::uint32_t>(dim.x));
  for (const auto part : {dim.y, dim.z}) hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 32U);
}

PerfettoWriter::PerfettoWriter(OutputFile& file, const StringTable& strings, std::int64_t zero_ns)
    : file_(file),
      strings_(strings),
      zero_ns_(std::min<std::int64_t>(zero_ns, 0)),
      first_ns_(std::max<std::int64_t>(zero_ns, 0)),
      names_(strings.size()) {}

void PerfettoWriter::write_packet() {
  char head[16];
  auto* end = head;
  *end++ = static_cast<char>(field::kTracePacket << 3U | 2U);
  end += protozero::add_varint_to_buffer(end, packet_.size());
  file_.write({head, static_cast<std::size_t>(end - head)});
  file_.write(packet_);
  packet_.clear();
}

void PerfettoWriter::forget_texts() {
  for (const auto name : known_names_) names_[name] = 0;
  known_names_.clear();
  std::fill(std::begin(categories_), std::end(categories_), 0);
  std::fill(std::begin(arguments_), std::end(arguments_), 0);
  extents_.clear();
  texts_.clear();
  next_text_ = 1;
}

std::uint64_t PerfettoWriter::add_track(const PerfettoTrack& track) {
  const auto uuid = ++tracks_;
  begin_sequence(uuid);
  {
    pbf_writer packet(packet_);
    packet.add_uint32(field::packet::kSequence, static_cast<std::uint32_t>(uuid));
    pbf_writer descriptor(packet, field::packet::kTrackDescriptor);
    descriptor.add_uint64(field::track::kUuid, uuid);
    if (track.parent != 0) descriptor.add_uint64(field::track::kParent, track.parent);
    if (!track.name.empty()) {
      std::string room;
      const auto name = clean_text(track.name, room);
      descriptor.add_string(field::track::kName, name.data(), name.size());
    }
    if (track.process != 0) {
      pbf_writer of(descriptor, track.thread != 0 ? field::track::kThread : field::track::kProcess);
      of.add_int32(field::track::kPid, track.process);
      if (track.thread != 0) of.add_int32(field::track::kTid, track.thread);
    }
    if (track.counts_bytes) {
      pbf_writer counter(descriptor, field::track::kCounter);
      counter.add_enum(field::track::kUnit, kBytes);
    }
    if (!track.unit.empty()) {
      pbf_writer counter(descriptor, field::track::kCounter);
      counter.add_string(field::track::kUnitName, track.unit);
    }
    if (track.has_ranked_children) descriptor.add_enum(field::track::kChildOrdering, kExplicit);
    descriptor.add_int32(field::track::kRank, track.rank);
  }
  write_packet();
  return uuid;
}

void PerfettoWriter::begin_sequence(std::uint64_t track) {
  forget_texts();
  now_ns_ = first_ns_;
  pbf_writer packet(packet_);
  packet.add_uint32(field::packet::kSequence, static_cast<std::uint32_t>(track));
  packet.add_uint32(field::packet::kFlags, kStateCleared);
  packet.add_bool(field::packet::kFirstOnSequence, true);
  {
    pbf_writer defaults(packet, field::packet::kDefaults);
    defaults.add_uint32(field::packet::kClock, kOwnClock);
    pbf_writer event(defaults, field::packet::kTrackEvent);
    event.add_uint64(field::event::kTrack, track);
  }
  {
    // The same moment for all sequences: a reader takes no clock that goes back.
    pbf_writer snapshot(packet, field::packet::kClockSnapshot);
    for (const auto id : {kBootTime, kOwnClock}) {
      pbf_writer clock(snapshot, field::clock_snapshot::kClocks);
      clock.add_uint32(field::clock_snapshot::kId, id);
      clock.add_uint64(field::clock_snapshot::kTimestamp, static_cast<std::uint64_t>(first_ns_));
      if (id == kOwnClock) clock.add_bool(field::clock_snapshot::kIsIncremental, true);
    }
  }
  write_packet();
}

void PerfettoWriter::add_interned(std::uint32_t which, std::uint32_t iid, std::string_view text) {
  std::string room;
  const auto clean = clean_text(text, room);
  pbf_writer writer(interned_);
  pbf_writer entry(writer, which);
  entry.add_uint64(field::interned::kIid, iid);
  entry.add_string(field::interned::kText, clean.data(), clean.size());
}

std::uint32_t PerfettoWriter::name_iid(NameId name) {
  auto& iid = names_[name];
  if (iid == 0) {
    known_names_.push_back(name);
    iid = static_cast<std::uint32_t>(known_names_.size());
    add_interned(field::interned::kNames, iid, strings_.text(name));
  }
  return iid;
}

std::uint32_t PerfettoWriter::argument_iid(PerfettoArgument name) {
  const auto index = static_cast<std::size_t>(name);
  auto& iid = arguments_[index];
  if (iid == 0) {
    iid = static_cast<std::uint32_t>(index + 1);
    add_interned(field::interned::kArguments, iid, kArgumentNames[index]);
  }
  return iid;
}

std::uint32_t PerfettoWriter::text_iid(std::uint32_t& place, std::string_view text) {
  if (place == 0) {
    place = next_text_++;
    add_interned(field::interned::kTexts, place, text);
  }
  return place;
}

void PerfettoWriter::add_number(PerfettoArgument name, std::int64_t value) {
  pbf_writer event(event_);
  pbf_writer argument(event, field::event::kArguments);
  argument.add_uint64(field::argument::kName, argument_iid(name));
  argument.add_int64(field::argument::kInteger, value);
}

void PerfettoWriter::add_text_iid(PerfettoArgument name, std::uint32_t iid) {
  pbf_writer event(event_);
  pbf_writer argument(event, field::event::kArguments);
  argument.add_uint64(field::argument::kName, argument_iid(name));
  argument.add_uint64(field::argument::kText, iid);
}

void PerfettoWriter::add_text(PerfettoArgument name, NameId value) {
  add_text_iid(name, text_iid(texts_[value], strings_.text(value)));
}

void PerfettoWriter::add_extent(PerfettoArgument name, const Dim3& value) {
  auto& place = extents_[value];
  add_text_iid(name, place != 0 ? place : text_iid(place, fmt::format("{}x{}x{}", value.x, value.y, value.z)));
}

void PerfettoWriter::begin_slice(std::int64_t at_ns, NameId name, SliceCategory category,
                                 std::span<const std::uint32_t> begun, std::uint32_t ended) {
  const auto index = static_cast<std::size_t>(category);
  auto& category_iid = categories_[index];
  if (category_iid == 0) {
    category_iid = static_cast<std::uint32_t>(index + 1);
    add_interned(field::interned::kCategories, category_iid, name_of(category));
  }
  {
    pbf_writer event(event_);
    event.add_uint64(field::event::kCategory, category_iid);
    event.add_enum(field::event::kType, kSliceBegin);
    event.add_uint64(field::event::kName, name_iid(name));
    for (const auto flow : begun) event.add_fixed64(field::event::kFlows, flow);
    if (ended != 0) event.add_fixed64(field::event::kEndedFlows, ended);
  }
  write_event(at_ns);
}

void PerfettoWriter::end_slice(std::int64_t at_ns) {
  pbf_writer(event_).add_enum(field::event::kType, kSliceEnd);
  write_event(at_ns);
}

void PerfettoWriter::count(std::int64_t at_ns, std::int64_t value) {
  {
    pbf_writer event(event_);
    event.add_enum(field::event::kType, kCount);
    event.add_int64(field::event::kValue, value);
  }
  write_event(at_ns);
}

void PerfettoWriter::write_event(std::int64_t at_ns) {
  const auto from_zero = distance(zero_ns_, at_ns);
  {
    pbf_writer packet(packet_);
    packet.add_uint64(field::packet::kTimestamp, static_cast<std::uint64_t>(from_zero - now_ns_));
    packet.add_uint32(field::packet::kSequence, static_cast<std::uint32_t>(tracks_));
    packet.add_uint32(field::packet::kFlags, kNeedsState);
    if (!interned_.empty()) add_message(packet, field::packet::kInterned, interned_);
    add_message(packet, field::packet::kTrackEvent, event_);
  }
  now_ns_ = from_zero;
  interned_.clear();
  event_.clear();
  write_packet();
}

}  // namespace ridgeline::trace
