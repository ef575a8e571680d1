# Trims the llama.cpp build to the two libraries that memvault loads (llama and ggml).
#
# Named in CMAKE_PROJECT_llama_cpp_INCLUDE, so CMake reads it right after llama-cpp-python's own
# project() call. That project forces LLAMA_BUILD_COMMON on as a cache variable; a normal variable
# of the same name, as set here, takes precedence over it (CMake policy CMP0126).
set(LLAMA_BUILD_COMMON OFF)
set(LLAMA_BUILD_TOOLS OFF)
set(LLAMA_BUILD_EXAMPLES OFF)
set(LLAMA_BUILD_TESTS OFF)
set(LLAMA_BUILD_SERVER OFF)
