// SPDX-License-Identifier: Apache-2.0
#include "fakes/hdf5_files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>

#include <fmt/format.h>

#include "base/random.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"

namespace ridgeline::fakes {
namespace {

using loader::Hdf5Handle;

constexpr H5Z_filter_t kLzf = 32000;

template <typename T>
T need(T value, const char* what) {
  if (value < 0) {
    std::fprintf(stderr, "hdf5_files: %s: %s\n", what, loader::hdf5_reason().c_str());
    std::abort();
  }
  return value;
}

/// Runs of one byte as back references, all else as literals: valid LZF, though a lazy one.
std::vector<unsigned char> lzf_compress(const unsigned char* in, std::size_t size) {
  std::vector<unsigned char> out;
  std::vector<unsigned char> literals;
  const auto flush = [&] {
    for (std::size_t at = 0; at < literals.size(); at += 32) {
      const auto count = std::min<std::size_t>(32, literals.size() - at);
      out.push_back(static_cast<unsigned char>(count - 1));
      out.insert(out.end(), literals.begin() + static_cast<std::ptrdiff_t>(at),
                 literals.begin() + static_cast<std::ptrdiff_t>(at + count));
    }
    literals.clear();
  };
  for (std::size_t at = 0; at < size;) {
    std::size_t best = 0;
    std::size_t best_distance = 0;
    for (std::size_t distance = 1; distance <= std::min<std::size_t>(at, 40); ++distance) {
      std::size_t length = 0;
      while (at + length < size && length < 264 && in[at + length] == in[at + length - distance]) ++length;
      if (length > best) best = length, best_distance = distance;
    }
    if (best < 3) {
      literals.push_back(in[at++]);
      continue;
    }
    flush();
    const auto code = best - 2;
    const auto back = best_distance - 1;
    out.push_back(static_cast<unsigned char>(std::min<std::size_t>(code, 7) << 5U | back >> 8U));
    if (code >= 7) out.push_back(static_cast<unsigned char>(code - 7));
    out.push_back(static_cast<unsigned char>(back & 0xFFU));
    at += best;
  }
  flush();
  return out;
}

std::vector<unsigned char> lzf_expand(const unsigned char* in, std::size_t size) {
  std::vector<unsigned char> out;
  for (std::size_t at = 0; at < size;) {
    const unsigned control = in[at++];
    if (control < 32) {
      for (unsigned i = 0; i <= control; ++i) out.push_back(in[at++]);
      continue;
    }
    unsigned length = control >> 5U;
    if (length == 7) length += in[at++];
    const unsigned distance = ((control & 31U) << 8U) + in[at++] + 1;
    for (unsigned i = 0; i < length + 2; ++i) out.push_back(out[out.size() - distance]);
  }
  return out;
}

size_t lzf_filter(unsigned flags, size_t, const unsigned*, size_t bytes, size_t* room, void** buffer) {
  const auto* data = static_cast<const unsigned char*>(*buffer);
  const auto result = (flags & H5Z_FLAG_REVERSE) != 0 ? lzf_expand(data, bytes) : lzf_compress(data, bytes);
  if ((flags & H5Z_FLAG_REVERSE) == 0 && result.size() >= bytes) return 0;  // optional: the chunk's mask gets its bit
  if (result.size() > *room) {
    *buffer = std::realloc(*buffer, result.size());
    *room = result.size();
  }
  std::memcpy(*buffer, result.data(), result.size());
  return result.size();
}

Hdf5Handle half_type() {
  Hdf5Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  need(H5Tset_fields(type.get(), 15, 10, 5, 0, 10), "half fields");
  need(H5Tset_size(type.get(), 2), "half size");
  need(H5Tset_ebias(type.get(), 15), "half bias");
  return type;
}

/// The little-endian form; also what H5Dread is asked for.
Hdf5Handle element_type(const std::string& element) {
  const auto size = static_cast<std::size_t>(std::atoi(element.c_str() + 1));
  switch (element[0]) {
    case 'f':
      if (size == 2) return half_type();
      return {H5Tcopy(size == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE), H5Tclose};
    case 'i':
    case 'u': {
      static const std::array kSigned{H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE};
      static const std::array kUnsigned{H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE};
      const auto power = size == 1 ? 0U : size == 2 ? 1U : size == 4 ? 2U : 3U;
      return {H5Tcopy(element[0] == 'i' ? kSigned[power] : kUnsigned[power]), H5Tclose};
    }
    case 'b': {
      Hdf5Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
      for (signed char value = 0; value < 2; ++value) H5Tenum_insert(type.get(), value == 0 ? "FALSE" : "TRUE", &value);
      return type;
    }
    case 'c': {
      Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 12), H5Tclose);
      H5Tinsert(type.get(), "a", 0, H5T_STD_I32LE);
      H5Tinsert(type.get(), "b", 4, H5T_IEEE_F64LE);
      return type;
    }
    default: {
      Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(type.get(), size);
      return type;
    }
  }
}

std::vector<unsigned char> content(const Hdf5Case& c, std::size_t elements, std::size_t size) {
  base::Random random(std::hash<std::string>{}(c.element) + elements);
  std::vector<unsigned char> bytes(elements * size);
  for (std::size_t i = 0; i < elements; ++i) {
    const auto word = c.random ? random.next() : (random.below(4) == 0 ? random.below(1000) : i / 3 % 50);
    for (std::size_t b = 0; b < size; ++b) {
      const bool number = c.element[0] != 's' && c.element[0] != 'b';
      const auto byte = b < 8 ? word >> (8 * b) & 0xFFU : word & 0xFFU;
      bytes[i * size + b] = static_cast<unsigned char>(c.element[0] == 'b' ? byte & 1U
                                                       : number            ? byte
                                                                           : 'a' + byte % 26);
    }
  }
  return bytes;
}

void set_filters(hid_t properties, const Hdf5Case& c) {
  for (const char letter : c.filters) {
    if (letter == 's') need(H5Pset_shuffle(properties), "shuffle");
    if (letter == 'g') need(H5Pset_deflate(properties, c.gzip_level), "deflate");
    if (letter == 'f') need(H5Pset_fletcher32(properties), "fletcher32");
    if (letter == 'n') need(H5Pset_nbit(properties), "nbit");
    if (letter == 'l') {
      const std::array<unsigned, 3> values{4, 0x0105, 0};
      need(H5Pset_filter(properties, kLzf, H5Z_FLAG_OPTIONAL, values.size(), values.data()), "lzf");
    }
  }
}

Hdf5Handle creation_properties(const std::filesystem::path& path, const Hdf5Case& c, hid_t type, hsize_t bytes) {
  Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!c.chunk.empty()) need(H5Pset_chunk(properties.get(), static_cast<int>(c.chunk.size()), c.chunk.data()), "chunk");
  if (c.compact) need(H5Pset_layout(properties.get(), H5D_COMPACT), "compact");
  if (c.external) need(H5Pset_external(properties.get(), (path.string() + ".raw").c_str(), 0, bytes), "external");
  if (c.early) need(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY), "early");
  if (c.unfiltered_edges) need(H5Pset_chunk_opts(properties.get(), H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS), "edges");
  if (c.user_fill) {
    const std::array<unsigned char, 16> fill{3, 2, 1, 64, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    need(H5Pset_fill_value(properties.get(), type, fill.data()), "fill");
  }
  set_filters(properties.get(), c);
  return properties;
}

/// Writes each n-th slab of chunk rows through the library, so that the others stay missing.
void write_rows(hid_t dataset, hid_t type, const Hdf5Case& c, const std::vector<unsigned char>& data,
                std::size_t row_bytes) {
  const hsize_t step = c.chunk.empty() ? c.shape[0] : c.chunk[0];
  for (hsize_t first = 0; first < c.shape[0]; first += step) {
    const auto number = first / step;
    const bool listed = std::find(c.written.begin(), c.written.end(), number) != c.written.end();
    if (c.written.empty() ? number % c.written_every != 0 : !listed) continue;
    std::vector<hsize_t> start(c.shape.size(), 0);
    auto extent = c.shape;
    start[0] = first;
    extent[0] = std::min(step, c.shape[0] - first);
    const Hdf5Handle file_space(H5Dget_space(dataset), H5Sclose);
    need(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr),
         "select");
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    need(H5Dwrite(dataset, type, space.get(), file_space.get(), H5P_DEFAULT, data.data() + first * row_bytes), "write");
  }
}

/// Replaces each n-th chunk by raw bytes with every filter masked.
void mask_chunks(hid_t dataset, const Hdf5Case& c, std::size_t element_bytes) {
  auto bytes = element_bytes;
  for (const auto extent : c.chunk) bytes *= extent;
  std::vector<unsigned char> raw(bytes);
  std::vector<hsize_t> at(c.shape.size(), 0);
  for (unsigned number = 0;; ++number) {
    for (std::size_t i = 0; i < bytes; ++i) raw[i] = static_cast<unsigned char>(i * 7 + number);
    if (number % c.unfiltered_every == 0)
      need(H5Dwrite_chunk(dataset, H5P_DEFAULT, (1U << c.filters.size()) - 1U, at.data(), bytes, raw.data()),
           "write_chunk");
    std::size_t axis = at.size();
    while (axis > 0 && (at[axis - 1] += c.chunk[axis - 1]) >= c.shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace

void register_lzf() {
  loader::prepare_hdf5();
  if (H5Zfilter_avail(kLzf) > 0) return;
  static const H5Z_class2_t kClass{H5Z_CLASS_T_VERS, kLzf, 1, 1, "lzf", nullptr, nullptr, lzf_filter};
  need(H5Zregister(&kClass), "register lzf");
}

void write_hdf5(const std::filesystem::path& path, const Hdf5Case& wanted) {
  auto c = wanted;
  if (!c.first_shape.empty()) c.shape = c.first_shape;
  const std::lock_guard lock(loader::hdf5_mutex());
  register_lzf();
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  if (c.user_block > 0) need(H5Pset_userblock(creation.get(), c.user_block), "user block");
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (c.latest) need(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "latest");
  const Hdf5Handle file(need(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), "create"), H5Fclose);
  const auto type = element_type(c.element);
  Hdf5Handle file_type(H5Tcopy(type.get()), H5Tclose);
  if (c.big_endian) need(H5Tset_order(file_type.get(), H5T_ORDER_BE), "order");
  const auto size = H5Tget_size(type.get());
  const auto elements = std::accumulate(c.shape.begin(), c.shape.end(), std::size_t{1}, std::multiplies<>());
  const Hdf5Handle space(c.shape.empty() ? H5Screate(H5S_SCALAR)
                                         : H5Screate_simple(static_cast<int>(c.shape.size()), c.shape.data(),
                                                            c.max_shape.empty() ? nullptr : c.max_shape.data()),
                         H5Sclose);
  auto properties = creation_properties(path, c, type.get(), elements * size);
  if (c.virtual_dataset) {
    const Hdf5Handle source(
        need(H5Dcreate2(file.get(), "source", file_type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
             "source"),
        H5Dclose);
    const auto data = content(c, elements, size);
    need(H5Dwrite(source.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), "write source");
    need(H5Pset_virtual(properties.get(), space.get(), ".", "source", space.get()), "virtual");
  }
  const Hdf5Handle dataset(
      need(H5Dcreate2(file.get(), "x", file_type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
           c.name.c_str()),
      H5Dclose);
  if (c.virtual_dataset || elements == 0) return;
  const auto data = content(c, elements, size);
  if (c.shape.empty())
    need(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), "write scalar");
  else if (c.written_every > 0)
    write_rows(dataset.get(), type.get(), c, data, data.size() / c.shape[0]);
  if (c.unfiltered_every > 0) mask_chunks(dataset.get(), c, size);
  if (!c.first_shape.empty()) need(H5Dset_extent(dataset.get(), wanted.shape.data()), "set extent");
}

std::vector<std::byte> read_with_library(const std::filesystem::path& path, const std::string& name) {
  const std::lock_guard lock(loader::hdf5_mutex());
  register_lzf();
  const auto file = loader::open_hdf5(path.string());
  const Hdf5Handle dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const Hdf5Handle file_type(H5Dget_type(dataset.get()), H5Tclose);
  const auto type_class = H5Tget_class(file_type.get());
  const bool number = type_class == H5T_INTEGER || type_class == H5T_FLOAT;
  Hdf5Handle type(number ? H5Tcopy(file_type.get()) : H5Tget_native_type(file_type.get(), H5T_DIR_ASCEND), H5Tclose);
  if (number) H5Tset_order(type.get(), H5T_ORDER_LE);
  const auto elements = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
  std::vector<std::byte> bytes(elements * H5Tget_size(type.get()));
  if (!bytes.empty()) need(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), "H5Dread");
  return bytes;
}

std::uint64_t header_address(const std::filesystem::path& path, const std::string& name) {
  const std::lock_guard lock(loader::hdf5_mutex());
  const auto file = loader::open_hdf5(path.string());
  const Hdf5Handle dataset(need(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), "open"), H5Dclose);
  H5O_info_t info;
  need(H5Oget_info2(dataset.get(), &info, H5O_INFO_BASIC), "info");
  return info.addr;
}

namespace {

using Add = std::function<void(Hdf5Case)>;

/// Every chunk index of "latest" with filters, missing chunks, partial chunks (filtered and not), growing and
/// shrinking.
void add_index_cases(const Add& add) {
  constexpr auto kNoLimit = H5S_UNLIMITED;
  struct Form {
    std::vector<hsize_t> shape, chunk, max_shape;
  };
  const std::array forms{Form{{43, 31}, {4, 6}, {43, 31}},                // fixed array
                         Form{{43, 31}, {4, 6}, {90, 47}},                // numbered by a greater extent
                         Form{{43, 31}, {4, 6}, {kNoLimit, 31}},          // extensible array
                         Form{{43, 31}, {4, 6}, {kNoLimit, 80}},          //
                         Form{{43, 31}, {4, 6}, {50, kNoLimit}},          // the axis without a limit is not the first
                         Form{{13, 5, 7}, {5, 2, 3}, {14, kNoLimit, 9}},  //
                         Form{{9, 8, 5}, {2, 3, 2}, {12, 8, kNoLimit}},   //
                         Form{{43, 31}, {4, 6}, {kNoLimit, kNoLimit}},    // version 2 B-tree
                         Form{{13, 5, 7}, {5, 2, 3}, {kNoLimit, 5, kNoLimit}}};
  unsigned turn = 0;
  for (const auto& form : forms)
    for (const char* filters : {"", "g", "sgf", "lf"})
      for (unsigned variant = 0; variant < 3; ++variant, ++turn) {
        Hdf5Case c;
        c.latest = true;
        c.element = variant == 0 ? "f4" : variant == 1 ? "u2" : "i8";
        c.big_endian = variant == 1;
        c.shape = form.shape;
        c.chunk = form.chunk;
        c.max_shape = form.max_shape;
        c.filters = filters;
        c.written_every = turn % 2 == 0 ? 1 : 3;
        c.user_fill = turn % 4 == 1;
        c.early = turn % 5 == 0;
        c.unfiltered_edges = variant > 0;
        c.user_block = turn % 7 == 0 ? 512 : 0;
        if (turn % 3 == 0) {
          c.first_shape = c.max_shape;
          for (std::size_t axis = 0; axis < c.shape.size(); ++axis)
            c.first_shape[axis] =
                std::min(c.max_shape[axis], turn % 2 == 0 ? c.shape[axis] + 9 : c.shape[axis] / 2 + 1);
        }
        if (turn % 11 == 5 && !c.filters.empty() && c.first_shape.empty()) c.unfiltered_every = 3;
        add(c);
      }
  for (const bool filtered : {false, true}) {  // so many chunks that blocks lie below blocks, and in pages
    Hdf5Case c;
    c.latest = true;
    c.element = "u2";
    c.filters = filtered ? "f" : "";
    c.chunk = {1, 1};
    c.shape = {90, 60};
    c.max_shape = {kNoLimit, kNoLimit};
    add(c);  // version 2 B-tree of three levels
    c.shape = {170, 2};
    c.max_shape = {200, 1000};
    c.written = {0, 1, 20, 131, 132, 133, 150, 169};
    add(c);  // fixed array of 200,000 elements, some pages never made
    c.max_shape = {kNoLimit, 1000};
    add(c);  // extensible array with super blocks and pages, some never made
    c.written = {};
    add(c);
  }
}

}  // namespace

std::vector<Hdf5Case> hdf5_corpus() {
  std::vector<Hdf5Case> cases;
  const auto add = [&](Hdf5Case c) {
    c.name = fmt::format("{:03} {}{} {}d {} {}{}{}{}{}{}", cases.size(), c.element, c.big_endian ? " BE" : "",
                         c.shape.size(), c.chunk.empty() ? "whole" : "chunks", c.filters, c.latest ? " latest" : "",
                         c.user_block > 0 ? " user block" : "", c.written_every != 1 ? " missing" : "",
                         c.user_fill ? " fill" : "", c.random ? " random" : "");
    cases.push_back(std::move(c));
  };
  add_index_cases(add);
  const std::array<const char*, 11> elements{"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"};
  const std::array<const char*, 10> filters{"", "g", "sg", "l", "sl", "f", "sgf", "slf", "fg", "s"};
  struct Shape {
    std::vector<hsize_t> shape, chunk;
  };
  const std::array shapes{Shape{{100}, {16}},
                          Shape{{48}, {16}},
                          Shape{{37, 9}, {8, 9}},
                          Shape{{21, 10}, {4, 3}},
                          Shape{{13, 3, 8}, {4, 3, 8}},
                          Shape{{13, 5, 7}, {5, 2, 3}},
                          Shape{{9, 3, 6, 5}, {2, 3, 6, 5}},
                          Shape{{7, 3, 6, 5}, {3, 2, 6, 2}},
                          Shape{{5, 4}, {8, 6}}};
  unsigned turn = 0;
  for (const auto* element : elements)  // each element type x filter, everything else taking turns
    for (const auto* filter : filters)
      for (unsigned variant = 0; variant < 2; ++variant, ++turn) {
        const auto& shape = shapes[turn % shapes.size()];
        Hdf5Case c;
        c.element = element;
        c.filters = filter;
        c.shape = shape.shape;
        c.chunk = shape.chunk;
        if (c.chunk[0] > c.shape[0]) c.max_shape.assign(c.shape.size(), H5S_UNLIMITED);  // else refused
        c.big_endian = variant == 1 && element[1] != '1';
        c.latest = turn % 4 >= 2;
        c.user_block = turn % 5 == 0 ? 512 : turn % 5 == 3 ? 4096 : 0;
        c.written_every = turn % 3 == 0 ? 2 : 1;
        c.user_fill = turn % 6 < 3;
        c.random = turn % 7 == 0;
        if (turn % 11 == 0 && c.filters.size() > 0) c.unfiltered_every = 3;
        add(c);
      }
  for (const auto* element : elements)
    for (const bool big : {false, true})
      for (const bool compact : {false, true}) {
        Hdf5Case c;
        c.element = element;
        c.big_endian = big;
        c.compact = compact;
        c.shape = compact ? std::vector<hsize_t>{6, 5} : std::vector<hsize_t>{50, 3, 5};
        c.user_block = big ? 1024 : 0;
        c.latest = element[1] == '4';
        add(c);
      }
  for (const bool filtered : {false, true}) {  // the index formats of "latest"
    Hdf5Case c;
    c.latest = true;
    c.filters = filtered ? "sg" : "";
    c.shape = {40, 6};
    c.chunk = {40, 6};
    add(c);  // single chunk
    c.chunk = {1, 1};
    c.shape = {80, 40};
    c.written_every = 3;
    add(c);  // fixed array in pages
    c.written_every = 1;
    c.user_block = 512;
    add(c);
    c.chunk = {4, 6};
    c.max_shape = {200, 40};
    add(c);  // fixed array numbered by a greater extent
    c.max_shape = {H5S_UNLIMITED, 40};
    add(c);  // extensible array
    c.max_shape = {H5S_UNLIMITED, H5S_UNLIMITED};
    add(c);  // version 2 B-tree
    c.max_shape = {};
    c.early = true;
    add(c);  // implicit when unfiltered
    c.early = false;
    c.shape = {43, 31};
    c.unfiltered_edges = true;
    add(c);
  }
  for (const bool filtered : {false, true}) {
    Hdf5Case c;
    c.shape = {700, 3};
    c.chunk = {1, 3};
    c.filters = filtered ? "g" : "";
    add(c);  // a version 1 B-tree of several levels
    c.max_shape = {H5S_UNLIMITED, 3};
    add(c);
    c.shape = {0, 3};
    add(c);  // no rows at all
    c.shape = {64, 3};
    c.written_every = 0;
    c.user_fill = filtered;
    add(c);  // nothing ever written
  }
  Hdf5Case never;
  never.written_every = 0;
  never.user_fill = true;
  add(never);  // contiguous, nothing written
  Hdf5Case scalar;
  scalar.shape = {};
  add(scalar);
  for (const auto* element : {"b1", "c12", "s5"})
    for (const bool chunked : {false, true}) {
      Hdf5Case c;
      c.element = element;
      if (chunked) c.chunk = {4, 3, 4}, c.filters = "g";
      add(c);
    }
  Hdf5Case other;
  other.element = "i4";
  other.chunk = {4, 3, 4};
  other.filters = "n";
  add(other);
  other.filters = "gg";
  add(other);
  other.filters = "";
  other.chunk = {};
  other.external = true;
  add(other);
  other.external = false;
  other.virtual_dataset = true;
  other.latest = true;
  add(other);
  return cases;
}

}  // namespace ridgeline::fakes
