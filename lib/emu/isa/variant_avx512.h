/* Begins a copy of lane loops for AVX-512 machines (x86-64-v4). Ends with variant_end.h. */
#define VARIANT avx512
#define VARIANT_LEVEL 2
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(                                                              \
    __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2," \
			  "lzcnt,popcnt,f16c"))),                                          \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target( \
    "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c,prefer-vector-width=512")
#endif
#endif
