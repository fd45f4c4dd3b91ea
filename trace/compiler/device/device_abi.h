/*
 * The contract between an x86-64 code object (made by umhipcc) and the runtime that runs it.
 *
 * A code object is an ELF shared library, one per translation unit, with DT_NEEDED
 * libamdhip64.so.5. It holds, for each kernel K with mangled name M:
 *
 *   um_hooked.M   void (void **args): one lane of K; every access to memory calls um_access*
 *   um_plain.M    void (void **args): the same lane without a hook
 *
 * and, where the lanes of K never wait for one another, all lanes of a group in one call, without
 * a hook (absent in code objects of older umhipccs):
 *
 *   um_group.M    void (void **args, const struct um_lane *first, unsigned *number): `first` is
 *                 lane 0; *number is set to the number of each lane before it runs
 *
 * `args` is what hipLaunchKernel is given: args[i] points to the i-th argument as the source
 * declares it. Where they lie when they come as one struct is a variable (absent where a class is
 * passed by reference): n offsets, where the last one ends, then n sizes in bytes:
 *
 *   um_arguments.M   const unsigned[2 * n + 1]
 *
 * umhipcc makes both entries from one optimised module, so that they share every
 * variable (__device__, __constant__, static) of the code object. Variables keep their mangled
 * names, for hipGetSymbolAddress and __hipRegisterVar.
 *
 * Static __shared__ variables lie together in section "um_lds" (linker symbols
 * __start_um_lds, __stop_um_lds, absent when there is none), with a granule of padding behind them.
 * One work-group runs at a time; the runtime saves and restores the section when it lets another
 * group have a turn. How much of it kernel M itself has is a variable:
 *
 *   um_lds_bytes.M   const unsigned
 *
 * Every `extern __shared__` array is the runtime's um_lds_dynamic.
 *
 * Everything here is exported by the runtime under version node UMTRACE_1. The file is C, and is
 * also read in HIP device code by the prelude, which then declares the functions __device__.
 */
#ifndef UM_DEVICE_ABI_H
#define UM_DEVICE_ABI_H

#ifdef __cplusplus
extern "C" {
#endif
#ifndef UM_DEVICE
#define UM_DEVICE
#endif

/* The wave size of every device that the runtime plays (CDNA: 64). */
#define UM_WAVE_LANES 64
/* LDS of one work-group on CDNA: 64 KiB ("MI200 ISA reference guide", LDS). */
#define UM_LDS_BYTES 65536
/* What a group's share of it is rounded up to ("MI200 ISA reference guide", LDS: 128 dwords). */
#define UM_LDS_GRANULE_BYTES 512
#define UM_LDS_SECTION	     "um_lds"

/* Who a lane is. Constant for the life of the lane. */
struct um_lane {
	unsigned thread[3]; /* threadIdx */
	unsigned group[3];  /* blockIdx */
	unsigned block[3];  /* blockDim: work-items of a group */
	unsigned grid[3];   /* gridDim: groups of the launch */
	unsigned lane;	    /* position in its wave, 0 to 63 */
	unsigned wave;	    /* wave in its group */
};

/*
 * The lane that runs. Code may keep the pointer: it stays valid and the same until the lane ends.
 */
UM_DEVICE const struct um_lane *um_self(void) __attribute__((const));

extern UM_DEVICE char um_lds_dynamic[UM_LDS_BYTES];

/*
 * Hooks, called before the access. `descriptor` is a constant that umhipcc builds with
 * UM_ACCESS(): how many bytes, what is done, and which instruction of the code object does it.
 * Addresses outside every HIP allocation are legal: counted (see `loss`), or with umtrace --pageable
 * recorded as well.
 */
enum um_access_kind {
	UM_ACCESS_READ = 0,
	UM_ACCESS_WRITE = 1,
	UM_ACCESS_ATOMIC = 2,	       /* this and those behind it */
	UM_ACCESS_ATOMIC_FLOAT = 3,    /* on a floating-point value, however that is done */
	UM_ACCESS_ATOMIC_HARDWARE = 4, /* on one, by an instruction: unsafeAtomicAdd() */
};
#define UM_ACCESS(bytes, kind, instruction)                                                        \
	((unsigned)(bytes) | (unsigned)(kind) << 7 | (unsigned)(instruction) << 10)
#define UM_ACCESS_BYTES(d)	 ((d)&0x7fu)
#define UM_ACCESS_KIND(d)	 ((d) >> 7 & 7u)
#define UM_ACCESS_INSTRUCTION(d) ((d) >> 10) /* 22 bits, from 0 in each code object */

UM_DEVICE void um_access(const void *address, unsigned descriptor);
/* memcpy, memset and struct copies: `bytes` may be 0; the bytes of the descriptor are ignored. */
UM_DEVICE void um_access_range(const void *address, unsigned long bytes, unsigned descriptor);

/* __syncthreads: returns when every lane of the group that has not ended waits here. */
UM_DEVICE void um_barrier(void);

/*
 * Wave operations. The lanes that take part are those of the wave that wait at the same site,
 * at the time when no lane of the wave can go on without one of them; of several such sites the
 * one of the lowest address goes first, so that lanes that skipped a branch or left a loop wait
 * behind it for the others. The site is the return address of the call, so the call is convergent,
 * never merged with another and never duplicated, and code keeps the order of its source: a block
 * that joins two paths lies behind both.
 * A lane that has ended, or waits at a barrier, is not active.
 */
UM_DEVICE unsigned long um_wave_ballot(int predicate);
/* The 32-bit value of lane `source` (0 to 63); own value where that lane is not active. */
UM_DEVICE unsigned um_wave_read(unsigned value, unsigned source);
UM_DEVICE unsigned long um_wave_active(void); /* which lanes are here */
UM_DEVICE void um_wave_sync(void);

/* s_sleep, or one turn of a loop that may wait for another lane, group or the host. */
UM_DEVICE void um_yield(void);
/* Monotonic ticks, 100 MHz as s_memrealtime on CDNA; advances by one hook at least. */
UM_DEVICE unsigned long um_clock(void);
/* Ends the launch with an error: `hip_error` of hipError_t, text for people. Does not return. */
UM_DEVICE void um_fault(int hip_error, const char *text) __attribute__((noreturn));
/*
 * Memory of kernels: malloc and free in device code. Owned by the runtime. NULL when none is left.
 */
UM_DEVICE void *um_device_malloc(unsigned long bytes);
UM_DEVICE void um_device_free(void *);

#ifdef __cplusplus
}
#endif
#endif
