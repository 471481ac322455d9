# CMake toolchain: Debian's clang, lld, wasi-libc and libclang-rt-14-dev-wasm32.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(FF_CLANG NAMES clang-14 clang REQUIRED)
find_program(FF_AR NAMES llvm-ar-14 llvm-ar REQUIRED)
set(CMAKE_C_COMPILER ${FF_CLANG})
set(CMAKE_AR ${FF_AR} CACHE FILEPATH "")
set(CMAKE_RANLIB true)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_C_COMPILER_WORKS ON)

