/*
 * Jacobi's iteration along the rows of a grid that several GPUs share: GPU d has R rows of it, and needs one
 * row of each neighbour in every iteration. --share says how it comes by that:
 *   managed  both arrays are managed memory, and a GPU reads its neighbours' rows where they are
 *   advised  the same, with advice: a GPU's rows prefer it, and the neighbours access their border rows
 *   peer     each GPU has its rows in device memory, and reads its neighbours' through peer access
 *   copy     each GPU has its rows in device memory, with a copy of its neighbours' rows at both ends, which
 *            hipMemcpyPeerAsync() renews
 * Every GPU has a stream of its own. With one GPU (--devices=1, or where there are no more) all is the same
 * but that it has no neighbours.
 *
 * What its trace must show, with D GPUs, R rows each of C = 1024 words (a row is a page), I iterations:
 *   streams      D, one on each device
 *   launches     I on each device, of R pages written by each; 3 R C words read by each, but that rows
 *                beyond the ends of the grid are not read: R pages, and one of each neighbour
 *   managed      two allocations; D R pages of the first written by the host before, as many of the
 *                result read after
 *   advised      besides 2 D preferred locations (of both arrays' parts) and 4 (D - 1) accessed-by
 *   peer, copy   2 D allocations of kind device, of R rows (copy: R + 2); 2 D copies from and to the host
 *   peer         2 (D - 1) pairs of devices have peer access enabled, and no more copies
 *   copy         2 (D - 1) I more, each of one row from device to device, before each iteration
 *
 * Between iterations the host waits for all devices. On a machine with links between its GPUs (peer_link of
 * its file), under any driver: 4096 * 2 (D - 1) I bytes from GPU to GPU with peer (accessed in place) and copy
 * (copied), and 4096 D R bytes each way to and from the host, all of it copies. Under driver `amdgpu_svm` with
 * XNACK, in a hive: as many bytes both ways with advised, the first by faults; with managed more, and none from
 * GPU to GPU: whole blocks of 2 MiB follow who touches them, by way of the host.
 */
#include "kernel_common.h"

#include <vector>

#define COLUMNS 1024

enum share_choice { SHARE_MANAGED, SHARE_ADVISED, SHARE_PEER, SHARE_COPY };
static const char *const share_names[] = {"managed", "advised", "peer", "copy"};

/* `above` and `below` are the rows next to the part, NULL at the ends of the grid. */
__global__ void smooth(const unsigned *part, const unsigned *above, const unsigned *below,
		       unsigned *out, long rows)
{
	long column = (long)blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
	long i = row * COLUMNS + column;
	unsigned sum = part[i];

	if (row > 0)
		sum += part[i - COLUMNS];
	else if (above)
		sum += above[column];
	if (row < rows - 1)
		sum += part[i + COLUMNS];
	else if (below)
		sum += below[column];
	out[i] = sum;
}

struct part {
	unsigned *now, *next;	      /* its rows */
	unsigned *now_all, *next_all; /* as allocated, or NULL */
	hipStream_t stream;
};

struct grid {
	enum share_choice share;
	int devices;
	long rows; /* of a part */
	unsigned *managed[2];
	std::vector<struct part> parts;
};

static size_t part_bytes(const struct grid *grid)
{
	return grid->rows * COLUMNS * sizeof(unsigned);
}

static const size_t row_bytes = COLUMNS * sizeof(unsigned);

static unsigned value_at(long i)
{
	return (unsigned)(i % 1021 + i / 4096);
}

/* --- memory --- */

static void advise(const struct grid *grid, unsigned *array, int device)
{
	long words = grid->rows * COLUMNS;
	unsigned *start = array + device * words;

	HIP_CHECK(hipMemAdvise(start, part_bytes(grid), hipMemAdviseSetPreferredLocation, device));
	if (device > 0)
		HIP_CHECK(hipMemAdvise(start, row_bytes, hipMemAdviseSetAccessedBy, device - 1));
	if (device < grid->devices - 1)
		HIP_CHECK(hipMemAdvise(start + words - COLUMNS, row_bytes,
				       hipMemAdviseSetAccessedBy, device + 1));
}

static void share_managed(struct grid *grid)
{
	size_t bytes = grid->devices * part_bytes(grid);
	long words = grid->rows * COLUMNS;

	for (unsigned *&array : grid->managed) {
		HIP_CHECK(hipMallocManaged(&array, bytes, hipMemAttachGlobal));
		for (int device = 0; grid->share == SHARE_ADVISED && device < grid->devices;
		     device++)
			advise(grid, array, device);
	}
	for (int device = 0; device < grid->devices; device++) {
		grid->parts[device].now = grid->managed[0] + device * words;
		grid->parts[device].next = grid->managed[1] + device * words;
	}
	for (long i = 0; i < grid->devices * words; i++)
		grid->managed[0][i] = value_at(i);
}

/* hipErrorPeerAccessAlreadyEnabled is as good as success. */
static void enable_peer(int peer)
{
	int device, can = 0;

	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipDeviceCanAccessPeer(&can, device, peer));
	if (!can) {
		fprintf(stderr, "multi_gpu: device %d has no peer access to device %d\n", device,
			peer);
		exit(1);
	}
	hipError_t error = hipDeviceEnablePeerAccess(peer, 0);
	if (error != hipErrorPeerAccessAlreadyEnabled)
		HIP_CHECK(error);
	else
		(void)hipGetLastError();
}

static void own_memory(struct grid *grid, int device)
{
	struct part *part = &grid->parts[device];
	long halo = grid->share == SHARE_COPY ? COLUMNS : 0;
	size_t bytes = part_bytes(grid) + 2 * halo * sizeof(unsigned);
	std::vector<unsigned> start(grid->rows * COLUMNS);

	HIP_CHECK(hipMalloc(&part->now_all, bytes));
	HIP_CHECK(hipMalloc(&part->next_all, bytes));
	part->now = part->now_all + halo;
	part->next = part->next_all + halo;
	for (size_t i = 0; i < start.size(); i++)
		start[i] = value_at(device * start.size() + i);
	HIP_CHECK(hipMemcpy(part->now, start.data(), part_bytes(grid), hipMemcpyHostToDevice));
	for (int peer : {device - 1, device + 1})
		if (grid->share == SHARE_PEER && peer >= 0 && peer < grid->devices)
			enable_peer(peer);
}

static void open_grid(struct grid *grid)
{
	grid->parts.resize(grid->devices);
	for (int device = 0; device < grid->devices; device++) {
		struct part *part = &grid->parts[device];
		HIP_CHECK(hipSetDevice(device));
		HIP_CHECK(hipStreamCreateWithFlags(&part->stream, hipStreamNonBlocking));
		if (grid->share == SHARE_PEER || grid->share == SHARE_COPY)
			own_memory(grid, device);
	}
	HIP_CHECK(hipSetDevice(0));
	if (grid->share == SHARE_MANAGED || grid->share == SHARE_ADVISED)
		share_managed(grid);
}

static void close_grid(struct grid *grid)
{
	for (int device = 0; device < grid->devices; device++) {
		struct part *part = &grid->parts[device];
		HIP_CHECK(hipSetDevice(device));
		HIP_CHECK(hipStreamDestroy(part->stream));
		HIP_CHECK(hipFree(part->now_all));
		HIP_CHECK(hipFree(part->next_all));
	}
	for (unsigned *array : grid->managed)
		HIP_CHECK(hipFree(array));
}

/* --- iterations --- */

/* The neighbour's row that is next to this part, or this device's copy of it. */
static const unsigned *halo(const struct grid *grid, int device, bool below)
{
	int neighbour = below ? device + 1 : device - 1;
	const struct part *part = &grid->parts[device];
	long words = grid->rows * COLUMNS;

	if (neighbour < 0 || neighbour >= grid->devices)
		return nullptr;
	if (grid->share == SHARE_COPY)
		return below ? part->now + words : part->now - COLUMNS;
	return grid->parts[neighbour].now + (below ? 0 : words - COLUMNS);
}

static void launch(const struct grid *grid, int device)
{
	const struct part *part = &grid->parts[device];
	const unsigned lanes = 256;

	HIP_CHECK(hipSetDevice(device));
	smooth<<<dim3(COLUMNS / lanes, grid->rows), lanes, 0, part->stream>>>(
		part->now, halo(grid, device, false), halo(grid, device, true), part->next,
		grid->rows);
	HIP_CHECK(hipGetLastError());
}

static void wait_for_all(const struct grid *grid)
{
	for (int device = 0; device < grid->devices; device++)
		HIP_CHECK(hipStreamSynchronize(grid->parts[device].stream));
}

/* Gives the neighbours what they need of this part. */
static void send_borders(const struct grid *grid, int device)
{
	const struct part *part = &grid->parts[device];
	long words = grid->rows * COLUMNS;

	if (device > 0)
		HIP_CHECK(hipMemcpyPeerAsync(grid->parts[device - 1].now + words, device - 1,
					     part->now, device, row_bytes, part->stream));
	if (device < grid->devices - 1)
		HIP_CHECK(hipMemcpyPeerAsync(grid->parts[device + 1].now - COLUMNS, device + 1,
					     part->now + words - COLUMNS, device, row_bytes,
					     part->stream));
}

static void send_all_borders(const struct grid *grid)
{
	for (int device = 0; grid->share == SHARE_COPY && device < grid->devices; device++)
		send_borders(grid, device);
	wait_for_all(grid);
}

static void run(struct grid *grid, long iterations)
{
	send_all_borders(grid);
	for (long i = 0; i < iterations; i++) {
		for (int device = 0; device < grid->devices; device++)
			launch(grid, device);
		wait_for_all(grid);
		for (struct part &part : grid->parts) {
			std::swap(part.now, part.next);
			std::swap(part.now_all, part.next_all);
		}
		if (i < iterations - 1)
			send_all_borders(grid);
	}
}

/* --- the check --- */

static std::vector<unsigned> result_of(const struct grid *grid)
{
	long words = grid->rows * COLUMNS;
	std::vector<unsigned> all(grid->devices * words);

	for (int device = 0; device < grid->devices; device++) {
		const unsigned *from = grid->parts[device].now;
		if (grid->parts[device].now_all)
			HIP_CHECK(hipMemcpy(&all[device * words], from, part_bytes(grid),
					    hipMemcpyDeviceToHost));
		else
			memcpy(&all[device * words], from, part_bytes(grid));
	}
	return all;
}

static long count_wrong(const struct grid *grid, long iterations)
{
	long rows = grid->devices * grid->rows, wrong = 0;
	std::vector<unsigned> now(rows * COLUMNS), next(now.size());

	for (size_t i = 0; i < now.size(); i++)
		now[i] = value_at(i);
	for (long step = 0; step < iterations; step++) {
		for (long i = 0; i < (long)now.size(); i++)
			next[i] = now[i] + (i >= COLUMNS ? now[i - COLUMNS] : 0) +
				  (i / COLUMNS < rows - 1 ? now[i + COLUMNS] : 0);
		now.swap(next);
	}
	std::vector<unsigned> result = result_of(grid);
	for (size_t i = 0; i < now.size(); i++)
		wrong += now[i] != result[i];
	return wrong;
}

int main(int argc, char **argv)
{
	struct grid grid = {};
	long devices = 16, iterations = 3;
	const char *share = "managed";
	grid.rows = 32;
	const struct option_row rows[] = {
		{"devices", "COUNT", "GPUs to use, of those there are (default: up to 16)",
		 &devices, nullptr, nullptr},
		{"rows", "COUNT", "rows of 1024 words of each GPU (default 32)", &grid.rows,
		 nullptr, nullptr},
		{"iterations", "COUNT", "iterations (default 3)", &iterations, nullptr, nullptr},
		{"share", "HOW", "managed, advised, peer, copy (default managed)", nullptr, nullptr,
		 &share},
	};
	parse_options(argc, argv, "A grid that several GPUs iterate over together.", rows, 4);
	grid.share = (enum share_choice)choice_of("share", share, share_names, 4);
	int there;
	HIP_CHECK(hipGetDeviceCount(&there));
	grid.devices = devices < there ? (int)devices : there;

	open_grid(&grid);
	run(&grid, iterations);
	long wrong = count_wrong(&grid, iterations);
	close_grid(&grid);
	return report("multi_gpu", wrong);
}
