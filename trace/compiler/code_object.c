#include "code_object.h"

#include "code_generate.h"
#include "ir_device.h"
#include "ir_host.h"
#include "ir_stub.h"
#include "trace/base/error.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>

#include <stdlib.h>

struct um_code_object {
	LLVMContextRef context;
	LLVMModuleRef host;
	LLVMMemoryBufferRef unit; /* relocatable device code, or NULL */
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

/* Device code that other units may use, or that uses theirs: um_code_units_link() goes on with it. */
static void keep_unit(struct um_code_object *object, LLVMModuleRef device)
{
	if (!um_ir_is_unit(device))
		return;
	um_ir_share_entries(device);
	object->unit = LLVMWriteBitcodeToMemoryBuffer(device);
}

static int make_device(struct um_code_object *object, LLVMModuleRef device,
		       const struct um_code_object_request *r)
{
	struct um_stubs stubs;
	int error = um_stubs_find(&stubs, object->host);

	if (error)
		return error;
	error = um_ir_prepare(device);
	if (!error)
		error = um_ir_entries(device, &stubs);
	if (!error)
		um_ir_arguments(device, &stubs);
	if (!error && r->relocatable)
		keep_unit(object, device);
	else if (!error)
		error = um_code_generate(device, r);
	um_stubs_fini(&stubs);
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
	object->is_empty = !error && !r->relocatable && !um_ir_has_device_code(object->host);
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
	if (object->unit)
		um_ir_embed_unit(object->host, LLVMGetBufferStart(object->unit),
				 LLVMGetBufferSize(object->unit));
	if (LLVMWriteBitcodeToFile(object->host, output))
		return um_fail_errno(UM_EIO, "cannot write %s", output);
	return 0;
}

void um_code_object_free(struct um_code_object *object)
{
	if (!object)
		return;
	if (object->unit)
		LLVMDisposeMemoryBuffer(object->unit);
	if (object->host)
		LLVMDisposeModule(object->host);
	LLVMContextDispose(object->context);
	free(object);
}
