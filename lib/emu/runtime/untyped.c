#include <stdint.h>
#include <string.h>

/*
 * Entries the table names without their types, and whose result is no error
 * code: a stub would be taken for a string or a number. Bound by symbol, because
 * their C type differs from the stub's.
 */
#define AS(name) __asm__(name) __attribute__((visibility("default")))

const char *untyped_rtc_error(int result) AS("emu_hiprtcGetErrorString");
uint16_t untyped_f2h(float f) AS("emu___gnu_f2h_ieee");
float untyped_h2f(uint16_t h) AS("emu___gnu_h2f_ieee");
const char *untyped_build_name(void) AS("emu_amd_dbgapi_get_build_name");
const char *untyped_git_hash(void) AS("emu_amd_dbgapi_get_git_hash");
uint64_t untyped_build_id(void) AS("emu_amd_dbgapi_get_build_id");

const char *untyped_rtc_error(int result)
{
	return result == 0 ? "HIPRTC_SUCCESS" : "HIPRTC_ERROR_NOT_SUPPORTED by the CPU run time";
}

const char *untyped_build_name(void)
{
	return "hrr-emu";
}

const char *untyped_git_hash(void)
{
	return "";
}

uint64_t untyped_build_id(void)
{
	return 0;
}

/* Half precision for compilers whose support library lacks it: round to nearest even. */
uint16_t untyped_f2h(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof u);
	uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
	uint32_t mag = u & 0x7fffffff;
	if (mag > 0x7f800000) /* NaN, quiet */
		return (uint16_t)(sign | 0x7e00 | (mag >> 13 & 0x1ff));
	if (mag >= 0x47800000) /* too big, infinity */
		return (uint16_t)(sign | 0x7c00);
	if (mag < 0x33000000) /* less than half of the smallest */
		return sign;
	uint32_t shift = 13, man = mag, bias = 0x38000000;
	if (mag < 0x38800000) { /* denormal */
		shift = 126 - (mag >> 23);
		man = (mag & 0x7fffff) | 0x800000;
		bias = 0;
	}
	uint32_t kept = (man - bias) >> shift, rest = man & ((1u << shift) - 1);
	uint32_t half = 1u << (shift - 1);
	if (rest > half || (rest == half && (kept & 1) != 0))
		kept++; /* may carry into the exponent: that is right, up to infinity */
	return (uint16_t)(sign | kept);
}

float untyped_h2f(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, mag = h & 0x7fff, u;
	float f;

	if (mag >= 0x7c00) {
		u = sign | 0x7f800000 | (mag & 0x3ff) << 13;
	} else if (mag >= 0x400) {
		u = sign | ((mag << 13) + 0x38000000);
	} else { /* denormal: exact in single precision */
		f = (float)mag * 0x1p-24f;
		memcpy(&u, &f, sizeof u);
		u |= sign;
	}
	memcpy(&f, &u, sizeof f);
	return f;
}
