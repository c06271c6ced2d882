# rl_wheel(VARIABLE NAME): the folder site-packages/nvidia of a pinned wheel (scripts/wheels.tsv), which is fetched if it is not there;
# "" where it cannot be.
function(rl_wheel variable name)
  set(_folder "${RL_CACHE_FOLDER}/wheels/${name}")
  get_property(_failed GLOBAL PROPERTY RL_WHEEL_FETCH_FAILED)  # once is enough where there is no network
  if(NOT EXISTS "${_folder}/.complete" AND NOT _failed)
    execute_process(COMMAND "${PROJECT_SOURCE_DIR}/scripts/fetch_wheels.sh" "${name}" OUTPUT_QUIET RESULT_VARIABLE _failed)
    set_property(GLOBAL PROPERTY RL_WHEEL_FETCH_FAILED ${_failed})
  endif()
  file(GLOB _found LIST_DIRECTORIES true "${_folder}/lib/python*/site-packages/nvidia")
  set(${variable} "${_found}" PARENT_SCOPE)
endfunction()
