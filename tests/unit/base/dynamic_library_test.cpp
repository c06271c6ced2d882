// SPDX-License-Identifier: Apache-2.0
#include "base/dynamic_library.hpp"

namespace ridgeline::base {
namespace {

TEST(DynamicLibrary, opens_the_first_candidate_that_loads) {
  const auto library = DynamicLibrary::open({"libfictitious.so.9", "libm.so.6"});
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_NE(library->symbol("cos"), nullptr);
  EXPECT_EQ(library->symbol("no_such_symbol"), nullptr);
  EXPECT_EQ(library->path().filename(), "libm.so.6");
}

TEST(DynamicLibrary, lists_every_candidate_when_none_loads) {
  const auto library = DynamicLibrary::open({"libfictitious.so.9", "/nonexistent/lib.so"});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ErrorCode::unavailable);
  EXPECT_NE(library.error().message.find("libfictitious.so.9"), std::string::npos);
  EXPECT_NE(library.error().message.find("/nonexistent/lib.so"), std::string::npos);
}

TEST(DynamicLibrary, a_single_file_fails_with_the_loaders_words_alone) {
  const auto library = DynamicLibrary::open_file("/nonexistent/lib.so");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().message.rfind("/nonexistent/lib.so: ", 0), 0U) << library.error().message;
}

}  // namespace
}  // namespace ridgeline::base
