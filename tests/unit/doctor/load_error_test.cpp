// SPDX-License-Identifier: Apache-2.0
#include "doctor/load_error.hpp"

#include <gtest/gtest.h>

#include "fakes/words.hpp"

namespace ridgeline::doctor {
namespace {

using fakes::text_of;

TEST(LoadError, a_missing_file_is_named) {
  const auto problem = explain_load_error("libcublas.so.13: cannot open shared object file: No such file or directory");
  EXPECT_EQ(problem.thing, "libcublas.so.13");
  EXPECT_EQ(text_of(problem.what), "libcublas.so.13 is not found");
}

TEST(LoadError, a_missing_symbol_is_named_with_the_file_that_wants_it) {
  const auto problem = explain_load_error("/x/libcupti.so.13: undefined symbol: cuGraphNew, version libcuda.so.1");
  EXPECT_EQ(problem.thing, "cuGraphNew");
  EXPECT_EQ(text_of(problem.what), "symbol cuGraphNew is missing for /x/libcupti.so.13");
}

TEST(LoadError, a_version_of_the_c_library_means_an_older_system) {
  const auto problem =
      explain_load_error("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/liby.so)");
  EXPECT_EQ(problem.thing, "GLIBC_2.38");
  EXPECT_EQ(text_of(problem.what), "GLIBC_2.38 is missing in libc.so.6, needed by /x/liby.so");
  EXPECT_NE(text_of(problem.fix).find("newer system"), std::string::npos);
  const auto other =
      explain_load_error("/usr/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /x/liby.so)");
  EXPECT_NE(text_of(other.fix).find("GLIBC"), 0U);
  EXPECT_EQ(other.thing, "GLIBCXX_3.4.32");
}

TEST(LoadError, damage_rights_and_architecture_are_told_apart) {
  EXPECT_EQ(text_of(explain_load_error("/x/a.so: file too short").what), "/x/a.so is damaged");
  EXPECT_EQ(text_of(explain_load_error("/x/a.so: invalid ELF header").what), "/x/a.so is damaged");
  EXPECT_EQ(text_of(explain_load_error("/x/a.so: wrong ELF class: ELFCLASS32").what),
            "/x/a.so is for a different processor architecture");
  EXPECT_EQ(text_of(explain_load_error("/x/a.so: cannot open shared object file: Permission denied").what),
            "/x/a.so may not be read");
  EXPECT_EQ(text_of(explain_load_error("/x/a.so: cannot allocate memory in static TLS block").fix),
            "load it first: LD_PRELOAD=/x/a.so");
  EXPECT_EQ(explain_load_error("/x/a.so: something new").thing, "/x/a.so");
}

TEST(LoadError, a_library_that_kills_its_process_is_told_with_the_signal) {
  const auto problem = explain_load_error("liba.so: opening it ended the process with SIGSEGV");
  EXPECT_EQ(problem.thing, "liba.so");
  EXPECT_EQ(text_of(problem.what), "liba.so ends the process that opens it: SIGSEGV");
}

TEST(LoadError, only_the_asked_file_itself_counts_as_absent) {
  EXPECT_TRUE(is_just_absent("liba.so: cannot open shared object file: No such file or directory", "liba.so"));
  EXPECT_FALSE(is_just_absent("libb.so: cannot open shared object file: No such file or directory", "liba.so"));
  EXPECT_FALSE(is_just_absent("liba.so: file too short", "liba.so"));
}

}  // namespace
}  // namespace ridgeline::doctor
