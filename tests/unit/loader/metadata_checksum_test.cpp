// SPDX-License-Identifier: Apache-2.0
#include "loader/metadata_checksum.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace ridgeline::loader {
namespace {

std::uint32_t of(std::string_view text) {
  return metadata_checksum({reinterpret_cast<const std::byte*>(text.data()), text.size()});
}

TEST(MetadataChecksum, gives_the_values_that_lookup3_was_published_with) {
  EXPECT_EQ(of(""), 0xDEADBEEFU);
  EXPECT_EQ(of("Four score and seven years ago"), 0x17770551U);
}

TEST(MetadataChecksum, every_byte_counts_at_every_length) {
  for (std::size_t size = 1; size < 40; ++size) {
    std::string text(size, 'a');
    const auto whole = of(text);
    EXPECT_NE(whole, of(std::string(size + 1, 'a')));
    for (auto& byte : text) {
      byte = 'b';
      EXPECT_NE(of(text), whole) << size;
      byte = 'a';
    }
  }
}

}  // namespace
}  // namespace ridgeline::loader
