/* The two objects of a code object, the device library and the runtime's names into one library. */
#ifndef UM_CODE_LINK_H
#define UM_CODE_LINK_H

#include "code_object.h"

#include <llvm-c/Core.h>

/* An undefined function is an error at the line in `device` that uses it. */
int um_code_link(const struct um_code_object_request *, LLVMModuleRef device, const char *hooked,
		 const char *plain);

#endif
