#include "ir_device.h"

#include "ir_names.h"
#include "trace/base/error.h"

#include <llvm-c/Error.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdio.h>
#include <string.h>

/*
 * Switches of LLVM without an interface. A loop over elements stays the lane's loop, not one
 * memset; equal calls in both arms of a branch stay two.
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
/* Where lanes of a wave meet, machine code has the order that um_ir_order() gives. */
static const char *const wave_switches[] = {
	"-disable-block-placement",
	"-disable-branch-fold",
	"-disable-tail-duplicate",
	"-disable-early-taildup",
};
enum {
	SWITCHES = sizeof switches / sizeof *switches,
	WAVE_SWITCHES = sizeof wave_switches / sizeof *wave_switches
};

static bool has_wave_operations(LLVMModuleRef module)
{
	static const char *const names[] = {"um_wave_ballot", "um_wave_read", "um_wave_active",
					    "um_wave_sync"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (LLVMGetNamedFunction(module, names[i]))
			return true;
	return false;
}

/* LLVM takes each switch once in the life of a process. */
static void set_switches(bool waves)
{
	const char *all[SWITCHES + WAVE_SWITCHES];

	memcpy(all, switches, sizeof switches);
	memcpy(all + SWITCHES, wave_switches, sizeof wave_switches);
	LLVMParseCommandLineOptions(waves ? SWITCHES + WAVE_SWITCHES : SWITCHES, all, NULL);
}

int um_ir_optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *level)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error;
	char passes[32];

	set_switches(has_wave_operations(module));
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
