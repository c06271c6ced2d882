# The compiler's results come out of ccache, where it is installed.
find_program(RL_CCACHE ccache)
if(RL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the sources: a second build folder with the same flags is filled from the first one's objects.
  # Results are found by the contents of all headers (depend mode). By the preprocessed text alone, a precompiled header
  # would also serve headers with other macros and comments.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;CCACHE_DEPEND=1;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${RL_CCACHE}")
endif()
