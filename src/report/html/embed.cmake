# Embeds report.css and report.js as string literals in ${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp, again whenever one of
# them changes. Sets RL_PAGE_PARTS to that file.
set(_folder "${CMAKE_CURRENT_LIST_DIR}")
foreach(_part css js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${_folder}/report.${_part}")
  file(READ "${_folder}/report.${_part}" RL_TEXT_${_part})
  string(FIND "${RL_TEXT_${_part}}" ")RLTEXT\"" _clash)
  if(NOT _clash EQUAL -1)
    message(FATAL_ERROR "${_folder}/report.${_part} contains the end mark of the literal that it is embedded in")
  endif()
endforeach()
set(RL_PAGE_PARTS "${CMAKE_CURRENT_BINARY_DIR}/page_parts.cpp")
file(CONFIGURE OUTPUT "${RL_PAGE_PARTS}" @ONLY CONTENT [=[
// SPDX-License-Identifier: Apache-2.0
// Made by src/report/html/embed.cmake.
#include "report/html/page_parts.hpp"

namespace ridgeline::report {

std::string_view report_css() noexcept {
  static constexpr std::string_view kText = R"RLTEXT(@RL_TEXT_css@)RLTEXT";
  return kText;
}

std::string_view report_js() noexcept {
  static constexpr std::string_view kText = R"RLTEXT(@RL_TEXT_js@)RLTEXT";
  return kText;
}

}  // namespace ridgeline::report
]=])
