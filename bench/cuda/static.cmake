# For pack-cuda.sh: libraries are looked for as archives, so that the programs need none where they
# go.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
