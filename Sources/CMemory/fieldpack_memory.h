#pragma once
#ifdef __linux__
#include <malloc.h>
#endif

// Has the C library keep little memory that nobody uses: by itself it keeps the freed memory of up to eight
// threads a processor apart from each other, and ever larger pieces of it.
static inline void fieldpack_spare_memory(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 4);
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 512 << 10);
#endif
}

// Gives memory that nobody uses back to the system.
static inline void fieldpack_give_back_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
