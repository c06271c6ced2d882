// SPDX-License-Identifier: Apache-2.0
// What becomes of each kind of element and storage: a tensor by our own reading, one by the library with a note, or one
// clear line.
#include "loader/hdf5_types.hpp"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "fakes/hdf5_files.hpp"
#include "fakes/temporary_folder.hpp"
#include "loader/hdf5_handle.hpp"
#include "loader/hdf5_library.hpp"
#include "loader/loader.hpp"
#include "loader/signed_form.hpp"

namespace ridgeline::loader {
namespace {

class Hdf5Types : public ::testing::Test {
 protected:
  template <typename T>
  void write(hid_t file_type, hid_t memory_type, const std::vector<T>& values) {
    const std::lock_guard lock(hdf5_mutex());
    prepare_hdf5();
    const Hdf5Handle file(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const hsize_t length = values.size();
    const Hdf5Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const Hdf5Handle dataset(H5Dcreate2(file.get(), "x", file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                             H5Dclose);
    ASSERT_GE(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  }
  base::Result<std::unique_ptr<Loader>> open(unsigned workers = 0, std::uint64_t cache = 1U << 20U,
                                             bool signed_integers = true) const {
    LoaderOptions options;
    options.datasets = {"x"};
    options.batch_size = 7;
    options.workers = workers;
    options.cache_bytes = cache;
    options.layouts = LayoutCache("");
    options.sampler.order = SampleOrder::sequential;
    options.signed_integers = signed_integers;
    return Loader::open(path_, std::move(options), std::make_shared<HostAllocator>());
  }
  /// All elements of an epoch as T; the error, if there is one.
  template <typename T>
  base::Result<std::vector<T>> read(Loader& loader) const {
    RL_TRY(loader.start_epoch(0));
    std::vector<T> all;
    for (;;) {
      RL_TRY_ASSIGN(const auto batch, loader.next());
      if (!batch) return all;
      const auto data = batch->data(0);
      const auto before = all.size();
      all.resize(before + data.size() / sizeof(T));
      std::memcpy(all.data() + before, data.data(), data.size());
    }
  }
  std::string refusal() const {
    const auto loader = open();
    return loader ? "no error" : base::error_line(loader.error());
  }
  std::string note() const {
    const auto loader = open();
    if (!loader) return base::error_line(loader.error());
    const auto notes = (*loader)->notes();
    return notes.size() == 1 ? notes[0] : fmt::format("{} notes", notes.size());
  }

  fakes::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "types.h5";
};

template <typename From, typename To>
std::vector<To> converted(const std::vector<std::byte>& stored) {
  std::vector<To> numbers;
  for (std::size_t at = 0; at < stored.size(); at += sizeof(From)) {
    From number{};
    std::memcpy(&number, stored.data() + at, sizeof number);
    numbers.push_back(static_cast<To>(number));
  }
  return numbers;
}

TEST_F(Hdf5Types, unsigned_integers_arrive_in_signed_form_where_that_is_asked_for) {
  for (const char* filters : {"", "sg"})
    for (const bool big_endian : {false, true})
      for (const std::uint64_t cache : {0U, 1000U, 1U << 20U}) {  // no memory, single rows, whole chunks
        const unsigned workers = cache == 1000 ? 2 : 0;
        SCOPED_TRACE(fmt::format("{} {} {}", filters, big_endian, cache));
        fakes::Hdf5Case c;
        c.big_endian = big_endian;
        c.filters = filters;
        c.shape = {50, 6};
        c.chunk = {8, 6};
        c.random = true;
        c.element = "u2";
        fakes::write_hdf5(path_, c);
        const auto sixteen = open(workers, cache);
        ASSERT_TRUE(sixteen) << sixteen.error().message;
        EXPECT_EQ((*sixteen)->element(0).name(), "int32");
        EXPECT_EQ((*sixteen)->layout(0).element.name(), "uint16");
        EXPECT_TRUE(*read<std::int32_t>(**sixteen) ==
                    (converted<std::uint16_t, std::int32_t>(fakes::read_with_library(path_))));
        c.element = "u4";
        fakes::write_hdf5(path_, c);
        const auto thirty_two = open(workers, cache);
        EXPECT_EQ((*thirty_two)->element(0).name(), "int64");
        EXPECT_TRUE(*read<std::int64_t>(**thirty_two) ==
                    (converted<std::uint32_t, std::int64_t>(fakes::read_with_library(path_))));
        c.element = "u8";
        c.random = false;
        fakes::write_hdf5(path_, c);
        const auto sixty_four = open(workers, cache);
        EXPECT_EQ((*sixty_four)->element(0).name(), "int64");
        EXPECT_TRUE(*read<std::int64_t>(**sixty_four) ==
                    (converted<std::uint64_t, std::int64_t>(fakes::read_with_library(path_))));
      }
}

TEST_F(Hdf5Types, all_else_keeps_its_type) {
  for (const char* element : {"i1", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "b1"}) {
    fakes::Hdf5Case c;
    c.element = element;
    fakes::write_hdf5(path_, c);
    const auto loader = open();
    ASSERT_TRUE(loader) << loader.error().message;
    EXPECT_EQ((*loader)->element(0), (*loader)->layout(0).element) << element;
    EXPECT_TRUE(*read<std::byte>(**loader) == fakes::read_with_library(path_)) << element;
  }
  fakes::Hdf5Case c;
  c.element = "u2";
  fakes::write_hdf5(path_, c);
  EXPECT_EQ((*open(0, 0, false))->element(0).name(), "uint16");
}

TEST_F(Hdf5Types, a_value_beyond_the_greatest_int64_is_named) {
  const std::vector<std::uint64_t> values{1, 2, 3, 4, 5, 6, 7, 8, ~std::uint64_t{0}, 10};
  write(H5T_STD_U64BE, H5T_NATIVE_UINT64, values);
  const auto loader = open();
  ASSERT_TRUE(loader);
  const auto numbers = read<std::int64_t>(**loader);
  ASSERT_FALSE(numbers);
  EXPECT_EQ(base::error_line(numbers.error()), path_.string() +
                                                   ": dataset \"x\": sample 8 holds 18446744073709551615, beyond the "
                                                   "greatest int64; store it as float64 or less");
}

TEST_F(Hdf5Types, bit_fields_are_unsigned_integers) {  // PyTables' booleans
  const std::vector<std::uint8_t> values{0, 1, 1, 0, 1, 0, 0, 1, 1};
  write(H5T_STD_B8LE, H5T_NATIVE_B8, values);
  const auto loader = open();
  ASSERT_TRUE(loader) << loader.error().message;
  EXPECT_EQ((*loader)->element(0).name(), "uint8");
  EXPECT_TRUE((*loader)->notes().empty());
  EXPECT_EQ(*read<std::uint8_t>(**loader), values);
}

TEST_F(Hdf5Types, numbers_in_odd_formats_come_through_the_library_as_plain_ones) {
  const std::vector<std::int16_t> values{0, 1, -1, 2047, -2048, 100};
  {
    const Hdf5Handle twelve_bits(H5Tcopy(H5T_STD_I16BE), H5Tclose);
    H5Tset_precision(twelve_bits.get(), 12);
    H5Tset_offset(twelve_bits.get(), 2);
    write(twelve_bits.get(), H5T_NATIVE_INT16, values);
  }
  EXPECT_EQ(
      note(),
      "dataset \"x\" is read by the HDF5 library, one thread at a time: integers with unused bits or of an unusual "
      "size");
  {
    const auto loader = open();
    ASSERT_TRUE(loader) << loader.error().message;
    EXPECT_EQ((*loader)->element(0).name(), "int16");
    EXPECT_EQ(*read<std::int16_t>(**loader), values);
  }

  const std::vector<float> floats{0, 1, -1.5F, 256, 1.0F / 128};
  {
    const Hdf5Handle bfloat(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
    H5Tset_fields(bfloat.get(), 15, 7, 8, 0, 7);
    H5Tset_size(bfloat.get(), 2);
    write(bfloat.get(), H5T_NATIVE_FLOAT, floats);
  }
  const auto brain = open();
  ASSERT_TRUE(brain) << brain.error().message;
  EXPECT_EQ((*brain)->element(0).name(), "float32");
  EXPECT_EQ((*brain)->notes().size(), 1U);
  EXPECT_EQ(*read<float>(**brain), floats);
}

TEST_F(Hdf5Types, elements_of_variable_length_are_refused_in_one_line) {
  const auto line = path_.string() +
                    ": dataset \"x\": elements of variable length cannot be put into a batch; store a fixed-size array";
  {
    const Hdf5Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(text.get(), H5T_VARIABLE);
    write(text.get(), text.get(), std::vector<const char*>{"a", "bcd"});
    EXPECT_EQ(refusal(), path_.string() +
                             ": dataset \"x\": strings of variable length cannot be put into a batch; store "
                             "numbers: for classes, an integer from 0 for each sample");
    const Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, sizeof(char*) + 8), H5Tclose);
    H5Tinsert(pair.get(), "name", 0, text.get());
    H5Tinsert(pair.get(), "value", sizeof(char*), H5T_NATIVE_INT64);
    struct Pair {
      const char* name;
      std::int64_t value;
    };
    write(pair.get(), pair.get(), std::vector<Pair>{{"a", 1}, {"b", 2}});
    EXPECT_EQ(refusal(), line);
  }
  const Hdf5Handle sequence(H5Tvlen_create(H5T_NATIVE_FLOAT), H5Tclose);
  std::array<float, 3> numbers{1, 2, 3};
  write(sequence.get(), sequence.get(), std::vector<hvl_t>{{2, numbers.data()}, {3, numbers.data()}});
  EXPECT_EQ(refusal(), line);
  const Hdf5Handle pairs(H5Tarray_create2(sequence.get(), 1, std::array<hsize_t, 1>{1}.data()), H5Tclose);
  write(pairs.get(), pairs.get(), std::vector<hvl_t>{{2, numbers.data()}, {3, numbers.data()}});
  EXPECT_EQ(refusal(), line);
}

TEST_F(Hdf5Types, what_only_the_library_reads_arrives_with_a_note) {
  const auto expect = [&](fakes::Hdf5Case c, const char* reason) {
    SCOPED_TRACE(reason);
    fakes::write_hdf5(path_, c);
    const auto expected = fakes::read_with_library(path_);
    for (const unsigned workers : {0U, 3U}) {
      const auto loader = open(workers);
      ASSERT_TRUE(loader) << loader.error().message;
      EXPECT_TRUE(*read<std::byte>(**loader) == expected);
    }
    EXPECT_EQ(note(), std::string("dataset \"x\" is read by the HDF5 library, one thread at a time: ") + reason);
  };
  fakes::Hdf5Case compound;
  compound.element = "c12";
  expect(compound, "compound elements");
  compound.chunk = {4, 3, 4};
  compound.filters = "sg";
  expect(compound, "compound elements");
  fakes::Hdf5Case external;
  external.external = true;
  expect(external, "data in external files");
  fakes::Hdf5Case assembled;
  assembled.virtual_dataset = true;
  assembled.latest = true;
  expect(assembled, "a virtual dataset");
}

}  // namespace
}  // namespace ridgeline::loader
