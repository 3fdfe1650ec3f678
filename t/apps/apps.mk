# The programs the tests run, into $(BUILD)/t/apps. What is not there is said in
# one line and skipped; the tests that want it then skip too.

APPS := $(BUILD)/t/apps
APP_ARCH ?= gfx90a
HIPCC ?= hipcc
HAVE_HIPCC := $(shell command -v $(HIPCC) 2>/dev/null)
HAVE_HSA := $(wildcard /usr/include/hsa/hsa.h /opt/rocm/include/hsa/hsa.h)
HIP_INCLUDE ?= $(if $(wildcard /usr/include/hip/hip_runtime_api.h),,-I/opt/rocm/include)
HIP_LIB ?= $(if $(wildcard /usr/include/hip/hip_runtime_api.h),,-L/opt/rocm/lib)

APP_NO_HSA := $(if $(HAVE_HSA),,hsapool_copy hsapool_kernel)
APP_HIP := $(filter-out modkern $(APP_NO_HSA),$(patsubst t/apps/%.hip,%,$(wildcard t/apps/*.hip)))
APP_C := $(filter-out $(APP_NO_HSA),$(patsubst t/apps/%.c,%,$(wildcard t/apps/*.c)))
APP_FLAGS := --offload-arch=$(APP_ARCH) -O3 -std=c++17 -Wall -Wextra -Wno-unused-result -It/apps
APP_CFLAGS := -std=c11 -O2 -g -Wall -Wextra -Wno-unused-function -D_GNU_SOURCE \
	-D__HIP_PLATFORM_AMD__ $(HIP_INCLUDE) -It/apps
APP_FLAGS_ptds := -fgpu-default-stream=per-thread -DHIP_API_PER_THREAD_DEFAULT_STREAM
# Programs with a planted fault: their reports name source lines.
APP_FLAGS_bad := -O1 -gline-tables-only
APP_LIBS_hsapool_copy := -lhsa-runtime64
APP_LIBS_hsapool_kernel := -lhsa-runtime64
APP_LIBS_threads := -lpthread
APP_LIBS_ptds := -lpthread
APP_LIBS_ctxs := -lpthread
APP_LIBS_othersync := -lpthread

ifeq ($(HAVE_HIPCC),)
apps:
	@echo 'apps: no $(HIPCC): the programs in t/apps are not built (make deps installs it)' >&2
else
apps: $(APP_HIP:%=$(APPS)/%) $(APP_C:%=$(APPS)/%) $(APPS)/modkern.hsaco
ifneq ($(APP_NO_HSA),)
	@echo 'apps: no hsa/hsa.h: not built: $(APP_NO_HSA)' >&2
endif
endif

$(APP_HIP:%=$(APPS)/%): $(APPS)/%: t/apps/%.hip t/apps/app.h t/apps/hsapool.h
	@mkdir -p $(@D)
	$(call say,HIP)$(HIPCC) $(APP_FLAGS) $(APP_FLAGS_$*) $(if $(filter bad_%,$*),$(APP_FLAGS_bad)) -o $@ $< $(APP_LIBS_$*)
$(APP_C:%=$(APPS)/%): $(APPS)/%: t/apps/%.c t/apps/app.h t/apps/hsapool.h
	@mkdir -p $(@D)
	$(call say,CC )gcc $(APP_CFLAGS) -o $@ $< $(if $(filter dlopen,$*),-ldl,$(HIP_LIB) -lamdhip64) $(APP_LIBS_$*)
$(APPS)/%.hsaco: t/apps/%.hip
	@mkdir -p $(@D)
	$(call say,HIP)$(HIPCC) --genco --offload-arch=$(APP_ARCH) -O3 -o $@ $<
