// SPDX-License-Identifier: Apache-2.0
#include "loader/layout_reader.hpp"

#include <libdeflate.h>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/library_child.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::string_view kCacheMagic = "ridgeline layout 3\n";

void append_number(std::string& out, std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFFU));
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

std::uint64_t checksum(std::string_view bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

/// What an entry must start with to be about this very state of the file.
std::string cache_head(const DataFile& file, const std::string& dataset) {
  const auto& id = file.identity();
  std::string head(kCacheMagic);
  for (const auto value : {id.device, id.inode, id.bytes, static_cast<std::uint64_t>(id.modified_ns)})
    append_number(head, value);
  const auto path = std::filesystem::absolute(file.path()).lexically_normal().string();
  append_number(head, path.size());
  head += path;
  append_number(head, dataset.size());
  return head + dataset;
}

/// The child's answer: '+' and a layout, or '-', an error code, a message, a zero byte and a hint.
std::string encode_answer(const Result<DatasetLayout>& layout) {
  if (layout) return "+" + encode_layout(*layout);
  const auto& error = layout.error();
  return fmt::format("-{}{}{}{}", static_cast<char>('A' + static_cast<int>(error.code)), error.message, '\0',
                     error.hint);
}

Result<DatasetLayout> decode_answer(std::string_view answer) {
  if (answer.starts_with('+')) return decode_layout(answer.substr(1));
  if (answer.size() < 2 || answer[0] != '-')
    return fail(ErrorCode::internal, "the child that read a layout gave no answer");
  const auto end = std::min(answer.find('\0'), answer.size());
  return tl::unexpected(base::Error{static_cast<ErrorCode>(answer[1] - 'A'), std::string(answer.substr(2, end - 2)),
                                    std::string(answer.substr(std::min(end + 1, answer.size())))});
}

}  // namespace

LayoutCache LayoutCache::of_user() { return LayoutCache(base::cache_folder() / "layouts"); }

std::filesystem::path LayoutCache::entry(const DataFile& file, const std::string& dataset) const {
  const auto path = std::filesystem::absolute(file.path()).lexically_normal().string();
  return folder_ / (base::sha256_hex(path + '\0' + dataset).substr(0, 32) + ".layout");
}

Result<DatasetLayout> LayoutCache::find(const DataFile& file, const std::string& dataset) const {
  if (folder_.empty()) return fail(ErrorCode::not_found, "the layout cache is switched off");
  const auto place = entry(file, dataset);
  RL_TRY_ASSIGN(const auto bytes, base::read_file(place));
  const auto head = cache_head(file, dataset);
  if (bytes.size() < head.size() + 8 ||
      number_at(bytes, bytes.size() - 8) != checksum({bytes.data(), bytes.size() - 8}))
    return fail(ErrorCode::corrupt, "{} is damaged", place.string());
  if (!bytes.starts_with(head))
    return fail(ErrorCode::not_found, "{} is about another state of the file", place.string());
  RL_TRY_ASSIGN(auto layout,
                decode_layout(std::string_view(bytes).substr(head.size(), bytes.size() - 8 - head.size())));
  RL_TRY(validate_layout(layout, file.size()));
  if (layout.dataset != dataset) return fail(ErrorCode::corrupt, "{} is about another dataset", place.string());
  return layout;
}

Result<void> LayoutCache::keep(const DataFile& file, const DatasetLayout& layout) const {
  if (folder_.empty() || layout.needs_other_files) return {};
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return fail(ErrorCode::io, "cannot make {}: {}", folder_.string(), error.message());
  auto bytes = cache_head(file, layout.dataset) + encode_layout(layout);
  append_number(bytes, checksum(bytes));
  return base::write_file_atomically(entry(file, layout.dataset), bytes);
}

Result<DatasetLayout> inspect_in_child(const std::filesystem::path& path, const std::string& dataset) {
  const auto answer = from_library_child([&] { return encode_answer(inspect_dataset(path, dataset)); });
  if (!answer)
    return tl::unexpected(base::Error(answer.error()).in(fmt::format("{}: dataset \"{}\"", path.string(), dataset)));
  return decode_answer(*answer);
}

Result<DatasetLayout> read_layout(const DataFile& file, const std::string& dataset, const LayoutCache& cache) {
  if (auto kept = cache.find(file, dataset)) return kept;
  RL_TRY_ASSIGN(auto layout, inspect_in_child(file.path(), dataset));
  const auto holder = layout.data_file.empty() ? file.path() : std::filesystem::path(layout.data_file);
  auto bytes = file.size();
  if (!layout.data_file.empty()) {
    RL_TRY_ASSIGN(const auto owner, DataFile::open(holder));
    bytes = owner.size();
  }
  if (auto valid = validate_layout(layout, bytes); !valid)
    return tl::unexpected(std::move(valid).error().in(holder.string()));
  (void)cache.keep(file, layout);  // a read-only home costs time, not correctness
  return layout;
}

}  // namespace ridgeline::loader
