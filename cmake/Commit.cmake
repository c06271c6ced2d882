# cmake -DSOURCE=FOLDER -DOUTPUT=FILE.cpp -P Commit.cmake: the commit that the sources are of, as a C++ source. Run by
# each build; the file is written only where it changes. Empty without a .git (an archive) or without git.
set(commit "")
if(EXISTS "${SOURCE}/.git")
  execute_process(COMMAND git -C "${SOURCE}" describe --always --exclude=* --abbrev=7 --dirty=+
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed EQUAL 0)
    set(commit "")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// Written by cmake/Commit.cmake.
#include "ridgeline/commit.hpp"

namespace ridgeline::app {
std::string_view commit() noexcept { return "@commit@"; }
}  // namespace ridgeline::app
]])
