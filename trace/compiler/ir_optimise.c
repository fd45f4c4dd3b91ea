#include "ir_device.h"

#include "ir_names.h"
#include "trace/base/error.h"

#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdio.h>

/*
 * Switches of LLVM without an interface. A loop over elements stays the lane's loop, not one
 * memset; equal calls in both arms of a branch stay two. LLVM takes each switch once in the life of
 * a process.
 */
static const char *const switches[] = {
	"umhipcc",
	"-disable-loop-idiom-all",
	"-simplifycfg-sink-common=false",
	"-simplifycfg-hoist-common=false",
	"-enable-tail-merge=false",
	/* A vector of accesses is one access of nobody: for vectors a GPU has lanes. */
	"-vectorize-loops=false",
	"-vectorize-slp=false",
};
int um_ir_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *level)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error;
	char passes[32];

	LLVMParseCommandLineOptions(sizeof switches / sizeof *switches, switches, NULL);
	snprintf(passes, sizeof passes, "default<%s>", level);
	error = LLVMRunPasses(module, passes, machine, options);
	LLVMDisposePassBuilderOptions(options);
	if (error) {
		char *text = LLVMGetErrorMessage(error);
		int code = um_fail(UM_EFORMAT, "optimising device code: %s", text);

		LLVMDisposeErrorMessage(text);
		return code;
	}
	return 0;
}
