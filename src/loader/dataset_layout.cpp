// SPDX-License-Identifier: Apache-2.0
#include "loader/dataset_layout.hpp"

#include <algorithm>

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::uint64_t kContiguousChunkBytes = 256U << 10U;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62U;
constexpr std::uint64_t kMaxChunkBytes = 0xFFFFFFFFU;  // the format's own limit
constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 27U;

/// False when the product passes `limit`.
bool multiply(std::uint64_t& product, std::uint64_t factor, std::uint64_t limit) {
  if (factor != 0 && product > limit / factor) return false;
  product *= factor;
  return true;
}

Result<void> validate_sizes(const DatasetLayout& layout) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::corrupt, "dataset \"{}\": {}", layout.dataset, what);
  };
  if (layout.element.size == 0 || layout.element.size > (1U << 24U)) return bad("an impossible element size");
  if (layout.shape.size() > 32) return bad("more than 32 axes");
  if (layout.fill_value.size() != layout.element.size) return bad("a fill value of the wrong size");
  std::uint64_t bytes = layout.element.size;
  for (const auto extent : layout.shape)
    if (!multiply(bytes, std::max<std::uint64_t>(extent, 1), kMaxBytes)) return bad("a shape beyond 2^62 bytes");
  if (layout.storage == Storage::library) return {};
  if (layout.storage == Storage::compact)
    return layout.compact.size() == layout.row_bytes() * layout.rows() ? Result<void>{}
                                                                       : bad("compact data of the wrong size");
  if (layout.chunk_shape.size() != layout.shape.size()) return bad("a chunk shape of another rank");
  std::uint64_t chunk = layout.element.size;
  for (const auto extent : layout.chunk_shape)
    if (extent == 0 || !multiply(chunk, extent, kMaxChunkBytes)) return bad("an impossible chunk shape");
  std::uint64_t count = 1;
  for (const auto extent : layout.grid())
    if (!multiply(count, extent, layout.storage == Storage::chunked ? kMaxChunks : kMaxBytes))
      return bad("too many chunks");
  return {};
}

class Writer {
 public:
  template <typename T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      out_.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xFFU));
  }
  void text(std::string_view value) {
    number<std::uint64_t>(value.size());
    out_ += value;
  }
  void bytes(const std::vector<std::byte>& value) { text({reinterpret_cast<const char*>(value.data()), value.size()}); }
  void numbers(const std::vector<std::uint64_t>& values) {
    number<std::uint64_t>(values.size());
    for (const auto value : values) number(value);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }
  void reserve(std::size_t size) { out_.reserve(size); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T number() {
    if (bytes_.size() < sizeof(T)) {
      good_ = false;
      bytes_ = {};
      return T{};
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    bytes_.remove_prefix(sizeof(T));
    return static_cast<T>(value);
  }
  std::string_view text() {
    const auto size = number<std::uint64_t>();
    if (size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const auto value = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return value;
  }
  std::vector<std::byte> bytes() {
    const auto value = text();
    const auto* data = reinterpret_cast<const std::byte*>(value.data());
    return {data, data + value.size()};
  }
  /// Number of items of at least `item_bytes` each that can still follow; good() turns false when more are claimed.
  std::size_t count(std::size_t item_bytes) {
    const auto size = number<std::uint64_t>();
    if (size > bytes_.size() / item_bytes) good_ = false;
    return good_ ? static_cast<std::size_t>(size) : 0;
  }
  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> values(count(sizeof(std::uint64_t)));
    for (auto& value : values) value = number<std::uint64_t>();
    return values;
  }
  template <typename E>
  E enumerator() {
    const auto value = static_cast<E>(number<std::uint8_t>());
    if (base::enum_name(value) == "?") good_ = false;
    return value;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] bool done() const noexcept { return good_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

std::uint64_t DatasetLayout::row_elements() const noexcept {
  std::uint64_t product = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) product *= shape[axis];
  return product;
}

std::uint64_t DatasetLayout::chunk_elements() const noexcept {
  std::uint64_t product = 1;
  for (const auto extent : chunk_shape) product *= extent;
  return product;
}

std::vector<std::uint64_t> DatasetLayout::grid() const {
  std::vector<std::uint64_t> counts(shape.size());
  for (std::size_t axis = 0; axis < counts.size(); ++axis)
    counts[axis] = shape[axis] / chunk_shape[axis] + (shape[axis] % chunk_shape[axis] != 0 ? 1 : 0);
  return counts;
}

std::uint64_t DatasetLayout::chunk_count() const {
  std::uint64_t product = 1;
  for (const auto count : grid()) product *= count;
  return product;
}

std::string DatasetLayout::chunk_name(std::uint64_t index) const {
  const auto counts = grid();
  std::vector<std::uint64_t> place(counts.size());
  for (std::size_t axis = counts.size(); axis-- > 0;) {
    place[axis] = counts[axis] == 0 ? 0 : index % counts[axis];
    index = counts[axis] == 0 ? 0 : index / counts[axis];
  }
  std::string name = "(";
  for (std::size_t axis = 0; axis < place.size(); ++axis)
    name += fmt::format("{}{}", axis == 0 ? "" : ", ", place[axis]);
  return name + ")";
}

ChunkEntry DatasetLayout::chunk(std::uint64_t index) const {
  if (storage != Storage::contiguous) return chunks[static_cast<std::size_t>(index)];
  if (contiguous_offset == ChunkEntry::kMissing) return {};
  const auto first = index * rows_per_chunk();
  const auto count = std::min(rows_per_chunk(), rows() - first);
  return {contiguous_offset + first * row_bytes(), static_cast<std::uint32_t>(count * row_bytes()), 0};
}

void set_contiguous_chunks(DatasetLayout& layout) {
  layout.chunk_shape = layout.shape;
  if (layout.shape.empty()) return;
  const auto row = std::max<std::uint64_t>(layout.row_bytes(), 1);
  layout.chunk_shape[0] = std::max<std::uint64_t>(1, kContiguousChunkBytes / row);
  for (auto& extent : layout.chunk_shape) extent = std::max<std::uint64_t>(extent, 1);
}

Result<void> validate_layout(const DatasetLayout& layout, std::uint64_t file_bytes) {
  RL_TRY(validate_sizes(layout));
  if (layout.storage == Storage::contiguous) {
    if (layout.contiguous_offset == ChunkEntry::kMissing) return {};
    const auto bytes = layout.rows() * layout.row_bytes();
    if (layout.contiguous_offset > file_bytes || bytes > file_bytes - layout.contiguous_offset)
      return fail(ErrorCode::corrupt,
                  "dataset \"{}\": its {} bytes at {} reach beyond the file's {}: the file is cut off", layout.dataset,
                  bytes, layout.contiguous_offset, file_bytes);
    return {};
  }
  if (layout.storage != Storage::chunked) return {};
  if (layout.chunks.size() != layout.chunk_count())
    return fail(ErrorCode::corrupt, "dataset \"{}\": {} chunks listed, {} expected", layout.dataset,
                layout.chunks.size(), layout.chunk_count());
  for (std::size_t i = 0; i < layout.chunks.size(); ++i) {
    const auto& chunk = layout.chunks[i];
    if (chunk.missing()) continue;
    if (chunk.offset > file_bytes || chunk.size > file_bytes - chunk.offset)
      return fail(ErrorCode::corrupt, "dataset \"{}\": chunk {} ({} bytes at {}) reaches beyond the file's {} bytes",
                  layout.dataset, layout.chunk_name(i), chunk.size, chunk.offset, file_bytes);
    if (layout.filters.empty() && chunk.size != layout.chunk_bytes())
      return fail(ErrorCode::corrupt, "dataset \"{}\": chunk {} has {} bytes, expected {}", layout.dataset,
                  layout.chunk_name(i), chunk.size, layout.chunk_bytes());
  }
  std::vector<std::size_t> by_offset;
  by_offset.reserve(layout.chunks.size());
  for (std::size_t i = 0; i < layout.chunks.size(); ++i)
    if (!layout.chunks[i].missing()) by_offset.push_back(i);
  const auto before = [&](std::size_t a, std::size_t b) { return layout.chunks[a].offset < layout.chunks[b].offset; };
  if (!std::is_sorted(by_offset.begin(), by_offset.end(), before))
    std::sort(by_offset.begin(), by_offset.end(), before);
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const auto& previous = layout.chunks[by_offset[i - 1]];
    if (layout.chunks[by_offset[i]].offset < previous.offset + previous.size)
      return fail(ErrorCode::corrupt, "dataset \"{}\": chunks {} and {} lie over each other", layout.dataset,
                  layout.chunk_name(by_offset[i - 1]), layout.chunk_name(by_offset[i]));
  }
  return {};
}

std::string encode_layout(const DatasetLayout& layout) {
  Writer out;
  out.reserve(512 + layout.chunks.size() * 16 + layout.compact.size());
  out.text(layout.dataset);
  out.number(static_cast<std::uint8_t>(layout.element.kind));
  out.number(layout.element.size);
  out.number(static_cast<std::uint8_t>(layout.element.big_endian ? 1 : 0));
  out.number(static_cast<std::uint8_t>(layout.storage));
  out.text(layout.library_reason);
  out.numbers(layout.shape);
  out.numbers(layout.chunk_shape);
  out.number<std::uint64_t>(layout.filters.size());
  for (const auto& step : layout.filters) {
    out.number(static_cast<std::uint8_t>(step.filter));
    out.number(step.element_size);
  }
  out.bytes(layout.fill_value);
  out.number(layout.contiguous_offset);
  out.number<std::uint64_t>(layout.chunks.size());
  for (const auto& chunk : layout.chunks) {
    out.number(chunk.offset);
    out.number(chunk.size);
    out.number(chunk.filter_mask);
  }
  out.bytes(layout.compact);
  out.text(layout.data_file);
  out.number(static_cast<std::uint8_t>(layout.needs_other_files ? 1 : 0));
  out.number<std::uint64_t>(layout.notes.size());
  for (const auto& note : layout.notes) out.text(note);
  return out.take();
}

Result<DatasetLayout> decode_layout(std::string_view bytes) {
  Reader in(bytes);
  DatasetLayout layout;
  layout.dataset = in.text();
  layout.element.kind = in.enumerator<ElementKind>();
  layout.element.size = in.number<std::uint32_t>();
  const auto big_endian = in.number<std::uint8_t>();
  layout.element.big_endian = big_endian == 1;
  layout.storage = in.enumerator<Storage>();
  layout.library_reason = in.text();
  layout.shape = in.numbers();
  layout.chunk_shape = in.numbers();
  layout.filters.resize(in.count(5));
  for (auto& step : layout.filters) {
    step.filter = in.enumerator<Filter>();
    step.element_size = in.number<std::uint32_t>();
  }
  layout.fill_value = in.bytes();
  layout.contiguous_offset = in.number<std::uint64_t>();
  layout.chunks.resize(in.count(16));
  for (auto& chunk : layout.chunks) {
    chunk.offset = in.number<std::uint64_t>();
    chunk.size = in.number<std::uint32_t>();
    chunk.filter_mask = in.number<std::uint32_t>();
  }
  layout.compact = in.bytes();
  layout.data_file = in.text();
  const auto needs_other_files = in.number<std::uint8_t>();
  layout.needs_other_files = needs_other_files == 1;
  layout.notes.resize(in.count(8));
  for (auto& note : layout.notes) note = in.text();
  if (!in.done() || big_endian > 1 || needs_other_files > 1)
    return fail(ErrorCode::corrupt, "a dataset layout that is cut off or has bytes left over");
  return layout;
}

}  // namespace ridgeline::loader
