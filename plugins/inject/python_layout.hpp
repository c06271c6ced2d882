// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ridgeline::inject {

/// Where this process's Python has what says which line a thread runs: offsets in bytes, and addresses. Found and
/// checked by python/ridgeline_profile/python_layout.py, which has the same fields in the same order.
struct PythonLayout {
  std::int64_t thread_state;  ///< address of PyGILState_GetThisThreadState
  std::int64_t line_of_code;  ///< address of PyCode_Addr2Line
  std::int64_t code_type;     ///< address of PyCode_Type
  std::int64_t thread_frame;  ///< of a thread state: its innermost frame, or what has that
  std::int64_t holder_frame;  ///< of what has it; -1: the thread state itself does
  std::int64_t frame_code;
  std::int64_t frame_previous;
  std::int64_t frame_instruction;
  std::int64_t instruction_unit;  ///< bytes of a step of an int32; 0: a pointer into the code
  std::int64_t code_first;        ///< of a code object: its instructions, where they are in it
  std::int64_t code_file;
  std::int64_t code_name;
  std::int64_t code_first_line;
  std::int64_t code_lines;   ///< its table of lines, bytes
  std::int64_t text_length;  ///< of a str that is ASCII, and of bytes
  std::int64_t text_state;
  std::int64_t text_is_ascii;  ///< bits of the state
  std::int64_t text_first;
  std::int64_t bytes_first;
};
inline constexpr std::size_t kPythonLayoutFields = sizeof(PythonLayout) / sizeof(std::int64_t);

/// Files by the beginnings of their names.
struct PythonFiles {
  std::string torch;                   ///< folder, with a separator at its end, and so below
  std::vector<std::string> left_out;   ///< whose lines say nothing of the program
  std::vector<std::string> libraries;  ///< folders of Python's own library: left out but for installed packages
  std::vector<std::string> shortened;  ///< folders that names do without
};

}  // namespace ridgeline::inject
