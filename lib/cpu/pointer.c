/* pointer.c - is a pointer to memory that only a GPU can read? Works without CUDA headers, in
 * builds without CUDA too: the program around the library may use CUDA.
 *
 * Copyright (c) 2026 The libtilemm authors.  SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

/* Of the driver's interface: CUresult cuPointerGetAttribute(void *, CUpointer_attribute,
 * CUdeviceptr), with CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2, CU_MEMORYTYPE_DEVICE = 2 and
 * CU_POINTER_ATTRIBUTE_IS_MANAGED = 8. */
typedef int (*get_attribute_t)(void *data, int attribute, unsigned long long pointer);

enum { MEMORY_TYPE = 2, MEMORY_TYPE_DEVICE = 2, IS_MANAGED = 8 };

int tilemm__is_device_pointer(const void *pointer)
{
    /* A process has device memory only if it has the driver loaded. */
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return 0;
    get_attribute_t get_attribute;
    *(void **)&get_attribute = dlsym(driver, "cuPointerGetAttribute");
    unsigned int type = 0, managed = 0;
    int device = 0;
    if (get_attribute &&
        get_attribute(&type, MEMORY_TYPE, (unsigned long long)(uintptr_t)pointer) == 0 &&
        type == MEMORY_TYPE_DEVICE)
        device = get_attribute(&managed, IS_MANAGED, (unsigned long long)(uintptr_t)pointer) != 0 ||
                 !managed;
    dlclose(driver);
    return device;
}
