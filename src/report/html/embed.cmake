# Embeds the style sheets and scripts of this folder as string literals in ${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp, again
# whenever one of them changes: report.css as report_css(). Sets RL_PAGE_PARTS to that file.
set(_folder "${CMAKE_CURRENT_LIST_DIR}")
set(_functions "")
foreach(_file report.css report.js canvas.css canvas.js timeline_data.js timeline_drawing.js timeline_view.js timeline.js icicle.js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_folder}/${_file}")
  file(READ "${_folder}/${_file}" _text)
  string(FIND "${_text}" ")RLTEXT\"" _clash)
  if(NOT _clash EQUAL -1)
    message(FATAL_ERROR "${_folder}/${_file} contains the end mark of the literal that it is embedded in")
  endif()
  string(REPLACE "." "_" _name "${_file}")
  string(APPEND _functions "
std::string_view ${_name}() noexcept {
  static constexpr std::string_view kText = R\"RLTEXT(${_text})RLTEXT\";
  return kText;
}
")
endforeach()
set(RL_PAGE_PARTS "${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp")
set(RL_PAGE_FUNCTIONS "${_functions}")
file(CONFIGURE OUTPUT "${RL_PAGE_PARTS}" @ONLY CONTENT [=[
// SPDX-License-Identifier: Apache-2.0
// Made by src/report/html/embed.cmake.
#include "report/html/page_parts.hpp"

namespace ridgeline::report {
@RL_PAGE_FUNCTIONS@
}  // namespace ridgeline::report
]=])
