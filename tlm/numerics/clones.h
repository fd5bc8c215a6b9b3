// Function multiversioning for the bodies of this folder: the same C++ compiled for several x86 vector widths, the best
// chosen when the program loads. The bits do not depend on the choice, since contraction is off.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DVP_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DVP_VECTOR_CLONES
#endif
