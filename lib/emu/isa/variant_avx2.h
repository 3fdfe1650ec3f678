/* Begins a copy of lane loops for AVX2 machines. Ends with variant_end.h. */
#define VARIANT avx2
#define VARIANT_LEVEL 1
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c"))), \
			     apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt,f16c")
#endif
#endif
