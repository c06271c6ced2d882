# HDF5's C library, static, with what it needs: target rl_hdf5. libdeflate: RL_LIBDEFLATE.
find_path(RL_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
find_library(RL_HDF5_LIBRARY NAMES libhdf5_serial.a libhdf5.a REQUIRED)
find_library(RL_SZIP_LIBRARY NAMES libsz.a sz REQUIRED)
find_library(RL_AEC_LIBRARY NAMES libaec.a aec REQUIRED)
find_library(RL_LIBDEFLATE NAMES libdeflate.a deflate REQUIRED)
find_package(ZLIB REQUIRED)
add_library(rl_hdf5 INTERFACE)
target_include_directories(rl_hdf5 SYSTEM INTERFACE "${RL_HDF5_INCLUDE}")
target_compile_definitions(rl_hdf5 INTERFACE H5_USE_110_API)
# zlib by its file: CMake names a target once for all who use it, which may be before HDF5, where the linker sees no use for it.
target_link_libraries(rl_hdf5 INTERFACE "${RL_HDF5_LIBRARY}" "${RL_SZIP_LIBRARY}" "${RL_AEC_LIBRARY}" "${ZLIB_LIBRARIES}"
  ${CMAKE_DL_LIBS} m)
