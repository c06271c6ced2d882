// SPDX-License-Identifier: Apache-2.0
// inspect_dataset of hdf5_library.hpp: what the library says of a dataset, as a DatasetLayout.
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"
#include "loader/chunk_index.hpp"
#include "loader/dataset_links.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/hdf5_types.hpp"
#include "loader/other_files.hpp"
#include "loader/superblock.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// Filters that we undo ourselves; the first other one, or a second compressor, becomes the reason for the library.
/// Errors: unsupported (a filter that the library lacks as well).
Result<std::vector<FilterStep>> describe_filters(hid_t properties, const std::string& dataset, std::string& reason) {
  constexpr H5Z_filter_t kLzf = 32000;
  std::vector<FilterStep> steps;
  int compressors = 0;
  const int number = H5Pget_nfilters(properties);
  for (int i = 0; i < number; ++i) {
    std::array<unsigned, 8> values{};
    std::size_t value_count = values.size();
    std::array<char, 64> name{};
    unsigned flags = 0;
    unsigned config = 0;
    const auto id = H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &value_count, values.data(),
                                   name.size(), name.data(), &config);
    name.back() = '\0';
    if (id == H5Z_FILTER_DEFLATE || id == kLzf) {
      steps.push_back({id == kLzf ? Filter::lzf : Filter::deflate, 0});
      ++compressors;
    } else if (id == H5Z_FILTER_SHUFFLE && value_count > 0 && values[0] > 0) {
      steps.push_back({Filter::shuffle, values[0]});
    } else if (id == H5Z_FILTER_FLETCHER32) {
      steps.push_back({Filter::fletcher32, 0});
    } else {
      // Some names go on with an address: "HDF5 zstd filter; see https://..."
      const auto filter =
          fmt::format("filter {} ({})", id, name[0] == '\0' ? "unnamed" : base::split(name.data(), ';')[0]);
      if (H5Zfilter_avail(id) <= 0)
        return fail(ErrorCode::unsupported, "dataset \"{}\" was written with {}, which is not installed", dataset,
                    filter)
            .hint(
                "set HDF5_PLUGIN_PATH to the folder of its plugin (of Python's hdf5plugin: hdf5plugin.PLUGIN_PATH), or "
                "write the file again with gzip");
      reason = filter;
      return std::vector<FilterStep>{};
    }
  }
  if (compressors > 1) reason = "more than one compressor in the filter pipeline";
  return steps;
}

/// The index by the library's own calls: quadratic in the number of chunks, but for every index format.
Result<void> index_by_library(hid_t dataset, hid_t space, std::uint64_t base, DatasetLayout& layout) {
  hsize_t number = 0;
  if (H5Dget_num_chunks(dataset, space, &number) < 0)
    return fail(ErrorCode::corrupt, "dataset \"{}\": its chunks cannot be counted: {}", layout.dataset, hdf5_reason());
  const auto grid = layout.grid();
  layout.chunks.assign(static_cast<std::size_t>(layout.chunk_count()), {});
  for (hsize_t i = 0; i < number; ++i) {
    std::vector<hsize_t> offset(layout.shape.size() + 1);
    unsigned mask = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t size = 0;
    if (H5Dget_chunk_info(dataset, space, i, offset.data(), &mask, &address, &size) < 0)
      return fail(ErrorCode::corrupt, "dataset \"{}\": chunk number {}: {}", layout.dataset, i, hdf5_reason());
    std::uint64_t index = 0;
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
      const auto place = offset[axis] / layout.chunk_shape[axis];
      if (place >= grid[axis])
        return fail(ErrorCode::corrupt, "dataset \"{}\": chunk number {} lies outside the shape", layout.dataset, i);
      index = index * grid[axis] + place;
    }
    if (address == HADDR_UNDEF) continue;
    if (size > 0xFFFFFFFFU || !layout.chunks[static_cast<std::size_t>(index)].missing())
      return fail(ErrorCode::corrupt, "dataset \"{}\": chunk {} is listed twice or too large", layout.dataset,
                  layout.chunk_name(index));
    layout.chunks[static_cast<std::size_t>(index)] = {base + address, static_cast<std::uint32_t>(size), mask};
  }
  return {};
}

/// Partial chunks at the upper edge may be stored without filters (an option of the newer format).
void unfilter_edge_chunks(DatasetLayout& layout) {
  const auto grid = layout.grid();
  for (std::size_t i = 0; i < layout.chunks.size(); ++i) {
    std::uint64_t rest = i;
    for (std::size_t axis = grid.size(); axis-- > 0;) {
      const bool last = rest % grid[axis] == grid[axis] - 1;
      if (last && layout.shape[axis] % layout.chunk_shape[axis] != 0) layout.chunks[i].filter_mask = 0xFFFFFFFFU;
      rest /= grid[axis];
    }
  }
}

struct Opened {
  Hdf5Handle file;
  Hdf5Handle owner;  ///< the file that holds the dataset, perhaps another one
  Hdf5Handle dataset;
  Hdf5Handle type;
  Hdf5Handle space;
  Hdf5Handle properties;
};

Result<void> describe_chunks(const DataFile& file, const Opened& opened, DatasetLayout& layout) {
  std::vector<hsize_t> extents(layout.shape.size());
  if (H5Pget_chunk(opened.properties.get(), static_cast<int>(extents.size()), extents.data()) !=
      static_cast<int>(extents.size()))
    return fail(ErrorCode::corrupt, "dataset \"{}\": no chunk shape: {}", layout.dataset, hdf5_reason());
  layout.chunk_shape.assign(extents.begin(), extents.end());
  if (std::find(extents.begin(), extents.end(), hsize_t{0}) != extents.end())
    return fail(ErrorCode::corrupt, "dataset \"{}\": a chunk shape with a zero", layout.dataset);
  constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 26U;
  std::uint64_t chunks = 1;
  for (const auto count : layout.grid()) {
    if (count != 0 && chunks > kMostChunks / count) {
      layout.storage = Storage::library;
      layout.library_reason = "a grid of more than 64 million chunks";
      layout.chunk_shape.clear();
      return {};
    }
    chunks *= count;
  }
  HeaderPlace place;
  const Hdf5Handle creation(H5Fget_create_plist(opened.owner.get()), H5Pclose);
  hsize_t user_block = 0;
  std::size_t address_bytes = 8;
  std::size_t length_bytes = 8;
  H5Pget_userblock(creation.get(), &user_block);
  H5Pget_sizes(creation.get(), &address_bytes, &length_bytes);
  H5O_info_t info;
  if (H5Oget_info2(opened.dataset.get(), &info, H5O_INFO_BASIC) < 0)
    return fail(ErrorCode::corrupt, "dataset \"{}\": no object header: {}", layout.dataset, hdf5_reason());
  std::vector<hsize_t> now(layout.shape.size());
  std::vector<hsize_t> most(layout.shape.size());
  H5Sget_simple_extent_dims(opened.space.get(), now.data(), most.data());
  place.base = user_block;
  place.header = info.addr;
  place.address_bytes = static_cast<unsigned>(address_bytes);
  place.length_bytes = static_cast<unsigned>(length_bytes);
  place.max_shape.assign(most.begin(), most.end());
  RL_TRY_ASSIGN(auto index, read_chunk_index(file, place, layout));
  if (index.chunks) {
    layout.chunks = std::move(*index.chunks);
  } else {
    layout.library_reason = index.unread;
    RL_TRY(index_by_library(opened.dataset.get(), opened.space.get(), user_block, layout));
  }
  unsigned options = 0;
  if (H5Pget_chunk_opts(opened.properties.get(), &options) >= 0 &&
      (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0)
    unfilter_edge_chunks(layout);
  return {};
}

/// The file that holds the dataset, opened for ourselves; it must be the one that the library has open. Sets data_file
/// when it is not `readable`, and library_reason when it cannot be had.
Result<DataFile> find_owner(const DataFile& readable, hid_t owner, DatasetLayout& layout) {
  struct stat status {};
  void* handle = nullptr;
  const bool known = H5Fget_vfd_handle(owner, H5P_DEFAULT, &handle) >= 0 && handle != nullptr &&
                     ::fstat(*static_cast<const int*>(handle), &status) == 0;
  const auto is_open_as = [&](const DataFile& file) {
    return known && file.identity().device == status.st_dev && file.identity().inode == status.st_ino;
  };
  if (is_open_as(readable)) return DataFile::open(readable.path());
  const auto path = path_of_file(owner);
  RL_TRY_ASSIGN(auto file, DataFile::open(path));
  if (is_open_as(file)) {
    layout.data_file = path.string();
    layout.notes.push_back(
        fmt::format("dataset \"{}\" lies in {}, where an external link leads", layout.dataset, path.string()));
  } else {
    layout.library_reason = "the file that holds it could not be found by its name";
  }
  return file;
}

/// Values that nobody wrote read as the fill value.
void note_unwritten(DatasetLayout& layout) {
  const auto note = [&](const std::string& what) {
    layout.notes.push_back(
        fmt::format("dataset \"{}\": {} never written: only the fill value is there", layout.dataset, what));
  };
  if (layout.rows() * layout.row_elements() == 0) return;
  if (layout.storage == Storage::contiguous && layout.contiguous_offset == ChunkEntry::kMissing)
    note("its values were");
  if (layout.storage != Storage::chunked) return;
  const auto missing = std::count_if(layout.chunks.begin(), layout.chunks.end(),
                                     [](const ChunkEntry& chunk) { return chunk.missing(); });
  if (missing > 0) note(fmt::format("{} of {} chunks were", missing, layout.chunks.size()));
}

Result<void> describe_storage(const DataFile& file, const Opened& opened, DatasetLayout& layout) {
  std::string reason = std::exchange(layout.library_reason, "");
  layout.storage = Storage::library;
  const auto properties = opened.properties.get();
  const auto kind = H5Pget_layout(properties);
  if (kind == H5D_VIRTUAL) reason = "a virtual dataset";
  if (H5Pget_external_count(properties) > 0) reason = "data in external files";
  if (kind == H5D_VIRTUAL || H5Pget_external_count(properties) > 0) {
    layout.needs_other_files = true;
    RL_TRY_ASSIGN(auto notes, check_other_files(opened.dataset.get(), layout.dataset));
    layout.notes.insert(layout.notes.end(), notes.begin(), notes.end());
  }
  std::string filter_reason;
  RL_TRY_ASSIGN(layout.filters, describe_filters(properties, layout.dataset, filter_reason));
  if (reason.empty()) reason = filter_reason;
  if (reason.empty() && layout.row_bytes() > (std::uint64_t{1} << 31U)) reason = "rows beyond 2 GiB";
  if (!reason.empty()) {
    layout.filters.clear();
    layout.library_reason = reason;
    return {};
  }
  if (kind == H5D_CHUNKED) {
    layout.storage = Storage::chunked;
    return describe_chunks(file, opened, layout);
  }
  if (kind == H5D_CONTIGUOUS) {
    layout.storage = Storage::contiguous;
    set_contiguous_chunks(layout);
    const auto offset = H5Dget_offset(opened.dataset.get());  // counts the user block
    layout.contiguous_offset = offset == HADDR_UNDEF ? ChunkEntry::kMissing : offset;
    return {};
  }
  layout.storage = Storage::compact;
  return {};
}

Result<void> read_fill_value(hid_t properties, hid_t type, DatasetLayout& layout) {
  layout.fill_value.assign(layout.element.size, std::byte{0});
  H5D_fill_value_t status = H5D_FILL_VALUE_UNDEFINED;
  if (layout.storage == Storage::library || H5Pfill_value_defined(properties, &status) < 0 ||
      status != H5D_FILL_VALUE_USER_DEFINED)
    return {};
  if (H5Pget_fill_value(properties, type, layout.fill_value.data()) < 0)
    return fail(ErrorCode::corrupt, "dataset \"{}\": its fill value cannot be read: {}", layout.dataset, hdf5_reason());
  if (layout.element.big_endian) std::reverse(layout.fill_value.begin(), layout.fill_value.end());
  return {};
}

Result<DatasetLayout> inspect(const std::filesystem::path& path, const std::string& dataset) {
  RL_TRY_ASSIGN(const auto readable, DataFile::open(path));
  Opened opened;
  opened.file = open_hdf5(path.string());
  if (!opened.file.valid()) {
    const auto reason = hdf5_reason();  // before any other call clears it
    return tl::unexpected(refused_file(readable, reason, hdf5_version()));
  }
  RL_TRY_ASSIGN(auto named, open_dataset(opened.file.get(), dataset));
  opened.dataset = std::move(named.dataset);
  opened.owner = std::move(named.owner);
  opened.type = Hdf5Handle(H5Dget_type(opened.dataset.get()), H5Tclose);
  opened.space = Hdf5Handle(H5Dget_space(opened.dataset.get()), H5Sclose);
  opened.properties = Hdf5Handle(H5Dget_create_plist(opened.dataset.get()), H5Pclose);
  if (!opened.type.valid() || !opened.space.valid() || !opened.properties.valid())
    return fail(ErrorCode::corrupt, "dataset \"{}\": {}", dataset, hdf5_reason());
  if (H5Sget_simple_extent_type(opened.space.get()) == H5S_NULL)
    return fail(ErrorCode::unsupported, "dataset \"{}\" holds nothing (a null dataspace)", dataset);
  DatasetLayout layout;
  layout.dataset = dataset;
  const int rank = H5Sget_simple_extent_ndims(opened.space.get());
  std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank < 0 || (rank > 0 && H5Sget_simple_extent_dims(opened.space.get(), extents.data(), nullptr) < 0))
    return fail(ErrorCode::corrupt, "dataset \"{}\": no shape: {}", dataset, hdf5_reason());
  layout.shape.assign(extents.begin(), extents.end());
  auto element = describe_element(opened.type.get(), layout.library_reason);
  if (!element) return tl::unexpected(std::move(element).error().in(fmt::format("dataset \"{}\"", dataset)));
  layout.element = *element;
  RL_TRY_ASSIGN(const auto owner, find_owner(readable, opened.owner.get(), layout));
  layout.needs_other_files = named.through_external_link;
  RL_TRY(describe_storage(owner, opened, layout));
  RL_TRY(read_fill_value(opened.properties.get(), opened.type.get(), layout));
  if (layout.storage == Storage::compact)
    layout.compact.resize(static_cast<std::size_t>(layout.rows() * layout.row_bytes()));
  RL_TRY(validate_layout(layout, owner.size()));
  note_unwritten(layout);
  return layout;
}

/// Reads what only the library can: compact data, and one row at each end of what it will have to read later, so that
/// damage which makes it crash does so here.
Result<void> probe(const std::filesystem::path& path, DatasetLayout& layout) {
  if ((layout.storage != Storage::compact && layout.storage != Storage::library) || layout.rows() == 0) return {};
  RL_TRY_ASSIGN(const auto open, LibraryDataset::open(path, layout));
  if (layout.storage == Storage::compact) return open.read(0, layout.rows(), layout.compact);
  if (layout.row_bytes() > (std::uint64_t{1} << 31U)) return {};
  std::vector<std::byte> row(static_cast<std::size_t>(layout.row_bytes()));
  RL_TRY(open.read(0, 1, row));
  return open.read(layout.rows() - 1, 1, row);
}

}  // namespace

Result<DatasetLayout> inspect_dataset(const std::filesystem::path& path, const std::string& dataset) {
  const auto named = [&](base::Error error) {
    const bool names_it = error.message.find(path.string()) != std::string::npos;
    return tl::unexpected(names_it ? std::move(error) : std::move(error).in(path.string()));
  };
  auto layout = [&] {
    const std::lock_guard lock(hdf5_mutex());
    prepare_hdf5();
    return inspect(path, dataset);
  }();
  if (!layout) return named(std::move(layout).error());
  if (auto probed = probe(path, *layout); !probed) return named(std::move(probed).error());
  return layout;
}

}  // namespace ridgeline::loader
