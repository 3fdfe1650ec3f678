#include "lib/emu/runtime/module.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/range.h"
#include "lib/emu/runtime/mem.h"

/*
 * What the compiler's constructors register. They run before main and in every
 * helper process, so they only take notes: containers are opened at first use.
 */
#define FATBIN_MAGIC 0x48495046u /* "HIPF" */

struct wrapper {
	uint32_t magic, version;
	const void *binary, *unused;
};

/* Stubs and shadows by address: ranges of one byte. */
static struct hrr_ranges *stubs, *shadows;

static struct module *fat_of(hipFatBinary_t h)
{
	return (struct module *)(void *)h;
}

hipFatBinary_t emu___hipRegisterFatBinary(void *data)
{
	const struct wrapper *w = data;

	if (w == NULL || w->magic != FATBIN_MAGIC || w->version != 1) {
		emu_say("__hipRegisterFatBinary: not a version 1 HIP fat binary");
		return NULL;
	}
	rt_lock();
	struct module *m = module_new(w->binary, NULL, true);
	rt_unlock();
	return (hipFatBinary_t)(void *)m;
}

static bool note(struct hrr_ranges **map, const void *key, void *value)
{
	if (*map == NULL)
		*map = hrr_ranges_new();
	return *map != NULL && hrr_ranges_add(*map, (uintptr_t)key, 1, value) == 0;
}

void emu___hipRegisterFunction(hipFatBinary_t modules, void *hostFunction,
			       const char *deviceFunction, const char *deviceName,
			       unsigned int threadLimit, void *tid, void *bid, void *blockDim,
			       void *gridDim, void *wSize)
{
	struct module *m = fat_of(modules);

	(void)deviceFunction;
	(void)threadLimit;
	(void)tid;
	(void)bid;
	(void)blockDim;
	(void)gridDim;
	(void)wSize;
	if (m == NULL || deviceName == NULL)
		return;
	struct function *f = calloc(1, sizeof *f);
	char *name = strdup(deviceName);
	rt_lock();
	if (f != NULL && name != NULL && note(&stubs, hostFunction, f)) {
		f->module = m;
		f->name = name;
		f->stub = hostFunction;
		f->next = m->functions;
		m->functions = f;
	} else {
		free(f);
		free(name);
		emu_say("__hipRegisterFunction: out of memory");
	}
	rt_unlock();
}

static struct var *new_var(struct module *m, const void *host, const char *name, uint64_t size)
{
	struct var *v = calloc(1, sizeof *v);

	if (v != NULL && (v->name = strdup(name)) == NULL) {
		free(v);
		v = NULL;
	}
	if (v != NULL && !note(&shadows, host, v)) {
		free(v->name);
		free(v);
		v = NULL;
	}
	if (v == NULL) {
		emu_say("variable %s: out of memory", name);
		return NULL;
	}
	v->module = m;
	v->host = host;
	v->size = size;
	v->next = m->vars;
	m->vars = v;
	return v;
}

void emu___hipRegisterVar(hipFatBinary_t modules, void *var, const char *hostVar,
			  const char *deviceVar, int ext, size_t size, int constant, int global)
{
	(void)hostVar;
	(void)ext;
	(void)constant;
	(void)global;
	if (modules == NULL || deviceVar == NULL)
		return;
	rt_lock();
	new_var(fat_of(modules), var, deviceVar, size);
	rt_unlock();
}

void emu___hipRegisterManagedVar(hipFatBinary_t modules, void **pointer, void *init_value,
				 const char *name, size_t size, unsigned int align)
{
	struct range *r;

	(void)align; /* managed memory is aligned to pages */
	if (modules == NULL || pointer == NULL || name == NULL || size == 0)
		return;
	if (emu_enter(EMU_ANY) != hipSuccess)
		return;
	rt_lock();
	struct var *v = new_var(fat_of(modules), pointer, name, size);
	/* The program may use it before any HIP call: it has to exist from here on. */
	if (v != NULL && mem_new(RANGE_MANAGED, 0, size, 0, "managed variable", &r) == hipSuccess) {
		if (init_value != NULL)
			memcpy(r->host, init_value, size);
		v->managed = r->host;
		*pointer = v->managed;
	}
	rt_unlock();
}

void module_fill_managed(struct module *m, struct image *i)
{
	struct hrr_symbol sym;

	/* On the device the symbol is a pointer to the memory. */
	for (const struct var *v = m->vars; v != NULL; v = v->next)
		if (v->managed != NULL && hrr_codeobj_symbol(&i->co, v->name, &sym) == 0 &&
		    sym.value <= i->range->size - sizeof v->managed)
			memcpy(i->range->host + sym.value, &v->managed, sizeof v->managed);
}

void emu___hipUnregisterFatBinary(hipFatBinary_t modules)
{
	struct module *m = fat_of(modules);

	if (m == NULL)
		return;
	/*
	 * Called by exit handlers and dlclose. The addresses may come to mean something
	 * else, so they are forgotten; the code stays, other threads may be running it.
	 */
	rt_lock();
	for (const struct function *f = m->functions; f != NULL; f = f->next)
		hrr_ranges_del(stubs, (uintptr_t)f->stub, f);
	for (const struct var *v = m->vars; v != NULL; v = v->next)
		hrr_ranges_del(shadows, (uintptr_t)v->host, v);
	m->gone = true;
	rt_unlock();
}

struct function *function_by_handle(hipFunction_t h)
{
	return handle_is(HANDLE_FUNCTION, h) ? (struct function *)(void *)h : NULL;
}

struct function *function_find(const void *p)
{
	const struct hrr_range *x = stubs != NULL ? hrr_ranges_find(stubs, (uintptr_t)p) : NULL;

	if (x != NULL)
		return x->value;
	return handle_is(HANDLE_FUNCTION, p) ? (struct function *)(uintptr_t)p : NULL;
}

hipError_t symbol_find(const void *symbol, int device, uint64_t *ret_addr, uint64_t *ret_size)
{
	const struct hrr_range *x =
	    shadows != NULL ? hrr_ranges_find(shadows, (uintptr_t)symbol) : NULL;
	struct hrr_symbol sym;
	struct image *i;

	if (x == NULL)
		return hipErrorInvalidSymbol;
	const struct var *v = x->value;
	if (v->managed != NULL) {
		*ret_addr = (uintptr_t)v->managed;
		*ret_size = v->size;
		return hipSuccess;
	}
	hipError_t e = module_image(v->module, device, &i);
	if (e != hipSuccess)
		return e;
	if (hrr_codeobj_symbol(&i->co, v->name, &sym) < 0)
		return hipErrorInvalidSymbol;
	*ret_addr = i->range->base + sym.value;
	*ret_size = v->size;
	return hipSuccess;
}

hipError_t emu_hipGetSymbolAddress(void **devPtr, void *symbol)
{
	uint64_t addr, size;

	EMU_ENTER(EMU_WORK);
	if (devPtr == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = symbol_find(symbol, emu_thread.device, &addr, &size);
	rt_unlock();
	if (e == hipSuccess)
		*devPtr = (void *)(uintptr_t)addr;
	return emu_ret(e);
}

hipError_t emu_hipGetSymbolSize(size_t *size, void *symbol)
{
	uint64_t addr, n;

	EMU_ENTER(EMU_WORK);
	if (size == NULL)
		return emu_ret(hipErrorInvalidValue);
	rt_lock();
	hipError_t e = symbol_find(symbol, emu_thread.device, &addr, &n);
	rt_unlock();
	if (e == hipSuccess)
		*size = n;
	return emu_ret(e);
}
