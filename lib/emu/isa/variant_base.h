/* Begins a copy of lane loops for plain x86-64. Ends with variant_end.h. */
#define VARIANT base
#define VARIANT_LEVEL 0
