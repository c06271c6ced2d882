// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loader/chunk_index.hpp"
#include "loader/filter_pipeline.hpp"
#include "loader/lzf.hpp"
#include "loader/metadata_checksum.hpp"
#include "loader/object_header.hpp"

namespace ridgeline::fuzz {

class MemorySource final : public loader::ByteSource {
 public:
  /// `repair`: the last four bytes of each piece read become the checksum of those before, so that damage comes through
  /// to what stands behind the checksums.
  MemorySource(std::span<const std::byte> bytes, bool repair) : bytes_(bytes), repair_(repair) {}
  [[nodiscard]] base::Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      return base::fail(base::ErrorCode::corrupt, "the bytes end before {}", offset + out.size());
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    if (!repair_ || out.size() < 4) return {};
    const auto sum = loader::metadata_checksum(out.first(out.size() - 4));
    for (std::size_t i = 0; i < 4; ++i) out[out.size() - 4 + i] = static_cast<std::byte>(sum >> (8 * i) & 0xFFU);
    return {};
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  bool repair_;
};

/// What the first four bytes of an input for the chunk index parser say: the dataset and where its header lies.
[[nodiscard]] inline std::pair<loader::DatasetLayout, loader::HeaderPlace> index_question(
    std::span<const std::byte> input) {
  constexpr auto kUnlimited = ~std::uint64_t{0};
  const auto choice = std::to_integer<unsigned>(input[0]);
  const auto flags = std::to_integer<unsigned>(input[2]);
  loader::DatasetLayout layout;
  layout.dataset = "x";
  layout.element = {loader::ElementKind::floating, 4, false};
  layout.storage = loader::Storage::chunked;
  layout.shape = {40, 6};
  layout.chunk_shape = {4 + (choice >> 6U), 3};
  if ((choice & 32U) != 0) layout.filters = {{loader::Filter::deflate, 0}};
  layout.fill_value.resize(4);
  loader::HeaderPlace place;
  place.header = std::to_integer<std::uint64_t>(input[1]) + 256 * (flags & 7U);
  place.base = flags & 8U;
  place.address_bytes = (choice & 16U) != 0 ? 4 : 8;
  place.length_bytes = place.address_bytes;
  if ((flags & 0x30U) != 0)
    place.max_shape = {(flags & 16U) != 0 ? kUnlimited : 48, (flags & 32U) != 0 ? kUnlimited : 9};
  return {layout, place};
}

/// What must hold for any bytes given to the loader's parsers; "" or the sentence that does not. The first byte chooses
/// the parser. Shared by the fuzzer and the seeded test.
[[nodiscard]] inline std::string broken_loader_property(std::span<const std::byte> input) {
  using namespace loader;
  if (input.size() < 4) return "";
  const auto choice = std::to_integer<unsigned>(input[0]);
  const auto bytes = input.subspan(4);
  switch (choice % 4) {
    case 0: {
      const auto layout = decode_layout({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      if (!layout) return "";
      if (encode_layout(*layout) != std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()))
        return "a layout does not encode to what it was decoded from";
      if (!validate_layout(*layout, 1U << 20U)) return "";
      std::uint64_t last = 0;
      for (std::uint64_t i = 0; layout->storage == Storage::chunked && i < layout->chunk_count(); ++i)
        if (const auto chunk = layout->chunk(i); !chunk.missing()) last = std::max(last, chunk.offset + chunk.size);
      return last > (1U << 20U) ? "a valid layout has a chunk beyond the file" : "";
    }
    case 1: {
      const auto [layout, place] = index_question(input);
      const bool repair = (std::to_integer<unsigned>(input[3]) & 1U) != 0;
      const auto index = read_chunk_index(MemorySource(bytes, repair), place, layout);
      if (!index) return index.error().message.find("\"x\"") == std::string::npos ? "an error without the dataset" : "";
      if (index->chunks.has_value() != index->unread.empty()) return "neither an index nor a reason, or both";
      if (index->chunks && index->chunks->size() != layout.chunk_count()) return "an index of the wrong length";
      return "";
    }
    case 2: {
      const std::size_t size = std::to_integer<std::size_t>(input[1]) * 4;
      const auto mask = std::to_integer<unsigned>(input[2]);
      std::vector<FilterStep> steps;
      for (auto code = std::to_integer<unsigned>(input[3]); code != 0; code >>= 2U)
        steps.push_back({static_cast<Filter>(code & 3U), 1 + choice % 9});
      std::vector<std::byte> out(size);
      FilterPipeline pipeline;
      const auto done = pipeline.undo(steps, mask, bytes, out);
      return !done && done.error().code != base::ErrorCode::corrupt ? "damage is called " + done.error().message : "";
    }
    default: {
      std::vector<std::byte> out(std::to_integer<std::size_t>(input[1]) * 8);
      return lzf_decompress(bytes, out) > out.size() ? "more bytes than there is room for" : "";
    }
  }
}

}  // namespace ridgeline::fuzz
