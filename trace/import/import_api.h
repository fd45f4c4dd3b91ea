/* Calls of HIP and CUDA by their names, as ops. */
#ifndef UM_IMPORT_API_H
#define UM_IMPORT_API_H

#include "trace/spool/spool_record.h"

/*
 * "hipMemPrefetchAsync", "cudaMemPrefetchAsync_v8000", "cuCtxSynchronize": enum um_op_kind, and in
 * *allocation_kind what an allocation makes (0: none). 0: a call that is no op, or one that device records tell of
 * (launches, copies, memsets).
 */
int um_import_api(const char *name, int *allocation_kind);

#endif
