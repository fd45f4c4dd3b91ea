#include "code_link.h"

#include "cc_bundle.h"
#include "cc_process.h"
#include "ir_names.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C++ runtime's (Itanium C++ ABI, <cxxabi.h>); LLVM brings it along. */
char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

/*
 * The first instruction that mentions the function or variable, also inside a constant expression.
 */
static LLVMValueRef find_use(LLVMValueRef value, int depth)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAInstruction(user))
			user = depth < 4 && LLVMIsAConstantExpr(user) ? find_use(user, depth + 1)
								      : NULL;
		if (user)
			return user;
	}
	return NULL;
}

static int report_undefined(const struct um_code_object_request *r, LLVMModuleRef device,
			    const char *mangled)
{
	char *demangled = __cxa_demangle(mangled, NULL, NULL, NULL);
	const char *name = demangled ? demangled : mangled;
	LLVMValueRef value = LLVMGetNamedFunction(device, mangled), use;
	int error;

	if (!value)
		value = LLVMGetNamedGlobal(device, mangled);
	use = value ? find_use(value, 0) : NULL;
	if (use)
		error = um_ir_fail(UM_ENOENT, use, "'%s' is not defined in device code", name);
	else
		error = um_fail(UM_ENOENT, "%s: error: '%s' is not defined in device code",
				r->source, name);
	free(demangled);
	return error;
}

/* What the linker says, in the user's terms. */
static int report(const struct um_code_object_request *r, LLVMModuleRef device, const char *path)
{
	static const char undefined[] = "undefined symbol: ";
	void *file;
	size_t bytes;
	char *name;
	int error;

	if (um_read_file(&file, &bytes, path))
		return UM_EIO;
	name = strstr(file, undefined);
	if (name) {
		name += sizeof undefined - 1;
		name[strcspn(name, "\n")] = 0;
		error = report_undefined(r, device, name);
	} else {
		error = um_fail(UM_EFORMAT, "%s: linking device code: %.800s", r->source,
				(char *)file);
	}
	free(file);
	return error;
}

int um_code_link(const struct um_code_object_request *r, LLVMModuleRef device, const char *hooked,
		 const char *plain)
{
	const char *const words[] = {
		UM_LLVM_BINDIR "/clang",
		"-shared",
		"-nostartfiles",
		"-fuse-ld=lld",
		"-Wl,-Bsymbolic,-z,defs,--build-id,--eh-frame-hdr,--no-demangle",
		"-o",
		r->output,
		hooked,
		plain,
		r->install->device_library,
		r->install->device_imports,
		"-lm",
	};
	struct um_argv command = {0};
	char messages[1200];
	int status;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		um_argv_push(&command, words[i]);
	snprintf(messages, sizeof messages, "%s/%u-link.txt", r->folder, r->number);
	status = um_run(&command, NULL, messages);
	um_argv_fini(&command);
	return status ? report(r, device, messages) : 0;
}
