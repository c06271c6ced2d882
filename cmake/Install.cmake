# `cmake --install build/release --prefix DIR` makes a folder that can be moved or copied to another machine: the binary
# finds its shared libraries in ../lib. glibc, libstdc++ and libgcc are the host's own.
include(GNUInstallDirs)
# DT_RPATH, not DT_RUNPATH: it also holds for what the libraries load in turn.
set_target_properties(ridgeline PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
target_link_options(ridgeline PRIVATE "-Wl,--disable-new-dtags")

install(TARGETS ridgeline
  RUNTIME_DEPENDENCIES
    PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\.so" "^libm\\.so" "^libdl\\.so" "^libpthread\\.so" "^librt\\.so" "^libstdc\\+\\+"
                        "^libgcc_s"
  RUNTIME DESTINATION bin
  LIBRARY DESTINATION lib)

# ONNX Runtime goes along when it was fetched, by the time of the installation: a machine without network can tune at once.
option(RIDGELINE_INSTALL_ONNXRUNTIME "Install the fetched ONNX Runtime library beside the program" ON)
if(RIDGELINE_INSTALL_ONNXRUNTIME)
  install(DIRECTORY "${RL_CACHE_FOLDER}/onnxruntime/${RIDGELINE_ORT_VERSION}/lib/" DESTINATION lib OPTIONAL
    FILES_MATCHING PATTERN "libonnxruntime*.so*")
endif()

foreach(_shell bash zsh)
  add_custom_command(TARGET ridgeline POST_BUILD
    COMMAND ridgeline completion ${_shell} > "${CMAKE_BINARY_DIR}/completion.${_shell}" VERBATIM)
endforeach()
install(FILES "${CMAKE_BINARY_DIR}/completion.bash" DESTINATION share/bash-completion/completions RENAME ridgeline)
install(FILES "${CMAKE_BINARY_DIR}/completion.zsh" DESTINATION share/zsh/site-functions RENAME _ridgeline)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/ridgeline" "${PROJECT_SOURCE_DIR}/python/ridgeline_train" "${PROJECT_SOURCE_DIR}/python/ridgeline_models" "${PROJECT_SOURCE_DIR}/python/ridgeline_infer"
                  "${PROJECT_SOURCE_DIR}/python/ridgeline_worker" "${PROJECT_SOURCE_DIR}/python/ridgeline_profile"
                  "${PROJECT_SOURCE_DIR}/python/ridgeline_script"
  DESTINATION share/ridgeline/python
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
              "${PROJECT_SOURCE_DIR}/ARCHITECTURE.md" "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" DESTINATION share/doc/ridgeline)
# The licences of the libraries that are compiled in or go along.
file(STRINGS "${PROJECT_SOURCE_DIR}/scripts/packages.txt" _libraries REGEX "^(lib|nlohmann).*-dev$")
foreach(_library IN LISTS _libraries)
  install(FILES "/usr/share/doc/${_library}/copyright" DESTINATION share/doc/ridgeline/licenses RENAME "${_library}" OPTIONAL)
endforeach()
# What README and docs link to, so that they can be read as they are.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples" DESTINATION share/doc/ridgeline
  PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/benchmarks" DESTINATION share/doc/ridgeline FILES_MATCHING PATTERN "*.md")
install(FILES "${PROJECT_SOURCE_DIR}/grafana/ridgeline-gpu.json" DESTINATION share/ridgeline/grafana)
# The unit names the program by its full path: of the prefix that it is installed to.
install(CODE "set(RL_UNIT \"${PROJECT_SOURCE_DIR}/systemd/ridgeline-watch@.service.in\")")
install(CODE [[
  get_filename_component(RL_PREFIX "${CMAKE_INSTALL_PREFIX}" ABSOLUTE)
  set(RIDGELINE_PROGRAM "${RL_PREFIX}/bin/ridgeline")
  set(RL_UNIT_FILE "$ENV{DESTDIR}${RL_PREFIX}/share/ridgeline/systemd/ridgeline-watch@.service")
  message(STATUS "Installing: ${RL_UNIT_FILE}")
  configure_file("${RL_UNIT}" "${RL_UNIT_FILE}" @ONLY)
]])
