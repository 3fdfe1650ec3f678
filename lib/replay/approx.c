#include "lib/replay/approx.h"

#include <math.h>
#include <string.h>

#include "lib/replay/tolerance.h"

/*
 * An error grows by what follows. The worst of the usual functions is exp, which multiplies a
 * relative error by its argument: up to 11 before halves overflow, 89 before floats do.
 * Instructions on doubles are seeds of iterations, which shrink errors. Sums of products go on over
 * several instructions; with sums in 16 bits K units in the last place are a lot already.
 */
static const struct {
	double growth, of_terms;
	double ulp, least; /* the last place of 1; the least normal number */
} floats[] = {[HRR_TYPE_NONE] = {1, 1, 0, 0},
	      [HRR_TYPE_F16] = {16, 1, 0x1p-10, 0x1p-14},
	      [HRR_TYPE_BF16] = {128, 1, 0x1p-7, 0x1p-126},
	      [HRR_TYPE_F32] = {128, 16, 0x1p-23, 0x1p-126},
	      [HRR_TYPE_F64] = {1, 16, 0x1p-52, 0x1p-1022}};

static bool is_float(uint32_t type)
{
	return type >= HRR_TYPE_F16 && type <= HRR_TYPE_F64;
}

/* Not to a size where anything would do. */
#define MOST 0x1p-4
static double grown(double bound, double by)
{
	return fmax(bound, fmin(bound * by, MOST));
}

/* The largest allowed error relative to each number, and to the largest of the output. */
struct allowed {
	double own, whole;
};

static struct allowed allowed(const struct hrr_emu_stats *s)
{
	struct allowed a = {0, 0};

	for (uint32_t i = 0; i < s->n_approx && i < HRR_EMU_MAX_APPROX; i++) {
		const struct hrr_emu_error *const e = &s->error[i];

		if (e->type > HRR_TYPE_F64)
			continue;
		if (e->of == HRR_EMU_OF_RESULT)
			a.own = fmax(a.own, grown(e->bound, floats[e->type].growth));
		else if (e->of == HRR_EMU_OF_ONE)
			a.whole = fmax(a.whole, e->bound);
		else
			a.whole = fmax(a.whole, grown(e->bound, floats[e->type].of_terms));
	}
	return a;
}

static bool within(struct allowed a, enum hrr_type type, bool guessed, const unsigned char *was,
		   const unsigned char *is, uint64_t size)
{
	const uint64_t step = hrr_type_size(type);
	const double least = guessed ? floats[type].least : 0;
	double largest = 0;

	if (size % step != 0)
		return false;
	for (uint64_t i = 0; a.whole != 0 && i < size; i += step) {
		const double x = fabs(hrr_type_value(type, was + i));
		if (isfinite(x))
			largest = fmax(largest, x);
	}
	for (uint64_t i = 0; i < size; i += step) {
		double x, y;

		if (memcmp(was + i, is + i, step) == 0)
			continue;
		x = hrr_type_value(type, was + i);
		y = hrr_type_value(type, is + i);
		/* What is rounded to this type last may be rounded to the neighbour. */
		const double far = (a.own + floats[type].ulp) * fmax(fabs(x), fabs(y));
		if (!isfinite(x) || !isfinite(y) || fabs(x - y) > far + a.whole * largest)
			return false;
		if ((x != 0 && fabs(x) < least) || (y != 0 && fabs(y) < least))
			return false;
	}
	return true;
}

bool hrr_approximately(const struct hrr_emu_stats *stats, enum hrr_type type, const void *was,
		       const void *is, uint64_t size)
{
	const struct allowed a = allowed(stats);

	if (a.own == 0 && a.whole == 0)
		return false;
	if (type != HRR_TYPE_NONE)
		return is_float(type) && within(a, type, false, was, is, size);
	for (uint32_t i = 0; i < stats->n_approx && i < HRR_EMU_MAX_APPROX; i++)
		if (is_float(stats->error[i].type) &&
		    within(a, stats->error[i].type, true, was, is, size))
			return true;
	return false;
}
