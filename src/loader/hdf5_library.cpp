// SPDX-License-Identifier: Apache-2.0
#include "loader/hdf5_library.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_types.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// In-memory type of delivered elements: the file's own in the host's byte order, or the library's native form.
Hdf5Handle memory_type(hid_t file_type) {
  if (H5Tget_class(file_type) == H5T_ENUM || !plain_element(file_type))
    return {H5Tget_native_type(file_type, H5T_DIR_ASCEND), H5Tclose};
  Hdf5Handle type(H5Tcopy(file_type), H5Tclose);  // the native form of a half is a float
  H5Tset_order(type.get(), H5T_ORDER_LE);
  return type;
}

}  // namespace

std::mutex& hdf5_mutex() {
  static std::mutex mutex;
  return mutex;
}

void prepare_hdf5() {
  static const bool prepared = [] {
    H5dont_atexit();  // threads may still read while the program ends; the files are only open for reading
    H5open();
    return true;
  }();
  (void)prepared;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // per thread where the library was built for threads
}

std::string hdf5_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto& text = *static_cast<std::string*>(out);
        if (text.empty() && error->desc != nullptr) text = error->desc;
        return 0;
      },
      &reason);
  if (reason.empty()) return "no reason given";
  for (auto& character : reason)
    if (character == '\n') character = ' ';
  if (reason.size() < 2 || std::islower(static_cast<unsigned char>(reason[1])) != 0)
    reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
  return reason;
}

Hdf5Minors hdf5_minors() {
  Hdf5Minors minors;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        static_cast<Hdf5Minors*>(out)->kinds.push_back(error->min_num);
        return 0;
      },
      &minors);
  return minors;
}

bool too_new(std::string_view reason) {
  return reason.find("bad version number") != std::string_view::npos ||
         reason.find("unknown datatype class") != std::string_view::npos;
}

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

Hdf5Handle open_hdf5(const std::string& path) {
  // Kept for good: closing it after a failed opening would clear the library's reason for that.
  static const hid_t access = [] {
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(list, 1, 1);
    return list;
  }();
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose};
}

struct LibraryDataset::Handles {
  std::string what;  ///< file and dataset, for messages
  Hdf5Handle file;
  Hdf5Handle dataset;
  Hdf5Handle space;
  Hdf5Handle type;
  std::vector<std::uint64_t> shape;
  std::uint64_t row_bytes = 0;
};

LibraryDataset::LibraryDataset(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}
LibraryDataset::LibraryDataset(LibraryDataset&&) noexcept = default;
LibraryDataset& LibraryDataset::operator=(LibraryDataset&&) noexcept = default;

LibraryDataset::~LibraryDataset() {
  if (!handles_) return;
  const std::lock_guard lock(hdf5_mutex());
  handles_.reset();
}

Result<LibraryDataset> LibraryDataset::open(const std::filesystem::path& path, const DatasetLayout& layout) {
  const std::lock_guard lock(hdf5_mutex());
  prepare_hdf5();
  auto handles = std::make_unique<Handles>();
  handles->what = fmt::format("{}: dataset \"{}\"", path.string(), layout.dataset);
  handles->file = open_hdf5(path.string());
  if (handles->file.valid())
    handles->dataset = Hdf5Handle(H5Dopen2(handles->file.get(), layout.dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!handles->dataset.valid())
    return fail(ErrorCode::corrupt, "{}: cannot be opened: {}", handles->what, hdf5_reason());
  handles->space = Hdf5Handle(H5Dget_space(handles->dataset.get()), H5Sclose);
  const Hdf5Handle file_type(H5Dget_type(handles->dataset.get()), H5Tclose);
  handles->type = memory_type(file_type.get());
  handles->shape = layout.shape;
  handles->row_bytes = layout.row_bytes();
  const auto rank = H5Sget_simple_extent_ndims(handles->space.get());
  if (!handles->type.valid() || H5Tget_size(handles->type.get()) != layout.element.size ||
      rank != static_cast<int>(layout.shape.size()))
    return fail(ErrorCode::corrupt, "{}: is not what it was before", handles->what)
        .hint("was the file rewritten meanwhile?");
  return LibraryDataset(std::move(handles));
}

Result<void> LibraryDataset::read(std::uint64_t first, std::uint64_t count, std::span<std::byte> out) const {
  const std::lock_guard lock(hdf5_mutex());
  prepare_hdf5();
  const auto& h = *handles_;
  if (out.size() < count * h.row_bytes)
    return fail(ErrorCode::internal, "{}: {} bytes for {} rows of {}", h.what, out.size(), count, h.row_bytes);
  hid_t memory_space = H5S_ALL;
  Hdf5Handle rows;
  if (!h.shape.empty()) {
    std::vector<hsize_t> start(h.shape.size(), 0);
    std::vector<hsize_t> extent(h.shape.begin(), h.shape.end());
    start[0] = first;
    extent[0] = count;
    rows = Hdf5Handle(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    memory_space = rows.get();
    if (H5Sselect_hyperslab(h.space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) < 0)
      return fail(ErrorCode::invalid_argument, "{}: rows {} to {} do not exist", h.what, first, first + count);
  }
  if (H5Dread(h.dataset.get(), h.type.get(), memory_space, h.shape.empty() ? H5S_ALL : h.space.get(), H5P_DEFAULT,
              out.data()) < 0)
    return fail(ErrorCode::corrupt, "{}: rows {} to {}: {}", h.what, first, first + count, hdf5_reason());
  return {};
}

}  // namespace ridgeline::loader
