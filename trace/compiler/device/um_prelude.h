/*
 * Read before everything else in the device half of a HIP source: gives the amdgcn builtins that
 * AMD's headers and people use a meaning on x86-64. What is not here stays an unknown name, an
 * error at the line that uses it (matrix cores, buffer loads, textures).
 */
#ifndef UM_PRELUDE_H
#define UM_PRELUDE_H
#pragma clang system_header /* no warnings in here */

#undef _FORTIFY_SOURCE /* its checks are the host's */

/*
 * Of which HIP the headers are stays in the object as a name, so that umhipcc links it with the runtime
 * that it is for (cc_units.c). The headers of ROCm 6 ask which waves have 64 lanes: GCN's and CDNA's,
 * and these.
 */
#if __has_include(<hip/hip_version.h>)
#include <hip/hip_version.h>
#if HIP_VERSION_MAJOR < 5 || HIP_VERSION_MAJOR > 7
#error "umhipcc knows the headers of HIP 5, 6 and 7"
#endif
#define UM_HEADERS_NAME(major) um_hip_headers_##major
#define UM_HEADERS_MARK(major) UM_HEADERS_NAME(major)
extern "C" __attribute__((device, weak, used)) const char UM_HEADERS_MARK(HIP_VERSION_MAJOR) = 0;
#endif
#ifndef __GFX9__
#define __GFX9__ 1
#endif
/* They declare functions again that are defined here, and have 32-bit addresses of LDS. */
#pragma clang diagnostic ignored "-Wignored-attributes"
#pragma clang diagnostic ignored "-Wint-to-void-pointer-cast"

#define UM_DEVICE __attribute__((device))
#include "device_abi.h"

#define UM_INLINE static inline __attribute__((device, always_inline, unused))
/* One definition, also where AMD's headers declare the function without `static`. */
#define UM_DEFINE extern "C" inline __attribute__((device, always_inline))

extern "C" {
UM_DEVICE void um_trap(void) __attribute__((noreturn));
}

/* ---- Who a lane is ------------------------------------------------------------------------- */

UM_DEFINE __SIZE_TYPE__ __ockl_get_local_id(unsigned d)
{
	return um_self()->thread[d];
}
UM_DEFINE __SIZE_TYPE__ __ockl_get_group_id(unsigned d)
{
	return um_self()->group[d];
}
UM_DEFINE __SIZE_TYPE__ __ockl_get_local_size(unsigned d)
{
	return um_self()->block[d];
}
UM_DEFINE __SIZE_TYPE__ __ockl_get_num_groups(unsigned d)
{
	return um_self()->grid[d];
}
UM_DEFINE __SIZE_TYPE__ __ockl_get_global_size(unsigned d)
{
	return um_self()->grid[d] * um_self()->block[d];
}
UM_DEFINE __SIZE_TYPE__ __ockl_get_global_id(unsigned d)
{
	return um_self()->group[d] * um_self()->block[d] + um_self()->thread[d];
}
UM_DEFINE unsigned __ockl_lane_u32(void)
{
	return um_self()->lane;
}

#define __builtin_amdgcn_workitem_id_x()    (um_self()->thread[0])
#define __builtin_amdgcn_workitem_id_y()    (um_self()->thread[1])
#define __builtin_amdgcn_workitem_id_z()    (um_self()->thread[2])
#define __builtin_amdgcn_workgroup_id_x()   (um_self()->group[0])
#define __builtin_amdgcn_workgroup_id_y()   (um_self()->group[1])
#define __builtin_amdgcn_workgroup_id_z()   (um_self()->group[2])
#define __builtin_amdgcn_workgroup_size_x() ((unsigned short)um_self()->block[0])
#define __builtin_amdgcn_workgroup_size_y() ((unsigned short)um_self()->block[1])
#define __builtin_amdgcn_workgroup_size_z() ((unsigned short)um_self()->block[2])
#define __builtin_amdgcn_grid_size_x()	    ((unsigned)__ockl_get_global_size(0))
#define __builtin_amdgcn_grid_size_y()	    ((unsigned)__ockl_get_global_size(1))
#define __builtin_amdgcn_grid_size_z()	    ((unsigned)__ockl_get_global_size(2))
#define __builtin_amdgcn_wavefrontsize()    64
/* Hardware registers: which compute unit and wave slot a wave has. Always the first. */
#define __builtin_amdgcn_s_getreg(which)    (0u & (unsigned)(which))
#define __builtin_amdgcn_s_setreg(which, v) ((void)(which), (void)(v))

/* ---- The group and time ---------------------------------------------------------------------- */

#define __builtin_amdgcn_s_barrier	     um_barrier
#define __builtin_amdgcn_wave_barrier	     um_wave_sync
#define __builtin_amdgcn_fence(order, scope) (__atomic_signal_fence(order), um_wave_sync())
#define __builtin_amdgcn_s_sleep(n)	     ((void)(n), um_yield())
#define __builtin_amdgcn_s_waitcnt(n)	     ((void)(n))
#define __builtin_amdgcn_s_setprio(n)	     ((void)(n))
#define __builtin_amdgcn_s_sethalt(n)	     ((void)(n))
#define __builtin_amdgcn_sched_barrier(n)    ((void)(n))
#define __builtin_amdgcn_s_dcache_inv()	     ((void)0)
#define __builtin_amdgcn_buffer_wbinvl1()    ((void)0)
#define __builtin_amdgcn_s_memtime	     um_clock
#define __builtin_amdgcn_s_memrealtime	     um_clock
#define __builtin_amdgcn_endpgm		     um_trap

/*
 * Lanes of a group run on one thread; only other threads of the host need a real fence. On hardware
 * a fence is also where the lanes of a wave, in step anyway, see what the others wrote before: code
 * within a wave (tiles of cooperative groups, __threadfence_block()) has no other synchronisation.
 * Here they wait for one another. Barriers fence too, with flags, and need nothing more.
 */
UM_DEFINE void __atomic_work_item_fence(unsigned flags, int, int scope)
{
	if (scope == 3) /* __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (scope == 1 && !flags) /* __OPENCL_MEMORY_SCOPE_WORK_GROUP */
		um_wave_sync();
}

/* --- The wave --- */

UM_INLINE unsigned um_mbcnt_lo(unsigned mask, unsigned add)
{
	unsigned lane = um_self()->lane;

	return add + __builtin_popcount(mask & (lane >= 32 ? ~0u : (1u << lane) - 1));
}
UM_INLINE unsigned um_mbcnt_hi(unsigned mask, unsigned add)
{
	unsigned lane = um_self()->lane;

	return add + (lane > 32 ? __builtin_popcount(mask & ((1u << (lane - 32)) - 1)) : 0);
}
UM_INLINE int um_readfirstlane(int value)
{
	return (int)um_wave_read((unsigned)value, __builtin_ctzl(um_wave_active()));
}
UM_INLINE int um_readlane(int value, int lane)
{
	return (int)um_wave_read((unsigned)value, (unsigned)lane & 63);
}
UM_INLINE int um_writelane(int value, int lane, int old)
{
	return (int)um_self()->lane == lane ? value : old;
}
UM_INLINE int um_ds_bpermute(int address, int value)
{
	return (int)um_wave_read((unsigned)value, (unsigned)address >> 2 & 63);
}
/* Each lane says where its value goes: lane by lane, everybody hears it. 0 where nothing comes. */
UM_INLINE int um_ds_permute(int address, int value)
{
	unsigned long active = um_wave_active();
	unsigned result = 0;

	for (unsigned from = 0; from < 64; from++) {
		unsigned target = um_wave_read((unsigned)address >> 2 & 63, from);
		unsigned sent = um_wave_read((unsigned)value, from);

		if (active >> from & 1 && target == um_self()->lane)
			result = sent;
	}
	return (int)result;
}
/* "DS_SWIZZLE_B32" in AMD's instruction set manuals. */
UM_INLINE int um_ds_swizzle(int value, int pattern)
{
	unsigned lane = um_self()->lane, source;

	if (pattern & 0x8000)
		source = (lane & ~3u) | ((unsigned)pattern >> (lane & 3) * 2 & 3);
	else
		source = (lane & 32u) | ((((lane & 31) & ((unsigned)pattern & 31)) |
					  ((unsigned)pattern >> 5 & 31)) ^
					 ((unsigned)pattern >> 10 & 31));
	return (int)um_wave_read((unsigned)value, source);
}
/* "DPP_CTRL" there; 64 where no lane is read. */
UM_INLINE unsigned um_dpp_source(unsigned lane, unsigned control)
{
	unsigned row = lane & 15, n = control & 15;

	if (control < 0x100)
		return (lane & ~3u) | (control >> (lane & 3) * 2 & 3);
	if (control > 0x100 && control < 0x110) /* row_shl */
		return row + n < 16 ? lane + n : 64;
	if (control > 0x110 && control < 0x120) /* row_shr */
		return row >= n ? lane - n : 64;
	if (control > 0x120 && control < 0x130) /* row_ror */
		return (lane & ~15u) | ((row - n) & 15);
	switch (control) {
	case 0x130: /* wave_shl */
		return lane + 1;
	case 0x134: /* wave_rol */
		return (lane + 1) & 63;
	case 0x138: /* wave_shr */
		return lane ? lane - 1 : 64;
	case 0x13c: /* wave_ror */
		return (lane - 1) & 63;
	case 0x140: /* row_mirror */
		return lane ^ 15;
	case 0x141: /* row_half_mirror */
		return lane ^ 7;
	case 0x142: /* row_bcast:15 */
		return lane >= 16 ? (lane & ~15u) - 1 : 64;
	case 0x143: /* row_bcast:31 */
		return lane >= 32 ? 31 : 64;
	default:
		return 64;
	}
}
UM_INLINE int um_update_dpp(int old, int value, int control, int row_mask, int bank_mask,
			    bool bound_control)
{
	unsigned lane = um_self()->lane, source = um_dpp_source(lane, (unsigned)control);
	unsigned got = um_wave_read((unsigned)value, source & 63);
	bool enabled = row_mask >> (lane >> 4) & 1 && bank_mask >> (lane >> 2 & 3) & 1;

	if (!enabled)
		return old;
	if (source > 63)
		return bound_control ? 0 : old;
	return (int)got;
}
UM_INLINE int um_mov_dpp(int value, int control, int row_mask, int bank_mask, bool bound_control)
{
	return um_update_dpp(value, value, control, row_mask, bank_mask, bound_control);
}
/* Predicates as LLVM numbers them (CmpInst::Predicate). */
UM_INLINE unsigned long um_icmp(unsigned long a, unsigned long b, long signed_a, long signed_b,
				int predicate)
{
	switch (predicate) {
	case 32:
		return um_wave_ballot(a == b);
	case 33:
		return um_wave_ballot(a != b);
	case 34:
		return um_wave_ballot(a > b);
	case 35:
		return um_wave_ballot(a >= b);
	case 36:
		return um_wave_ballot(a < b);
	case 37:
		return um_wave_ballot(a <= b);
	case 38:
		return um_wave_ballot(signed_a > signed_b);
	case 39:
		return um_wave_ballot(signed_a >= signed_b);
	case 40:
		return um_wave_ballot(signed_a < signed_b);
	default:
		return um_wave_ballot(signed_a <= signed_b);
	}
}
#define __builtin_amdgcn_mbcnt_lo      um_mbcnt_lo
#define __builtin_amdgcn_mbcnt_hi      um_mbcnt_hi
#define __builtin_amdgcn_readfirstlane um_readfirstlane
#define __builtin_amdgcn_readlane      um_readlane
#define __builtin_amdgcn_writelane     um_writelane
#define __builtin_amdgcn_ds_bpermute   um_ds_bpermute
#define __builtin_amdgcn_ds_permute    um_ds_permute
#define __builtin_amdgcn_ds_swizzle    um_ds_swizzle
#define __builtin_amdgcn_mov_dpp       um_mov_dpp
#define __builtin_amdgcn_update_dpp    um_update_dpp
#define __builtin_amdgcn_uicmp(a, b, p)                                                            \
	um_icmp((unsigned)(a), (unsigned)(b), (int)(a), (int)(b), (p))
#define __builtin_amdgcn_sicmp		 __builtin_amdgcn_uicmp
#define __builtin_amdgcn_uicmpl(a, b, p) um_icmp((a), (b), (long)(a), (long)(b), (p))
#define __builtin_amdgcn_sicmpl(a, b, p) um_icmp((a), (b), (a), (b), (p))
#define __builtin_amdgcn_ballot_w64(p)	 um_wave_ballot(p)
#define __builtin_amdgcn_read_exec()	 um_wave_active()
#define __builtin_amdgcn_read_exec_lo()	 ((unsigned)um_wave_active())
#define __builtin_amdgcn_read_exec_hi()	 ((unsigned)(um_wave_active() >> 32))

UM_DEFINE bool __ockl_wfany_i32(int predicate)
{
	return um_wave_ballot(predicate != 0) != 0;
}
UM_DEFINE bool __ockl_wfall_i32(int predicate)
{
	return um_wave_ballot(predicate == 0) == 0;
}
UM_DEFINE unsigned __ockl_activelane_u32(void)
{
	unsigned long active = um_wave_active();

	return __builtin_popcountl(active & ((1ul << um_self()->lane) - 1));
}

/* ---- Bits and arithmetic --------------------------------------------------------------------- */

UM_INLINE unsigned um_alignbit(unsigned high, unsigned low, unsigned shift)
{
	return (unsigned)(((unsigned long)high << 32 | low) >> (shift & 31));
}
UM_INLINE unsigned um_perm(unsigned a, unsigned b, unsigned selector)
{
	unsigned long bytes = (unsigned long)a << 32 | b;
	unsigned result = 0;

	for (unsigned i = 0; i < 4; i++) {
		unsigned s = selector >> i * 8 & 255, byte;

		if (s < 8)
			byte = (unsigned)(bytes >> s * 8) & 255;
		else if (s < 12) /* the sign of a half, bits 15, 31, 47, 63 */
			byte = bytes >> ((s - 8) * 16 + 15) & 1 ? 255 : 0;
		else
			byte = s == 12 ? 0 : 255;
		result |= byte << i * 8;
	}
	return result;
}
UM_INLINE unsigned um_sad_u8(unsigned a, unsigned b, unsigned sum)
{
	for (unsigned i = 0; i < 32; i += 8) {
		int d = (int)(a >> i & 255) - (int)(b >> i & 255);

		sum += (unsigned)(d < 0 ? -d : d);
	}
	return sum;
}
UM_INLINE unsigned um_sad_u16(unsigned a, unsigned b, unsigned sum)
{
	for (unsigned i = 0; i < 32; i += 16) {
		int d = (int)(a >> i & 65535) - (int)(b >> i & 65535);

		sum += (unsigned)(d < 0 ? -d : d);
	}
	return sum;
}
UM_INLINE unsigned um_ubfe(unsigned value, unsigned offset, unsigned width)
{
	return (value >> (offset & 31)) & ((1u << (width & 31)) - 1);
}
UM_INLINE int um_sbfe(int value, unsigned offset, unsigned width)
{
	unsigned w = width & 31;

	return w ? (int)(um_ubfe((unsigned)value, offset, w) << (32 - w)) >> (32 - w) : 0;
}
UM_INLINE float um_median(float a, float b, float c)
{
	return __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c));
}
extern "C" {
UM_DEVICE float __ocml_native_sin_f32(float);
UM_DEVICE float __ocml_native_cos_f32(float);
UM_DEVICE float um_sin_turns(float) __attribute__((const));
UM_DEVICE float um_cos_turns(float) __attribute__((const));
UM_DEVICE float um_exp2(float) __attribute__((const));
UM_DEVICE float um_log2(float) __attribute__((const));
UM_DEVICE float um_ldexp(float, int) __attribute__((const));
UM_DEVICE double um_ldexp_f64(double, int) __attribute__((const));
}
#define __builtin_amdgcn_alignbit	    um_alignbit
#define __builtin_amdgcn_alignbyte(h, l, s) um_alignbit((h), (l), ((s)&3) * 8)
#define __builtin_amdgcn_perm		    um_perm
#define __builtin_amdgcn_sad_u8		    um_sad_u8
#define __builtin_amdgcn_sad_u16	    um_sad_u16
#define __builtin_amdgcn_ubfe		    um_ubfe
#define __builtin_amdgcn_sbfe		    um_sbfe
#define __builtin_amdgcn_fmed3f		    um_median
#define __builtin_amdgcn_rcpf(x)	    (1.0f / (float)(x))
#define __builtin_amdgcn_rcp(x)		    (1.0 / (double)(x))
#define __builtin_amdgcn_rsqf(x)	    (1.0f / __builtin_sqrtf(x))
#define __builtin_amdgcn_rsq(x)		    (1.0 / __builtin_sqrt(x))
#define __builtin_amdgcn_sqrtf(x)	    __builtin_sqrtf(x)
#define __builtin_amdgcn_sqrt(x)	    __builtin_sqrt(x)
#define __builtin_amdgcn_fractf(x)	    ((x)-__builtin_floorf(x))
#define __builtin_amdgcn_fract(x)	    ((x)-__builtin_floor(x))
#define __builtin_amdgcn_ldexpf		    um_ldexp
#define __builtin_amdgcn_ldexp		    um_ldexp_f64
#define __builtin_amdgcn_sinf		    um_sin_turns
#define __builtin_amdgcn_cosf		    um_cos_turns
#define __builtin_amdgcn_exp2f		    um_exp2
#define __builtin_amdgcn_logf		    um_log2

UM_DEFINE unsigned __ockl_mul24_u32(unsigned a, unsigned b)
{
	return (a & 0xffffff) * (b & 0xffffff);
}
UM_DEFINE int __ockl_mul24_i32(int a, int b)
{
	return ((int)((unsigned)a << 8) >> 8) * ((int)((unsigned)b << 8) >> 8);
}
UM_DEFINE unsigned __ockl_mul_hi_u32(unsigned a, unsigned b)
{
	return (unsigned)((unsigned long)a * b >> 32);
}
UM_DEFINE int __ockl_mul_hi_i32(int a, int b)
{
	return (int)((long)a * b >> 32);
}
UM_DEFINE unsigned __ockl_sadd_u32(unsigned a, unsigned b, unsigned sum)
{
	return (a > b ? a - b : b - a) + sum;
}
UM_DEFINE unsigned char __ockl_clz_u8(unsigned char a)
{
	return (unsigned char)(a ? __builtin_clz(a) - 24 : 8);
}
UM_DEFINE unsigned short __ockl_clz_u16(unsigned short a)
{
	return (unsigned short)(a ? __builtin_clz(a) - 16 : 16);
}
UM_DEFINE unsigned __ockl_clz_u32(unsigned a)
{
	return a ? (unsigned)__builtin_clz(a) : 32;
}
UM_DEFINE unsigned long __ockl_clz_u64(unsigned long a)
{
	return a ? (unsigned long)__builtin_clzl(a) : 64;
}

/* --- Dot products, as their amdgcn instructions: saturating where asked --- */

typedef short um_short2 __attribute__((ext_vector_type(2)));
typedef unsigned short um_ushort2 __attribute__((ext_vector_type(2)));
typedef char um_char4 __attribute__((ext_vector_type(4)));
typedef unsigned char um_uchar4 __attribute__((ext_vector_type(4)));

UM_INLINE int um_saturate_int(long value, bool saturate)
{
	if (saturate && value > 2147483647)
		return 2147483647;
	if (saturate && value < -2147483647 - 1)
		return -2147483647 - 1;
	return (int)value;
}
UM_INLINE unsigned um_saturate_unsigned(unsigned long value, bool saturate)
{
	return saturate && value >> 32 ? ~0u : (unsigned)value;
}
UM_DEFINE int __ockl_sdot2(um_short2 a, um_short2 b, int c, bool saturate)
{
	return um_saturate_int((long)a.x * b.x + (long)a.y * b.y + c, saturate);
}
UM_DEFINE unsigned __ockl_udot2(um_ushort2 a, um_ushort2 b, unsigned c, bool saturate)
{
	return um_saturate_unsigned((unsigned long)a.x * b.x + (unsigned long)a.y * b.y + c,
				    saturate);
}
UM_DEFINE int __ockl_sdot4(um_char4 a, um_char4 b, int c, bool saturate)
{
	return um_saturate_int((long)a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w + c, saturate);
}
UM_DEFINE unsigned __ockl_udot4(um_uchar4 a, um_uchar4 b, unsigned c, bool saturate)
{
	return um_saturate_unsigned(
		(unsigned long)c + (unsigned)(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w),
		saturate);
}
UM_DEFINE int __ockl_sdot8(int a, int b, int c, bool saturate)
{
	long sum = c;

	for (int i = 0; i < 32; i += 4)
		sum += (long)((int)((unsigned)a << (28 - i)) >> 28) *
		       ((int)((unsigned)b << (28 - i)) >> 28);
	return um_saturate_int(sum, saturate);
}
UM_DEFINE unsigned __ockl_udot8(unsigned a, unsigned b, unsigned c, bool saturate)
{
	unsigned long sum = c;

	for (int i = 0; i < 32; i += 4)
		sum += (unsigned long)(a >> i & 15) * (b >> i & 15);
	return um_saturate_unsigned(sum, saturate);
}
/* clang's builtins take bytes packed. */
UM_INLINE int um_sdot4(int a, int b, int c, bool saturate)
{
	return __ockl_sdot4(__builtin_bit_cast(um_char4, a), __builtin_bit_cast(um_char4, b), c,
			    saturate);
}
UM_INLINE unsigned um_udot4(unsigned a, unsigned b, unsigned c, bool saturate)
{
	return __ockl_udot4(__builtin_bit_cast(um_uchar4, a), __builtin_bit_cast(um_uchar4, b), c,
			    saturate);
}
#define __builtin_amdgcn_sdot2 __ockl_sdot2
#define __builtin_amdgcn_udot2 __ockl_udot2
#define __builtin_amdgcn_sdot4 um_sdot4
#define __builtin_amdgcn_udot4 um_udot4
#define __builtin_amdgcn_sdot8 __ockl_sdot8
#define __builtin_amdgcn_udot8 __ockl_udot8
#define __builtin_amdgcn_fdot2 __ockl_fdot2
UM_DEFINE void __ockl_atomic_add_noret_f32(float *address, float value)
{
	__atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

/* --- Half precision: in float, rounded once --- */

typedef _Float16 um_half2 __attribute__((ext_vector_type(2)));
typedef short um_mask2 __attribute__((ext_vector_type(2)));

extern "C" {
UM_DEVICE float __ocml_exp_f32(float) __attribute__((pure));
UM_DEVICE float __ocml_exp2_f32(float) __attribute__((pure));
UM_DEVICE float __ocml_exp10_f32(float) __attribute__((pure));
UM_DEVICE float __ocml_log_f32(float) __attribute__((pure));
UM_DEVICE float __ocml_log2_f32(float) __attribute__((pure));
UM_DEVICE float __ocml_log10_f32(float) __attribute__((pure));
UM_DEVICE float __ocml_pown_f32(float, int) __attribute__((pure));
UM_DEVICE float __ocml_sin_f32(float);
UM_DEVICE float __ocml_cos_f32(float);
}
#define UM_HALF(name, expression)                                                                  \
	UM_DEFINE _Float16 __ocml_##name##_f16(_Float16 half)                                      \
	{                                                                                          \
		float x = half;                                                                    \
		return (_Float16)(expression);                                                     \
	}                                                                                          \
	UM_DEFINE um_half2 __ocml_##name##_2f16(um_half2 x)                                        \
	{                                                                                          \
		return um_half2{__ocml_##name##_f16(x.x), __ocml_##name##_f16(x.y)};               \
	}
UM_HALF(ceil, __builtin_ceilf(x))
UM_HALF(floor, __builtin_floorf(x))
UM_HALF(trunc, __builtin_truncf(x))
UM_HALF(rint, __builtin_rintf(x))
UM_HALF(fabs, __builtin_fabsf(x))
UM_HALF(sqrt, __builtin_sqrtf(x))
UM_HALF(rsqrt, 1.0f / __builtin_sqrtf(x))
UM_HALF(exp, __ocml_exp_f32(x))
UM_HALF(exp2, __ocml_exp2_f32(x))
UM_HALF(exp10, __ocml_exp10_f32(x))
UM_HALF(log, __ocml_log_f32(x))
UM_HALF(log2, __ocml_log2_f32(x))
UM_HALF(log10, __ocml_log10_f32(x))
UM_HALF(sin, __ocml_sin_f32(x))
UM_HALF(cos, __ocml_cos_f32(x))
#undef UM_HALF
UM_DEFINE _Float16 __llvm_amdgcn_rcp_f16(_Float16 x)
{
	return (_Float16)(1.0f / (float)x);
}
/* Exact: the product of two halves has 22 bits, and a double holds the sum before its rounding. */
UM_DEFINE _Float16 __ocml_fma_f16(_Float16 a, _Float16 b, _Float16 c)
{
	return (_Float16)((double)a * (double)b + (double)c);
}
UM_DEFINE um_half2 __ocml_fma_2f16(um_half2 a, um_half2 b, um_half2 c)
{
	return um_half2{__ocml_fma_f16(a.x, b.x, c.x), __ocml_fma_f16(a.y, b.y, c.y)};
}
UM_DEFINE _Float16 __ocml_pown_f16(_Float16 x, int n)
{
	return (_Float16)__ocml_pown_f32((float)x, n);
}
UM_DEFINE um_half2 __ocml_pown_2f16(um_half2 x, um_mask2 n)
{
	return um_half2{__ocml_pown_f16(x.x, n.x), __ocml_pown_f16(x.y, n.y)};
}
UM_DEFINE int __ocml_isinf_f16(_Float16 x)
{
	return __builtin_isinf((float)x);
}
UM_DEFINE int __ocml_isnan_f16(_Float16 x)
{
	return __builtin_isnan((float)x);
}
/* Of vectors: -1 where it is so, as vector comparisons have it. */
UM_DEFINE um_mask2 __ocml_isinf_2f16(um_half2 x)
{
	return um_mask2{(short)-__ocml_isinf_f16(x.x), (short)-__ocml_isinf_f16(x.y)};
}
UM_DEFINE um_mask2 __ocml_isnan_2f16(um_half2 x)
{
	return um_mask2{(short)-__ocml_isnan_f16(x.x), (short)-__ocml_isnan_f16(x.y)};
}
UM_DEFINE float __ockl_fdot2(um_half2 a, um_half2 b, float c, bool)
{
	return (float)a.x * (float)b.x + (float)a.y * (float)b.y + c;
}

#endif
