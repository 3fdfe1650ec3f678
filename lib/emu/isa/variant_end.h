#if defined(__x86_64__) && VARIANT_LEVEL > 0
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#undef VARIANT
#undef VARIANT_LEVEL
