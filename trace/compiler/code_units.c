#include "code_units.h"

#include "code_generate.h"
#include "ir_device.h"
#include "ir_host.h"
#include "ir_names.h"
#include "trace/base/error.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>

#include <string.h>

struct link {
	LLVMContextRef context;
	LLVMModuleRef linked;
	const char *origin; /* of the unit that is being added */
	int error;
};

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
	struct link *link = context;
	char *text;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	text = LLVMGetDiagInfoDescription(info);
	link->error = um_fail(UM_EFORMAT, "%s: error: device code: %s", link->origin, text);
	LLVMDisposeMessage(text);
}

static int read_unit(LLVMModuleRef *out, struct link *link, const struct um_code_unit *unit)
{
	LLVMMemoryBufferRef buffer =
		LLVMCreateMemoryBufferWithMemoryRangeCopy(unit->bitcode, unit->bytes, unit->origin);
	bool failed = LLVMParseBitcodeInContext2(link->context, buffer, out);

	LLVMDisposeMemoryBuffer(buffer);
	return failed ? um_fail(UM_EFORMAT, "%s: its device code is not the bitcode of LLVM 15",
				unit->origin)
		      : 0;
}

static bool is_strong(LLVMValueRef value)
{
	return !LLVMIsDeclaration(value) && LLVMGetLinkage(value) == LLVMExternalLinkage;
}

/* Does a linked unit define one of the unit's functions or variables? */
static bool is_defined_already(const struct link *link, LLVMModuleRef unit)
{
	UM_IR_FOR_EACH_FUNCTION(f, unit)
	{
		LLVMValueRef other = LLVMGetNamedFunction(link->linked, um_ir_name(f));

		if (is_strong(f) && other && is_strong(other))
			return true;
	}
	for (LLVMValueRef g = LLVMGetFirstGlobal(unit); g; g = LLVMGetNextGlobal(g)) {
		LLVMValueRef other = LLVMGetNamedGlobal(link->linked, um_ir_name(g));

		if (is_strong(g) && other && is_strong(other))
			return true;
	}
	return false;
}

static int add(struct link *link, const struct um_code_unit *unit)
{
	LLVMModuleRef module;
	int error = read_unit(&module, link, unit);

	if (error)
		return error;
	link->origin = unit->origin;
	if (!link->linked) {
		link->linked = module;
		return 0;
	}
	if (unit->is_optional && is_defined_already(link, module)) {
		LLVMDisposeModule(module);
		return 0;
	}
	/* Takes the module, also when it fails. */
	if (LLVMLinkModules2(link->linked, module) && !link->error)
		link->error = um_fail(UM_EFORMAT, "%s: cannot link its device code", unit->origin);
	return link->error;
}

static int add_all(struct link *link, const struct um_code_unit *units, size_t count, bool optional)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		if (units[i].is_optional == optional)
			error = add(link, &units[i]);
	return error;
}

int um_code_units_link(const struct um_code_unit *units, size_t count,
		       const struct um_code_object_request *r)
{
	struct link link = {.context = LLVMContextCreate(), .origin = r->source};
	int error;

	LLVMContextSetDiagnosticHandler(link.context, on_diagnostic, &link);
	error = add_all(&link, units, count, false);
	if (!error)
		error = add_all(&link, units, count, true);
	if (!error) {
		link.origin = r->source;
		um_ir_export_entries(link.linked);
		error = um_code_generate(link.linked, r);
	}
	if (!error)
		error = link.error;
	if (link.linked)
		LLVMDisposeModule(link.linked);
	LLVMContextDispose(link.context);
	return error;
}

int um_code_units_fat_binary(const void *bundle, size_t bytes, char *path)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module = LLVMModuleCreateWithNameInContext("fat binary", context);
	LLVMTargetMachineRef machine;
	int error = um_code_machine(&machine, "O0");

	if (!error) {
		um_ir_define_fat_binary(module, bundle, bytes);
		error = um_code_emit(module, machine, path);
		LLVMDisposeTargetMachine(machine);
	}
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
	return error;
}
