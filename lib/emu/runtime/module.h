#ifndef HRR_EMU_MODULE_H
#define HRR_EMU_MODULE_H

#include "lib/emu/runtime/range.h"
#include "lib/emu/runtime/rt.h"
#include "lib/hip/bundle.h"
#include "lib/hip/codeobj.h"

/*
 * Code: a module is a container of code objects (a fat binary the compiler
 * registered, or what hipModuleLoad* was given). On each device that needs it
 * the entry for the architecture is loaded once into memory of its own: an image.
 */
struct image {
	struct hrr_codeobj co;
	struct range *range;	  /* whole image: code and variables */
	struct isa_program *prog; /* made at the first launch */
};

struct module {
	struct module *next;
	const void *data; /* container: borrowed (fat binary) or owned */
	void *owned;
	bool fat, opened;
	bool gone;	   /* unregistered: data may be no more; what was opened stays */
	hipError_t broken; /* why it cannot be opened; said again at each use */
	struct hrr_bundle bundle;
	struct image *image[EMU_MAX_DEVICES];
	struct function *functions; /* registered ones */
	struct function **by_index; /* owned: hipModuleGetFunction's, by kernel index */
	size_t n_index;
	struct var *vars;
};

/* A kernel as a program names it: by stub (registered) or by handle (module). */
struct function {
	struct function *next;
	struct module *module;
	const char *name; /* owned for registered ones */
	const void *stub;
	const struct hrr_kernel *kernel[EMU_MAX_DEVICES]; /* NULL: not looked up yet */
	unsigned max_dynamic;				  /* hipFuncSetAttribute */
};

/* A variable the compiler registered. */
struct var {
	struct var *next;
	struct module *module;
	char *name; /* owned */
	const void *host;
	uint64_t size;
	void *managed; /* its memory; NULL for an ordinary variable */
};

/* All with rt.lock held. Errors: hipErrorNoBinaryForGpu, hipErrorInvalidImage, ... */

/* All there are, the last one first. */
struct module *module_list(void);
/* Opens the container, once. */
hipError_t module_open(struct module *m);
/* Whether code was loaded to a device already. */
bool module_images_loaded(void);
hipError_t module_image(struct module *m, int device, struct image **ret_image);
/* The kernel of a function on a device; hipErrorInvalidDeviceFunction when the object lacks it. */
hipError_t function_kernel(struct function *f, int device, struct image **ret_image,
			   const struct hrr_kernel **ret_kernel);
/* Decoded code of an image, made at first use. */
hipError_t image_program(struct image *i, struct isa_program **ret_prog);
/* By stub or by hipFunction_t; NULL when it is neither. */
struct function *function_find(const void *stub_or_handle);
struct function *function_by_handle(hipFunction_t f);
/* Address and size of a variable by host shadow on a device. */
hipError_t symbol_find(const void *symbol, int device, uint64_t *ret_addr, uint64_t *ret_size);
/* The kernel an address of device code lies in, for reports: NULL when none. */
struct image *image_at(uint64_t addr);
void module_free(struct module *m);
struct module *module_new(const void *data, void *owned, bool fat);
/* Managed variables of the module, whose device-side pointers a new image needs. */
void module_fill_managed(struct module *m, struct image *i);

#endif
