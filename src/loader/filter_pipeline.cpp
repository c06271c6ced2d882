// SPDX-License-Identifier: Apache-2.0
#include "loader/filter_pipeline.hpp"

#include <algorithm>
#include <cstring>

#include <libdeflate.h>

#include "loader/lzf.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kFletcherBytes = 4;

template <std::size_t Size>
void unshuffle_fixed(const std::byte* in, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t byte = 0; byte < Size; ++byte) out[i * Size + byte] = in[byte * count + i];
}

/// Planes of equal bytes back to elements; bytes beyond the last whole element were left as they are.
void unshuffle(std::span<const std::byte> in, std::span<std::byte> out, std::size_t size) {
  const std::size_t count = size > 1 ? in.size() / size : 0;
  switch (size) {
    case 2: unshuffle_fixed<2>(in.data(), out.data(), count); break;
    case 4: unshuffle_fixed<4>(in.data(), out.data(), count); break;
    case 8: unshuffle_fixed<8>(in.data(), out.data(), count); break;
    default:
      for (std::size_t byte = 0; byte < size && count > 0; ++byte)
        for (std::size_t i = 0; i < count; ++i) out[i * size + byte] = in[byte * count + i];
  }
  const auto whole = count * size;
  if (whole < in.size()) std::memcpy(out.data() + whole, in.data() + whole, in.size() - whole);
}

Result<std::span<const std::byte>> without_checksum(std::span<const std::byte> data) {
  if (data.size() < kFletcherBytes)
    return fail(ErrorCode::corrupt, "{} bytes, too few for a fletcher32 checksum", data.size());
  const auto body = data.first(data.size() - kFletcherBytes);
  std::uint32_t stored = 0;
  for (std::size_t i = 0; i < kFletcherBytes; ++i)
    stored |= std::to_integer<std::uint32_t>(data[body.size() + i]) << (8 * i);
  const auto computed = fletcher32(body);
  // Releases before 1.6.3 wrote the bytes of both halves exchanged; the library accepts either.
  const auto exchanged = ((computed & 0x00FF00FFU) << 8U) | ((computed >> 8U) & 0x00FF00FFU);
  if (stored != computed && stored != exchanged)
    return fail(ErrorCode::corrupt, "fletcher32 checksum is {:08x}, the data give {:08x}", stored, computed);
  return body;
}

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> data) noexcept {
  constexpr std::size_t kWordsBeforeOverflow = 360;
  const auto fold = [](std::uint32_t sum) { return (sum & 0xFFFFU) + (sum >> 16U); };
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::size_t at = 0;
  for (std::size_t words = data.size() / 2; words > 0;) {
    const auto run = std::min(words, kWordsBeforeOverflow);
    words -= run;
    for (std::size_t i = 0; i < run; ++i, at += 2) {
      first += std::to_integer<std::uint32_t>(data[at]) << 8U | std::to_integer<std::uint32_t>(data[at + 1]);
      second += first;
    }
    first = fold(first);
    second = fold(second);
  }
  if (data.size() % 2 != 0) {
    first += std::to_integer<std::uint32_t>(data[at]) << 8U;
    second += first;
    first = fold(first);
    second = fold(second);
  }
  return fold(second) << 16U | fold(first);
}

void FilterPipeline::FreeDecompressor::operator()(libdeflate_decompressor* decompressor) const noexcept {
  libdeflate_free_decompressor(decompressor);
}

FilterPipeline::FilterPipeline() = default;
FilterPipeline::FilterPipeline(FilterPipeline&&) noexcept = default;
FilterPipeline& FilterPipeline::operator=(FilterPipeline&&) noexcept = default;
FilterPipeline::~FilterPipeline() = default;

Result<void> FilterPipeline::undo(const std::vector<FilterStep>& steps, std::uint32_t mask,
                                  std::span<const std::byte> stored, std::span<std::byte> out) {
  auto& applied = applied_;
  applied.clear();
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (i >= 32 || (mask >> i & 1U) == 0) applied.push_back(&steps[i]);
  auto data = stored;
  auto* spare = &first_;
  for (std::size_t left = applied.size(); left > 0; --left) {
    const auto& step = *applied[left - 1];
    if (step.filter == Filter::fletcher32) {
      RL_TRY_ASSIGN(data, without_checksum(data));
      continue;
    }
    // The length before this step was applied: the chunk, and a checksum for every fletcher32 that came earlier.
    std::size_t expected = out.size();
    for (std::size_t i = 0; i + 1 < left; ++i)
      expected += applied[i]->filter == Filter::fletcher32 ? kFletcherBytes : 0;
    auto target = out;
    if (left > 1 || expected != out.size()) {
      spare->resize(expected);
      target = *spare;
      spare = spare == &first_ ? &second_ : &first_;
    }
    if (step.filter == Filter::shuffle) {
      if (data.size() != expected)
        return fail(ErrorCode::corrupt, "{} bytes to unshuffle, expected {}", data.size(), expected);
      unshuffle(data, target, step.element_size);
    } else if (step.filter == Filter::deflate) {
      if (!decompressor_) decompressor_.reset(libdeflate_alloc_decompressor());
      if (!decompressor_) return fail(ErrorCode::out_of_memory, "no memory for a decompressor");
      std::size_t got = 0;
      const auto status =
          libdeflate_zlib_decompress(decompressor_.get(), data.data(), data.size(), target.data(), target.size(), &got);
      if (status == LIBDEFLATE_INSUFFICIENT_SPACE)
        return fail(ErrorCode::corrupt, "the deflate stream holds more than the {} bytes expected", expected);
      if (status != LIBDEFLATE_SUCCESS)
        return fail(ErrorCode::corrupt, "the deflate stream is broken or fails its checksum");
      if (got != expected)
        return fail(ErrorCode::corrupt, "the deflate stream holds {} bytes, expected {}", got, expected);
    } else {
      const auto got = lzf_decompress(data, target);
      if (got != expected)
        return fail(ErrorCode::corrupt, "the lzf stream is broken: {} bytes, expected {}", got, expected);
    }
    data = target;
  }
  if (data.size() != out.size()) return fail(ErrorCode::corrupt, "{} bytes, expected {}", data.size(), out.size());
  if (data.data() != out.data() && !out.empty()) std::memcpy(out.data(), data.data(), out.size());
  return {};
}

}  // namespace ridgeline::loader
