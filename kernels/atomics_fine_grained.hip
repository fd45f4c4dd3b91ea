/*
 * A histogram by atomics, in memory that the CPU counts into as well: fine-grained, where system-scope
 * atomics of both hold, or coarse-grained, where they hold from kernel to kernel.
 *
 * What its trace must show, with n lanes (a multiple of 256), B bins (a power of two, at most 64) that are
 * S bytes apart (a multiple of 64, so that a bin has a line of its own), L launches:
 *   allocation    of the bins, B S bytes: kind managed, device (flags 1, hipDeviceMallocFinegrained, with
 *                 --memory=fine; 0 with coarse) or pinned
 *   launches      L of n atomics, no plain read or write of the bins; B lines, P = B S / 4096 pages
 *                 (rounded up), of which each bin's line is read and written: B requests a wave of 64
 *                 lanes, n / 64 B in all, as each bin has a lane in every wave
 *   host          of managed memory: P pages written before; after each launch read and written, by the
 *                 host's own atomics (a fetch-and-add of each bin)
 *   copies        of device memory: one before, one each way around each launch
 *
 * Under driver `demand`, 4 KiB, managed: L P device faults, L P host faults; with
 * --advise=preferred-host no migration, and remote atomics of B lines read and written a launch.
 */
#include "kernel_common.h"

#include <vector>

enum memory_choice { MEMORY_MANAGED, MEMORY_PINNED, MEMORY_FINE, MEMORY_COARSE };
static const char *const memory_names[] = {"managed", "pinned", "fine", "coarse"};
enum scope_choice { SCOPE_SYSTEM, SCOPE_DEVICE };
static const char *const scope_names[] = {"system", "device"};

struct histogram {
	enum memory_choice memory;
	unsigned *bins; /* of bin i: bins[i * stride] */
	long count, stride, lanes;
};

__global__ void count_system(unsigned *bins, long bins_mask, long stride)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd_system(&bins[(i & bins_mask) * stride], 1u);
}

__global__ void count_device(unsigned *bins, long bins_mask, long stride)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	atomicAdd(&bins[(i & bins_mask) * stride], 1u);
}

static size_t bytes_of(const struct histogram *h)
{
	return h->count * h->stride * sizeof(*h->bins);
}

static bool is_on_device(const struct histogram *h)
{
	return h->memory == MEMORY_FINE || h->memory == MEMORY_COARSE;
}

static void allocate(struct histogram *h)
{
	void **out = (void **)&h->bins;

	switch (h->memory) {
	case MEMORY_MANAGED:
		HIP_CHECK(hipMallocManaged(out, bytes_of(h), hipMemAttachGlobal));
		break;
	case MEMORY_PINNED:
		HIP_CHECK(hipHostMalloc(out, bytes_of(h)));
		break;
#ifdef __HIP_PLATFORM_AMD__
	case MEMORY_FINE:
		HIP_CHECK(hipExtMallocWithFlags(out, bytes_of(h), hipDeviceMallocFinegrained));
		break;
#endif
	default:
		HIP_CHECK(hipMalloc(out, bytes_of(h)));
	}
}

static void launch(const struct histogram *h, enum scope_choice scope)
{
	const unsigned lanes = 256;
	auto count = scope == SCOPE_SYSTEM ? count_system : count_device;

	count<<<h->lanes / lanes, lanes>>>(h->bins, h->count - 1, h->stride);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
}

/* The host's share: one for each bin. */
static void add_on_host(unsigned *bins, const struct histogram *h)
{
	for (long bin = 0; bin < h->count; bin++)
		__atomic_fetch_add(&bins[bin * h->stride], 1u, __ATOMIC_SEQ_CST);
}

/* Device memory is not the host's to touch: there and back. */
static void add_by_copies(const struct histogram *h, std::vector<unsigned> &copy)
{
	HIP_CHECK(hipMemcpy(copy.data(), h->bins, bytes_of(h), hipMemcpyDeviceToHost));
	add_on_host(copy.data(), h);
	HIP_CHECK(hipMemcpy(h->bins, copy.data(), bytes_of(h), hipMemcpyHostToDevice));
}

static long count_wrong(const struct histogram *h, const unsigned *bins, long launches)
{
	long wrong = 0;

	for (long bin = 0; bin < h->count; bin++)
		wrong += bins[bin * h->stride] != launches * (h->lanes / h->count + 1);
	return wrong;
}

static long run(const struct histogram *h, enum scope_choice scope, long launches)
{
	std::vector<unsigned> copy(h->count * h->stride, 0);

	if (is_on_device(h))
		HIP_CHECK(hipMemcpy(h->bins, copy.data(), bytes_of(h), hipMemcpyHostToDevice));
	else
		memset(h->bins, 0, bytes_of(h));
	for (long i = 0; i < launches; i++) {
		launch(h, scope);
		if (is_on_device(h))
			add_by_copies(h, copy);
		else
			add_on_host(h->bins, h);
	}
	return count_wrong(h, is_on_device(h) ? copy.data() : h->bins, launches);
}

int main(int argc, char **argv)
{
	struct histogram h = {};
	long launches = 2, apart = 64;
	const char *memory = "managed", *scope = "system", *advice = nullptr;
	h.lanes = 1 << 16;
	h.count = 64;
	const struct option_row rows[] = {
		{"n", "COUNT", "lanes, a multiple of 256 (default 65536)", &h.lanes, nullptr,
		 nullptr},
		{"bins", "COUNT", "a power of two, at most 64 (default 64)", &h.count, nullptr,
		 nullptr},
		{"apart", "BYTES", "from bin to bin, a multiple of 64 (default 64)", &apart,
		 nullptr, nullptr},
		{"launches", "COUNT", "launches (default 2)", &launches, nullptr, nullptr},
		{"memory", "KIND", "managed, pinned, fine, coarse (default managed)", nullptr,
		 nullptr, &memory},
		{"scope", "SCOPE", "of the atomics: system, device (default system)", nullptr,
		 nullptr, &scope},
		{"advise", "LIST", "for managed memory: " ADVICE_CHOICES, nullptr, nullptr,
		 &advice},
	};
	parse_options(argc, argv, "A histogram by atomics that the CPU counts into as well.", rows,
		      7);
	h.memory = (enum memory_choice)choice_of("memory", memory, memory_names, 4);
	enum scope_choice of = (enum scope_choice)choice_of("scope", scope, scope_names, 2);
	h.stride = apart / (long)sizeof(unsigned);
	if (h.lanes % 256 || h.count > 64 || h.count & (h.count - 1) || apart % 64) {
		fprintf(stderr, "atomics_fine_grained: --n must be a multiple of 256, --bins a "
				"power of two of at most 64, --apart a multiple of 64\n");
		return 2;
	}
#ifndef __HIP_PLATFORM_AMD__
	if (h.memory == MEMORY_FINE) {
		fprintf(stderr, "atomics_fine_grained: --memory=fine is AMD's alone\n");
		return 2;
	}
#endif
	int device;
	HIP_CHECK(hipGetDevice(&device));
	allocate(&h);
	if (h.memory == MEMORY_MANAGED)
		give_advice(h.bins, bytes_of(&h), advice, device);
	long wrong = run(&h, of, launches);
	if (h.memory == MEMORY_PINNED)
		HIP_CHECK(hipHostFree(h.bins));
	else
		HIP_CHECK(hipFree(h.bins));
	return report("atomics_fine_grained", wrong);
}
