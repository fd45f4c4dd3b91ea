#include "code_generate.h"

#include "code_link.h"
#include "ir_device.h"
#include "trace/base/error.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>

#include <stdio.h>
#include <string.h>

int um_code_machine(LLVMTargetMachineRef *out, const char *level)
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

int um_code_emit(LLVMModuleRef module, LLVMTargetMachineRef machine, char *path)
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

static int finish(LLVMModuleRef device, LLVMTargetMachineRef machine,
		  const struct um_code_object_request *r)
{
	char hooked[1200], plain[1200];
	LLVMModuleRef plain_module;
	int error;

	um_ir_lockstep(device);
	um_ir_order(device);
	um_ir_exchange(device);
	um_ir_reconverge(device);
	um_ir_keep_order(device);
	um_ir_yields(device);
	plain_module = um_ir_split(device);
	um_ir_groups(plain_module);
	um_ir_lds(device);
	snprintf(hooked, sizeof hooked, "%s/%u-hooked.o", r->folder, r->number);
	snprintf(plain, sizeof plain, "%s/%u-plain.o", r->folder, r->number);
	error = um_ir_instrument(device);
	if (!error)
		error = um_code_emit(device, machine, hooked);
	if (!error)
		error = um_code_emit(plain_module, machine, plain);
	LLVMDisposeModule(plain_module);
	return error ? error : um_code_link(r, device, hooked, plain);
}

int um_code_generate(LLVMModuleRef device, const struct um_code_object_request *r)
{
	const char *level = strcmp(r->level, "O0") ? r->level : "O1";
	LLVMTargetMachineRef machine;
	int error = um_code_machine(&machine, level);

	if (error)
		return error;
	um_ir_private(device);
	error = um_ir_optimise(device, machine, level);
	if (!error)
		error = finish(device, machine, r);
	LLVMDisposeTargetMachine(machine);
	return error;
}
