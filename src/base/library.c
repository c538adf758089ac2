/* Loads libraries: see library.h. */
#include "base/library.h"

#include "base/base.h"

#include <dlfcn.h>

void *library_load(const char *soname, const struct library_function *functions, size_t count,
                   void *table, const char *use, struct error *err)
{
	/* RTLD_NOW would take a tenth longer, as it binds what the library never calls. */
	void *handle = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
	bool loaded = handle != NULL;

	for (size_t i = 0; i < count && loaded; i++) {
		void *function = dlsym(handle, functions[i].name);

		loaded = function != NULL;
		memcpy((char *)table + functions[i].member, &function, sizeof(function));
	}
	if (loaded) {
		return handle;
	}
	error_set(err, FAIL_SYSTEM, "%s is needed to %s: %s", soname, use, dlerror());
	if (handle) {
		dlclose(handle);
	}
	return NULL;
}
