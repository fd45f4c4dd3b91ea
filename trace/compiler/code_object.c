#include "code_object.h"

#include "code_link.h"
#include "ir_device.h"
#include "ir_host.h"
#include "ir_stub.h"
#include "trace/base/error.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct um_code_object {
	LLVMContextRef context;
	LLVMModuleRef host;
	int is_empty;
	int error; /* that LLVM told of while it made code */
};

static int read_module(LLVMModuleRef *out, LLVMContextRef context, const char *path)
{
	LLVMMemoryBufferRef buffer;
	char *message = NULL;

	if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
		int error = um_fail(UM_EIO, "%s: %s", path, message);

		LLVMDisposeMessage(message);
		return error;
	}
	if (LLVMParseBitcodeInContext2(context, buffer, out)) {
		LLVMDisposeMemoryBuffer(buffer);
		return um_fail(UM_EFORMAT, "%s: not the bitcode of LLVM 15", path);
	}
	LLVMDisposeMemoryBuffer(buffer);
	return 0;
}

static int make_machine(LLVMTargetMachineRef *out, const char *level)
{
	const char *triple = "x86_64-pc-linux-gnu";
	LLVMTargetRef target;
	char *message = NULL;

	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
	LLVMInitializeX86AsmParser();
	if (LLVMGetTargetFromTriple(triple, &target, &message)) {
		int error = um_fail(UM_ENOTSUP, "%s", message);

		LLVMDisposeMessage(message);
		return error;
	}
	*out = LLVMCreateTargetMachine(target, triple, "x86-64", "",
				       strcmp(level, "O3") ? LLVMCodeGenLevelDefault
							   : LLVMCodeGenLevelAggressive,
				       LLVMRelocPIC, LLVMCodeModelDefault);
	return 0;
}

static int emit(LLVMModuleRef module, LLVMTargetMachineRef machine, char *path)
{
	char *message = NULL;
	int error = 0;

	if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
		error = um_fail(UM_EFORMAT, "internal error, broken device code: %.900s", message);
	LLVMDisposeMessage(message);
	message = NULL;
	if (!error && LLVMTargetMachineEmitToFile(machine, module, path, LLVMObjectFile, &message))
		error = um_fail(UM_EIO, "%s", message);
	if (message)
		LLVMDisposeMessage(message);
	return error;
}

static int generate(LLVMModuleRef device, const struct um_stubs *stubs,
		    LLVMTargetMachineRef machine, const struct um_code_object_request *r)
{
	char hooked[1200], plain[1200];
	LLVMModuleRef plain_module;
	int error;

	um_ir_lockstep(device);
	um_ir_order(device);
	um_ir_yields(device);
	plain_module = um_ir_split(device);
	um_ir_lds(device);
	um_ir_arguments(device, stubs);
	snprintf(hooked, sizeof hooked, "%s/%u-hooked.o", r->folder, r->number);
	snprintf(plain, sizeof plain, "%s/%u-plain.o", r->folder, r->number);
	error = um_ir_instrument(device);
	if (!error)
		error = emit(device, machine, hooked);
	if (!error)
		error = emit(plain_module, machine, plain);
	LLVMDisposeModule(plain_module);
	return error ? error : um_code_link(r, device, hooked, plain);
}

static int make_device(struct um_code_object *object, LLVMModuleRef device,
		       const struct um_code_object_request *r)
{
	struct um_stubs stubs;
	LLVMTargetMachineRef machine = NULL;
	const char *level = strcmp(r->level, "O0") ? r->level : "O1";
	int error = um_stubs_find(&stubs, object->host);

	if (error)
		return error;
	error = make_machine(&machine, level);
	if (!error)
		error = um_ir_prepare(device);
	if (!error)
		error = um_ir_entries(device, &stubs);
	if (!error)
		error = um_ir_optimise(device, machine, level);
	if (!error)
		error = generate(device, &stubs, machine, r);
	um_stubs_fini(&stubs);
	if (machine)
		LLVMDisposeTargetMachine(machine);
	return error;
}

/*
 * What LLVM says of the code as it makes it. Errors count; warnings do not: that a loop was not
 * unrolled is true of the x86-64 code only.
 */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context)
{
	struct um_code_object *object = context;
	char *text;

	if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
		return;
	text = LLVMGetDiagInfoDescription(info);
	object->error = um_fail(UM_EFORMAT, "device code: %s", text);
	LLVMDisposeMessage(text);
}

int um_code_object_make(struct um_code_object **out, const struct um_code_object_request *r)
{
	struct um_code_object *object = calloc(1, sizeof *object);
	LLVMModuleRef device = NULL;
	int error;

	if (!object)
		return um_fail(UM_ENOMEM, "out of memory");
	object->context = LLVMContextCreate();
	LLVMContextSetDiagnosticHandler(object->context, on_diagnostic, object);
	error = read_module(&object->host, object->context, r->host_bitcode);
	object->is_empty = !error && !um_ir_has_device_code(object->host);
	if (!error && !object->is_empty) {
		error = read_module(&device, object->context, r->device_bitcode);
		if (!error)
			error = make_device(object, device, r);
		if (!error)
			error = object->error;
	}
	if (device)
		LLVMDisposeModule(device);
	if (error)
		um_code_object_free(object);
	else
		*out = object;
	return error;
}

int um_code_object_is_empty(const struct um_code_object *object)
{
	return object->is_empty;
}

int um_code_object_finish_host(struct um_code_object *object, const void *bundle, size_t bytes,
			       const char *output)
{
	if (bundle)
		um_ir_embed(object->host, bundle, bytes);
	if (LLVMWriteBitcodeToFile(object->host, output))
		return um_fail_errno(UM_EIO, "cannot write %s", output);
	return 0;
}

void um_code_object_free(struct um_code_object *object)
{
	if (!object)
		return;
	if (object->host)
		LLVMDisposeModule(object->host);
	LLVMContextDispose(object->context);
	free(object);
}
