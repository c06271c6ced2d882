// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ridgeline::fakes {

/// One HDF5 file to write: a dataset "x" of these properties.
struct Hdf5Case {
  std::string name;
  std::string element =
      "f4";  ///< i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 b1 (h5py's boolean), c12 (compound), s5 (fixed string)
  bool big_endian = false;
  std::vector<hsize_t> shape{10, 3, 4};
  std::vector<hsize_t> chunk;      ///< empty: contiguous or compact
  std::vector<hsize_t> max_shape;  ///< empty: as shape
  std::string filters;             ///< letters in order: s shuffle, g gzip, l lzf, f fletcher32, n nbit
  unsigned gzip_level = 4;
  bool compact = false;
  bool external = false;
  bool virtual_dataset = false;
  bool latest = false;            ///< libver latest
  bool early = false;             ///< space allocated at once
  bool unfiltered_edges = false;  ///< the option not to filter partial chunks
  unsigned user_block = 0;
  bool user_fill = false;            ///< a fill value of its own instead of zero
  unsigned written_every = 1;        ///< only each n-th chunk row is written; the others are missing
  std::vector<hsize_t> written;      ///< chunk rows to write, instead; empty: written_every tells
  std::vector<hsize_t> first_shape;  ///< made and written with this shape, then shrunk or grown; empty: not so
  unsigned unfiltered_every = 0;     ///< each n-th chunk is written raw, with all filters masked
  bool random = false;               ///< incompressible content
};

/// Registers an LZF filter (encoder and an own, simple decoder) with the library, once.
void register_lzf();

/// Writes the file; aborts the test program on any refusal of the library.
void write_hdf5(const std::filesystem::path& path, const Hdf5Case& c);

/// The whole of "x" by H5Dread, in the host's byte order (enumerations and compounds: the library's native form).
[[nodiscard]] std::vector<std::byte> read_with_library(const std::filesystem::path& path,
                                                       const std::string& dataset = "x");

/// Where the object header of a dataset lies, from the end of the user block.
[[nodiscard]] std::uint64_t header_address(const std::filesystem::path& path, const std::string& dataset = "x");

/// Several hundred cases that go through every combination worth having.
[[nodiscard]] std::vector<Hdf5Case> hdf5_corpus();

}  // namespace ridgeline::fakes
