/*
 * The CPU never waits: it fills one buffer while the GPU works on others, and asks the events of those with
 * hipEventQuery() whether they are done, as programs with a loop of their own do.
 *
 * What its trace must show, with J jobs, N buffers (slots), P = 4 n / 4096 pages a buffer (n a multiple of
 * 1024; a buffer for the input, one for the result), each slot with its stream and its event:
 *   streams       N, non-blocking; N events
 *   host          P pages of input written before each job, P pages of result read after it
 *   launches      J, of n reads and n writes: P pages read, P written, all lines
 *   events        J recorded; none waited for (event_sync), no synchronisation of any kind
 *   queries       at least J. Where launches complete before they return each is answered at once; a
 *                 query that finds its event done is what orders the host behind the job
 *
 * Under driver `demand`, 4 KiB, room for all: each job takes P device faults for its input and P for its
 * result (in which the slot's first job finds no data), and P host faults for each of both, but for the
 * slot's first input. To the device 4096 P (2 J - N) bytes, to the host 4096 P (2 J - N).
 */
#include "kernel_common.h"

#include <vector>

struct slot {
	unsigned *input, *result;
	hipStream_t stream;
	hipEvent_t done;
	long job; /* -1: free */
};

__global__ void work(const unsigned *input, unsigned *result, long n, unsigned job)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		result[i] = input[i] * 5 + job;
}

static unsigned value_at(long job, long i)
{
	return (unsigned)(job * 7919 + i);
}

static void open_slot(struct slot *slot, long n)
{
	slot->job = -1;
	HIP_CHECK(hipMallocManaged(&slot->input, n * 4, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&slot->result, n * 4, hipMemAttachGlobal));
	HIP_CHECK(hipStreamCreateWithFlags(&slot->stream, hipStreamNonBlocking));
	HIP_CHECK(hipEventCreateWithFlags(&slot->done, hipEventDisableTiming));
}

static void close_slot(struct slot *slot)
{
	HIP_CHECK(hipEventDestroy(slot->done));
	HIP_CHECK(hipStreamDestroy(slot->stream));
	HIP_CHECK(hipFree(slot->result));
	HIP_CHECK(hipFree(slot->input));
}

static void submit(struct slot *slot, long job, long n)
{
	const unsigned lanes = 256;

	for (long i = 0; i < n; i++)
		slot->input[i] = value_at(job, i);
	work<<<(n + lanes - 1) / lanes, lanes, 0, slot->stream>>>(slot->input, slot->result, n,
								  (unsigned)job);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipEventRecord(slot->done, slot->stream));
	slot->job = job;
}

static bool is_done(const struct slot *slot)
{
	hipError_t error = hipEventQuery(slot->done);

	if (error == hipErrorNotReady)
		return false;
	HIP_CHECK(error);
	return true;
}

static long collect(struct slot *slot, long n)
{
	long wrong = 0;

	for (long i = 0; i < n; i++)
		wrong += slot->result[i] != value_at(slot->job, i) * 5 + (unsigned)slot->job;
	slot->job = -1;
	return wrong;
}

/* Looks at each slot in turn: takes what is done, gives it the next job. */
static long run(std::vector<struct slot> &slots, long jobs, long n)
{
	long submitted = 0, collected = 0, wrong = 0;

	while (collected < jobs)
		for (struct slot &slot : slots) {
			if (slot.job >= 0 && is_done(&slot)) {
				wrong += collect(&slot, n);
				collected++;
			}
			if (slot.job < 0 && submitted < jobs)
				submit(&slot, submitted++, n);
		}
	return wrong;
}

int main(int argc, char **argv)
{
	long n = 1 << 14, jobs = 8, count = 2;
	const struct option_row rows[] = {
		{"n", "COUNT", "words of a job (default 16384)", &n, nullptr, nullptr},
		{"jobs", "COUNT", "jobs (default 8)", &jobs, nullptr, nullptr},
		{"slots", "COUNT", "buffers, each with a stream and an event (default 2)", &count,
		 nullptr, nullptr},
	};
	parse_options(argc, argv, "The CPU polls events, and never waits.", rows, 3);

	std::vector<struct slot> slots(count);
	for (struct slot &slot : slots)
		open_slot(&slot, n);
	long wrong = run(slots, jobs, n);
	for (struct slot &slot : slots)
		close_slot(&slot);
	return report("event_polling", wrong);
}
