/*
 * HotSpot: how the heat of a chip's power spreads, N x N floats of temperature and power, by tiles
 * with ghost zones (Rodinia's hotspot, Che et al., IISWC 2009, and the pyramids of Meng and Skadron,
 * ICS 2009; written from the description). A group of 16 x 16 lanes takes a tile and its
 * surroundings into LDS, makes up to H steps there (--height), and writes the 16 - 2 H square that
 * is still right: rows and columns of halos are computed by several groups instead of exchanged.
 *
 * The host fills both inputs before it gives any advice, as the program of the public logs does
 * that traces/v100/ imports (peihunglin/XPlacer-ML-DataPlacement); --advice takes their codes,
 * for temperatures and power: 0 device memory and copies, 1 managed, 2 read-mostly, 3 preferred
 * location GPU, 4 accessed by GPU, 5 preferred location host, 6 accessed by host.
 *
 * What its trace must show, with S = 16 - 2 H, and L the lanes of a row of tiles that lie on the
 * grid, the sum over b of |[b S - H, b S - H + 16) within [0, N)|; I steps, K = ceil(I / H)
 * launches, I a multiple of H; N a multiple of 1024 (a row is whole pages):
 *   host, before  N N / 1024 pages of temperatures and as many of power written, none of the result
 *   each launch   2 L L reads and N N writes (4 bytes each); all pages of both inputs read, all of
 *                 the output written, all 64 lines of each
 *   host, after   N N / 1024 pages of the result read
 * --compare none leaves out the host's version; what it needs is not managed.
 *
 * Under driver `nvidia_uvm`, one launch, codes 11, whole 2 MiB: 8 N N bytes to the device by faults
 * (the output is nowhere: made there without bytes), 4 N N back; 6 host faults for each 2 MiB that
 * the host fills or reads (R10, R19); with 55 none either way over PCIe: the GPU accesses the host's
 * memory; with 44 none to the device, what the host does not read again.
 */
#include "kernel_common.h"

#include <math.h>

#include <algorithm>
#include <vector>

#define TILE 16

/* What a step multiplies with: time over capacity, and conductances to neighbours and ambient. */
struct chip {
	float step_over_capacity, along_x, along_y, to_ambient, ambient;
};

/*
 * Silicon as HotSpot has it: 100 W/(m K), 1.75e6 J/(m^3 K), 0.5 mm thick, half of the capacity
 * (fitted, as HotSpot does). Cells of a quarter of a millimetre, whatever N is; the step is a tenth
 * of the longest that is stable.
 */
static struct chip silicon()
{
	const double conductivity = 100, heat = 1.75e6, thickness = 0.5e-3, edge = 0.25e-3;
	double capacity = 0.5 * heat * thickness * edge * edge;
	double lateral = 2 * conductivity * thickness,
	       vertical = conductivity * edge * edge / thickness;
	double step = 0.1 * capacity / (4 * lateral + vertical);

	return {(float)(step / capacity), (float)lateral, (float)lateral, (float)vertical, 80};
}

__host__ __device__ static inline float next_of(const struct chip &chip, float here, float north,
						float south, float west, float east, float power)
{
	float flow = power + (north + south - 2 * here) * chip.along_y +
		     (west + east - 2 * here) * chip.along_x +
		     (chip.ambient - here) * chip.to_ambient;
	return here + chip.step_over_capacity * flow;
}

__host__ __device__ static inline int clamp(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}

__global__ void hotspot(struct chip chip, const float *temperature, const float *power,
			float *result, int size, int halo, int steps)
{
	__shared__ float heat[2][TILE][TILE], source[TILE][TILE];
	const int x = threadIdx.x, y = threadIdx.y, inner = TILE - 2 * halo;
	const int left = (int)blockIdx.x * inner - halo, top = (int)blockIdx.y * inner - halo;
	const int column = left + x, row = top + y;
	const bool on_grid = column >= 0 && column < size && row >= 0 && row < size;
	const size_t cell = (size_t)row * size + column;

	if (on_grid) {
		heat[0][y][x] = temperature[cell];
		source[y][x] = power[cell];
	}
	/* Beyond the grid's edge the nearest cell on it; beyond the tile's what is wrong anyhow. */
	const int first_x = left < 0 ? -left : 0, last_x = min(TILE, size - left) - 1;
	const int first_y = top < 0 ? -top : 0, last_y = min(TILE, size - top) - 1;
	const int west = clamp(x - 1, first_x, last_x), east = clamp(x + 1, first_x, last_x);
	const int north = clamp(y - 1, first_y, last_y), south = clamp(y + 1, first_y, last_y);

	for (int step = 0; step < steps; step++) {
		const float(*from)[TILE] = heat[step % 2];
		float(*to)[TILE] = heat[(step + 1) % 2];
		__syncthreads();
		if (on_grid)
			to[y][x] = next_of(chip, from[y][x], from[north][x], from[south][x],
					   from[y][west], from[y][east], source[y][x]);
	}
	if (on_grid && x >= halo && x < TILE - halo && y >= halo && y < TILE - halo)
		result[cell] = heat[steps % 2][y][x];
}

/* --- the host's version --- */

static void step_on_cpu(const struct chip &chip, const std::vector<float> &from,
			const std::vector<float> &power, std::vector<float> &to, int size)
{
	for (int row = 0; row < size; row++)
		for (int column = 0; column < size; column++) {
			size_t line = (size_t)row * size, cell = line + column;
			size_t above = (size_t)clamp(row - 1, 0, size - 1) * size;
			size_t below = (size_t)clamp(row + 1, 0, size - 1) * size;
			to[cell] = next_of(
				chip, from[cell], from[above + column], from[below + column],
				from[line + clamp(column - 1, 0, size - 1)],
				from[line + clamp(column + 1, 0, size - 1)], power[cell]);
		}
}

static float temperature_at(size_t cell)
{
	return 320 + (float)(cell * 37 % 211) * 0.1f;
}

static float power_at(size_t cell)
{
	return (float)(cell * 53 % 127) * 0.01f;
}

/* A GPU may contract a product and a sum, the host not: 1e-5 of some 300 degrees. */
static long count_wrong(const struct chip &chip, const float *result, int size, long iterations)
{
	const float tolerance = 3e-3f;
	size_t cells = (size_t)size * size;
	std::vector<float> from(cells), to(cells), power(cells);
	for (size_t cell = 0; cell < cells; cell++) {
		from[cell] = temperature_at(cell);
		power[cell] = power_at(cell);
	}
	for (long step = 0; step < iterations; step++) {
		step_on_cpu(chip, from, power, to, size);
		from.swap(to);
	}
	long wrong = 0;
	for (size_t cell = 0; cell < cells; cell++)
		wrong += !(fabsf(result[cell] - from[cell]) <= tolerance);
	return wrong;
}

/* --- arrays by the codes of the logs --- */

enum code { EXPLICIT = '0', MANAGED = '1', LAST_CODE = '6' };

static const struct {
	hipMemoryAdvise advice;
	bool host;
} advice_of_code[] = {
	{hipMemAdviseSetReadMostly, false},	   /* 2 */
	{hipMemAdviseSetPreferredLocation, false}, /* 3 */
	{hipMemAdviseSetAccessedBy, false},	   /* 4 */
	{hipMemAdviseSetPreferredLocation, true},  /* 5 */
	{hipMemAdviseSetAccessedBy, true},	   /* 6 */
};

static void advise(float *array, size_t bytes, char code, int device)
{
	if (code <= MANAGED)
		return;
	const auto &row = advice_of_code[code - MANAGED - 1];
	HIP_CHECK(hipMemAdvise(array, bytes, row.advice, row.host ? hipCpuDeviceId : device));
}

/* What the host fills and reads, and what the device does: one array when it is managed. */
struct array {
	float *host, *device;
	bool managed;
};

static struct array allocate(size_t bytes, char code, bool by_host)
{
	struct array array = {nullptr, nullptr, code != EXPLICIT};

	if (array.managed) {
		HIP_CHECK(hipMallocManaged(&array.device, bytes, hipMemAttachGlobal));
		array.host = array.device;
		return array;
	}
	HIP_CHECK(hipMalloc(&array.device, bytes));
	array.host = by_host ? (float *)malloc(bytes) : nullptr;
	if (by_host && !array.host) {
		fprintf(stderr, "hotspot: no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return array;
}

static void release(struct array array)
{
	if (!array.managed)
		free(array.host);
	HIP_CHECK(hipFree(array.device));
}

static void copy(struct array array, size_t bytes, hipMemcpyKind kind)
{
	bool to_device = kind == hipMemcpyHostToDevice;

	if (!array.managed)
		HIP_CHECK(hipMemcpy(to_device ? array.device : array.host,
				    to_device ? array.host : array.device, bytes, kind));
}

/* --- the run --- */

struct run {
	long size, iterations, height;
	char temperature_code, power_code;
	bool compare;
};

static int launch_all(const struct run &run, const struct chip &chip, struct array arrays[2],
		      struct array power)
{
	long inner = TILE - 2 * run.height;
	unsigned groups = (unsigned)((run.size + inner - 1) / inner);
	int from = 0;

	for (long done = 0; done < run.iterations; done += run.height, from = !from) {
		hotspot<<<dim3(groups, groups), dim3(TILE, TILE)>>>(
			chip, arrays[from].device, power.device, arrays[!from].device,
			(int)run.size, (int)run.height,
			(int)std::min(run.height, run.iterations - done));
		HIP_CHECK(hipGetLastError());
	}
	HIP_CHECK(hipDeviceSynchronize());
	return from;
}

/* As who writes a result to a file reads it: all of it, in order. */
static double sum_of(const float *values, size_t cells)
{
	double sum = 0;
	for (size_t cell = 0; cell < cells; cell++)
		sum += values[cell];
	return sum;
}

static int simulate(const struct run &run)
{
	const struct chip chip = silicon();
	size_t cells = (size_t)run.size * run.size, bytes = cells * sizeof(float);
	int device;
	HIP_CHECK(hipGetDevice(&device));

	struct array arrays[2], power;
	arrays[0] = allocate(bytes, run.temperature_code, true);
	power = allocate(bytes, run.power_code, true);
	for (size_t cell = 0; cell < cells; cell++)
		arrays[0].host[cell] = temperature_at(cell);
	for (size_t cell = 0; cell < cells; cell++)
		power.host[cell] = power_at(cell);
	arrays[1] = allocate(bytes, run.temperature_code, true);

	advise(arrays[0].device, bytes, run.temperature_code, device);
	advise(arrays[1].device, bytes, run.temperature_code, device);
	advise(power.device, bytes, run.power_code, device);
	copy(arrays[0], bytes, hipMemcpyHostToDevice);
	copy(power, bytes, hipMemcpyHostToDevice);

	int last = launch_all(run, chip, arrays, power);
	copy(arrays[last], bytes, hipMemcpyDeviceToHost);
	double mean = sum_of(arrays[last].host, cells) / (double)cells;
	long wrong = !(mean > 0) || (run.compare && count_wrong(chip, arrays[last].host,
								(int)run.size, run.iterations));
	release(power);
	release(arrays[1]);
	release(arrays[0]);
	return report("hotspot", wrong);
}

static bool is_code(char code)
{
	return code >= EXPLICIT && code <= LAST_CODE;
}

int main(int argc, char **argv)
{
	struct run run = {1024, 2, 2, MANAGED, MANAGED, true};
	const char *advice = "11", *compare = "host";
	static const char *const compare_names[] = {"host", "none"};
	const struct option_row options[] = {
		{"size", "COUNT", "rows and columns, at most 16384 (default 1024)", &run.size,
		 nullptr, nullptr},
		{"iterations", "COUNT", "steps in all (default 2)", &run.iterations, nullptr,
		 nullptr},
		{"height", "COUNT", "steps in a launch, at most 7 (default 2)", &run.height,
		 nullptr, nullptr},
		{"advice", "TP", "codes 0 to 6 of temperatures and power (default 11)", nullptr,
		 nullptr, &advice},
		{"compare", "WITH", "host or none (default host)", nullptr, nullptr, &compare},
	};
	parse_options(argc, argv, "Heat on a chip, by tiles with ghost zones.", options, 5);
	if (run.size > 16384 || run.height > 7) {
		fprintf(stderr, "hotspot: a size of at most 16384, a height of at most 7\n");
		return 2;
	}
	if (strlen(advice) != 2 || !is_code(advice[0]) || !is_code(advice[1])) {
		fprintf(stderr, "--advice: \"%s\" is not two codes of 0 to 6\n", advice);
		return 2;
	}
	run.temperature_code = advice[0];
	run.power_code = advice[1];
	run.compare = !choice_of("compare", compare, compare_names, 2);
	return simulate(run);
}
