/*
 * How a kernel's parameters lie in the `args` of hipLaunchKernel. clang lowers a kernel and its
 * host stub __device_stub__K alike (x86-64 System V), and the stub's body says where each lowered
 * parameter belongs: it stores it into the local copy of a source parameter, whose address it
 * stores into args[i]. So nothing is guessed about the calling convention.
 */
#ifndef UM_IR_STUB_H
#define UM_IR_STUB_H

#include <llvm-c/Core.h>

#include <stddef.h>

/* Where one IR parameter lies: `offset` bytes into what args[argument] points to. */
struct um_stub_slot {
	unsigned argument;
	unsigned offset;
	int is_address; /* the parameter is args[argument] itself (byval, or passed by reference) */
};

/* What the source passes. `bytes` is 0 where the stub does not say it. */
struct um_stub_argument {
	unsigned bytes, align;
};

#define UM_STUB_ARGUMENTS_MAX 1024u

struct um_stub {
	const char *kernel; /* mangled, as registered; owned by the host module */
	unsigned slot_count;
	struct um_stub_slot *slots; /* one for each IR parameter */
	unsigned argument_count;
	struct um_stub_argument *arguments;
};

struct um_stubs {
	size_t count;
	struct um_stub *items;
};

/* Every kernel that the host module can launch. UM_EFORMAT for a stub of an unknown shape. */
int um_stubs_find(struct um_stubs *out, LLVMModuleRef host);
/* NULL when the host never launches `kernel`. */
const struct um_stub *um_stubs_get(const struct um_stubs *, const char *kernel);
void um_stubs_fini(struct um_stubs *);

#endif
