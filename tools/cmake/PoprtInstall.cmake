# What `cmake --install build --prefix P` puts into P, and under which names other projects find it:
#
#   find_package(popef)          target popef                            popef/*.hpp
#   find_package(model_runtime)  target model_runtime                    model_runtime/*.hpp
#   find_package(poprt)          targets poprt_runtime, poprt_compiler   poprt/**/*.hpp
#
# Only what users include is installed: headers of the project proper stay here.
include(CMakePackageConfigHelpers)

set(POPRT_SHARED_LIBRARIES popef model_runtime poprt_runtime poprt_compiler)
set_target_properties(${POPRT_SHARED_LIBRARIES} PROPERTIES
  VERSION ${PROJECT_VERSION}
  # Before version 1.0 every minor version may change the interface.
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN")
foreach(library ${POPRT_SHARED_LIBRARIES})
  # The public headers need it, so programs that link the library get it.
  target_compile_features(${library} INTERFACE cxx_std_17)
endforeach()

foreach(tool poprt popef_dump poprt_run_popef popef_bench)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${tool} DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# poprt_install_package(NAME TARGETS lib ... [NEEDS package ...])
function(poprt_install_package name)
  cmake_parse_arguments(ARG "" "" "TARGETS;NEEDS" ${ARGN})
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  set(generated ${PROJECT_BINARY_DIR}/packages/${name})

  install(TARGETS ${ARG_TARGETS} EXPORT ${name}Targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${name}Targets DESTINATION ${destination})

  set(POPRT_FIND_NEEDS "")
  foreach(package ${ARG_NEEDS})
    string(APPEND POPRT_FIND_NEEDS "find_dependency(${package})\n")
  endforeach()
  set(POPRT_ALIASES "")
  foreach(target ${ARG_TARGETS})
    string(APPEND POPRT_ALIASES "if(NOT TARGET ${name}::${target})\n"
                                "  add_library(${name}::${target} ALIAS ${target})\n"
                                "endif()\n")
  endforeach()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/PackageConfig.cmake.in
    ${generated}/${name}Config.cmake INSTALL_DESTINATION ${destination}
    NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${generated}/${name}ConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${generated}/${name}Config.cmake ${generated}/${name}ConfigVersion.cmake
    DESTINATION ${destination})
endfunction()

poprt_install_package(popef TARGETS popef)
poprt_install_package(model_runtime TARGETS model_runtime NEEDS popef)
poprt_install_package(poprt TARGETS poprt_runtime poprt_compiler NEEDS model_runtime)

install(DIRECTORY runtime/popef DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING REGEX "/popef/(Format|Model|Reader|Types|Writer)\\.hpp$")
install(DIRECTORY runtime/model_runtime DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING REGEX
    "/model_runtime/(DataDesc|DeviceManager|DeviceWaitConfig|ElementQueue|Errors|Executable|ModelRunner|ModelRunnerConfig|Queue|QueueManager|RequestTracepoint|RingBuffer|Session|SessionConfig|SessionUtils|Tensor|TensorStream)\\.hpp$")
install(DIRECTORY runtime/poprt_runtime/poprt compiler/driver/poprt
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/poprt)
