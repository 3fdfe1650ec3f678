#ifndef HRR_EMU_VISIBLE_H
#define HRR_EMU_VISIBLE_H

#include <stdbool.h>

/* Which of the machine's devices a program sees, as ROCm's variables say. */

#define VISIBLE_MAX 16
#define VISIBLE_UUID_SIZE 17

/* The 16 hex digits after "GPU-" of the machine's device id. */
void visible_uuid(int id, char text[VISIBLE_UUID_SIZE]);

/* Of n devices of the machine, those that HSA shows and of these those that HIP shows, in order. */
void visible_devices(int n, int agents[VISIBLE_MAX], int *ret_agents, int devices[VISIBLE_MAX],
		     int *ret_devices);

#endif
