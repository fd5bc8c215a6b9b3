// Compiles a function for several x86 vector widths; the best is chosen when the program loads.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ORACLE_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ORACLE_VECTOR_CLONES
#endif
