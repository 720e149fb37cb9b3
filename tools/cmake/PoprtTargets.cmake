# The two kinds of target of this project, with its warnings, sanitizers and include roots.
#
#   poprt_library(NAME SRCS a.cpp ... [DEPS lib ...] [PRIVATE_DEPS lib ...] [SHARED] [OUTPUT_NAME n]
#                 [PRECOMPILED headers])
#   poprt_test(NAME SRCS a_test.cpp ... [DEPS lib ...])
#
# Include roots: the project root (runtime/..., compiler/..., passes/...) and runtime/ itself for the
# public headers popef/... and model_runtime/... .

add_library(poprt_flags INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns wrongly of overlaps inside its own std::string (GCC bug 105651) and of uninitialised
  # members of objects that it destroys when building a list fails. That it once passed vectors in
  # another way is no news.
  target_compile_options(poprt_flags INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-psabi)
endif()
target_compile_options(poprt_flags INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # The same bits on every machine and compiler: fused multiply-adds only where a kernel asks for one.
  -ffp-contract=off)
target_include_directories(poprt_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
if(POPRT_SANITIZE)
  target_compile_options(poprt_flags INTERFACE
    -fsanitize=${POPRT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(poprt_flags INTERFACE -fsanitize=${POPRT_SANITIZE})
endif()

function(poprt_library name)
  cmake_parse_arguments(ARG "SHARED" "OUTPUT_NAME;PRECOMPILED" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SHARED)
    add_library(${name} SHARED ${ARG_SRCS})
    # Its own functions are found when it is linked, those of others when a program starts: loading a
    # small model would spend a sixth of its time on looking them up one by one.
    target_link_options(${name} PRIVATE -Wl,-Bsymbolic-functions -Wl,-z,relro,-z,now)
  else()
    add_library(${name} STATIC ${ARG_SRCS})
  endif()
  if(ARG_OUTPUT_NAME)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT_NAME})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_DEPS}
    PRIVATE $<BUILD_INTERFACE:poprt_flags> ${ARG_PRIVATE_DEPS})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>)
  if(POPRT_PRECOMPILE_HEADERS)
    if(NOT ARG_PRECOMPILED)
      set(ARG_PRECOMPILED poprt_library_headers)
    endif()
    target_precompile_headers(${name} REUSE_FROM ${ARG_PRECOMPILED})
  endif()
endfunction()

# What tests do themselves is short: optimising it takes longer. Inline functions that a library has
# too may be linked from here.
set(poprt_test_options $<$<NOT:$<CONFIG:Debug>>:-Og>)

function(poprt_test name)
  if(NOT POPRT_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} poprt_flags GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE ${poprt_test_options})
  add_test(NAME ${name} COMMAND ${name})
  if(POPRT_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} REUSE_FROM poprt_test_headers)
  endif()
  # Devices of its own: tests run side by side.
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT POPRT_DEVICE_LOCK_DIR=${CMAKE_CURRENT_BINARY_DIR}/${name}.devices)
endfunction()
