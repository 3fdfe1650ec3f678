#include "lib/emu/runtime/device.h"
#include "lib/emu/runtime/sched.h"

/* Which CUs a stream may use: kept and told, no more. */

/* Bits of the CUs there are, of word i of a mask. */
static uint32_t cus_of_word(uint32_t cus, uint32_t i)
{
	if (cus <= 32 * i)
		return 0;
	return cus - 32 * i >= 32 ? UINT32_MAX : (UINT32_C(1) << (cus - 32 * i)) - 1;
}

hipError_t emu_hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize, uint32_t *cuMask)
{
	struct stream *s;

	EMU_ENTER(EMU_WORK);
	uint32_t cus = (uint32_t)arch_info(rt_arch())->cus;
	if (cuMask == NULL || cuMaskSize < (cus + 31) / 32)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = stream_get(stream, false, &s);
	for (uint32_t i = 0; e == hipSuccess && i < cuMaskSize; i++)
		cuMask[i] = i < s->n_cu_mask   ? s->cu_mask[i]
			    : s->n_cu_mask > 0 ? 0
					       : cus_of_word(cus, i);
	rt_unlock();
	return emu_ret(e);
}
