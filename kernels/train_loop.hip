/*
 * Epochs of minibatches: each step fits `features` weights to one batch of the samples, and goes
 * over the batch `passes` times. The next batch is prefetched while this one is computed, on a
 * stream of its own or on the stream of the computing, or not at all.
 *
 * What its trace must show, with B batches, E epochs, S samples a batch of F features (integers, F
 * a multiple of 1024), p passes, P = 4 S F / 4096 pages a batch, W = 4 F / 4096 pages of weights:
 *   host, before  B P pages of samples and W pages of weights written
 *   launches      E B, each of p S F + F reads and F writes; P pages of the batch read, all 64
 *                 lines, 64 p requests a page; W pages of weights read, then written
 *   prefetches    E B of P pages and one of W pages (none with --prefetch=none)
 *   host, after   W pages read
 *
 * Under driver `demand` with room for all, at 4 KiB (64 KiB: P and W a multiple of 16):
 *   --prefetch=none  B P + W device faults (a 16th) in the first epoch, none in later ones
 *   otherwise        no device fault; as many bytes, 4096 (B P + W) to the device, 4096 W back
 * and with p S F large enough that a launch takes longer than a prefetch of P pages, the link's
 * time is hidden on another stream but for the first batch, and never on the same one.
 *
 * Under driver `amdgpu_svm`, the samples at most 2 MiB (one block):
 *   XNACK on   --prefetch=none: 2 device faults, the first batch's brings all samples; otherwise
 *              none; the same bytes
 *   XNACK off  --prefetch=none: no migration, 64 (P + W) lines read and 64 W written remotely by
 *              each launch. Otherwise the same bytes, and queues stop for each prefetch, also of
 *              what is there already: E B + 1 times on the same stream (weights and first batch
 *              are one stop, the host's reading another), E B on another (so is the second batch)
 */
#include "kernel_common.h"

#include <vector>

/* One weight a lane, in integers that wrap, so that the CPU's check is for equality. */
__host__ __device__ static inline unsigned step_of(unsigned weight, unsigned sample)
{
	return (1u - weight * sample) * sample;
}

__global__ void train(const unsigned *__restrict__ batch, unsigned *__restrict__ weights,
		      long samples, long features, long passes)
{
	long feature = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (feature >= features)
		return;
	unsigned weight = weights[feature];
	for (long pass = 0; pass < passes; pass++) {
		unsigned step = 0;
		for (long i = 0; i < samples; i++)
			step += step_of(weight, batch[i * features + feature]);
		weight += step;
	}
	weights[feature] = weight;
}

enum prefetch_choice { PREFETCH_NONE, PREFETCH_SAME, PREFETCH_OTHER };
static const char *const prefetch_names[] = {"none", "same", "other"};

struct shape {
	long batches, samples, features, epochs, passes;
};

struct loop {
	struct shape shape;
	enum prefetch_choice prefetch;
	int device;
	unsigned *samples, *weights;
	size_t batch_words;
	hipStream_t compute, copy; /* the same one unless PREFETCH_OTHER */
	hipEvent_t ready, trained; /* the batch to come; the batch before */
};

static unsigned sample_at(size_t i)
{
	return (unsigned)(i * 7 % 1021);
}

static unsigned *batch_of(const struct loop *loop, long step)
{
	return loop->samples + step % loop->shape.batches * loop->batch_words;
}

static void prefetch_batch(const struct loop *loop, long step)
{
	HIP_CHECK(hipMemPrefetchAsync(batch_of(loop, step), loop->batch_words * 4, loop->device,
				      loop->copy));
	HIP_CHECK(hipEventRecord(loop->ready, loop->copy));
}

/*
 * The batch of `step` is computed while the next one is on its way, one step ahead and no more. The
 * launch comes first: there are runtimes whose hipMemPrefetchAsync() returns when all is there.
 */
static void run_step(const struct loop *loop, long step, long steps)
{
	const struct shape *shape = &loop->shape;
	const unsigned lanes = 256;

	if (loop->prefetch == PREFETCH_OTHER)
		HIP_CHECK(hipStreamWaitEvent(loop->compute, loop->ready, 0));
	if (loop->prefetch == PREFETCH_OTHER && step > 0)
		HIP_CHECK(hipStreamWaitEvent(loop->copy, loop->trained, 0));
	train<<<(shape->features + lanes - 1) / lanes, lanes, 0, loop->compute>>>(
		batch_of(loop, step), loop->weights, shape->samples, shape->features,
		shape->passes);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipEventRecord(loop->trained, loop->compute));
	if (loop->prefetch != PREFETCH_NONE && step + 1 < steps)
		prefetch_batch(loop, step + 1);
}

static void run(const struct loop *loop)
{
	long steps = loop->shape.epochs * loop->shape.batches;

	if (loop->prefetch != PREFETCH_NONE) {
		HIP_CHECK(hipMemPrefetchAsync(loop->weights, loop->shape.features * 4, loop->device,
					      loop->copy));
		prefetch_batch(loop, 0);
	}
	for (long step = 0; step < steps; step++)
		run_step(loop, step, steps);
	HIP_CHECK(hipDeviceSynchronize());
}

static void make_queues(struct loop *loop)
{
	HIP_CHECK(hipStreamCreateWithFlags(&loop->compute, hipStreamNonBlocking));
	loop->copy = loop->compute;
	if (loop->prefetch == PREFETCH_OTHER)
		HIP_CHECK(hipStreamCreateWithFlags(&loop->copy, hipStreamNonBlocking));
	HIP_CHECK(hipEventCreateWithFlags(&loop->ready, hipEventDisableTiming));
	HIP_CHECK(hipEventCreateWithFlags(&loop->trained, hipEventDisableTiming));
}

static void free_queues(struct loop *loop)
{
	HIP_CHECK(hipEventDestroy(loop->trained));
	HIP_CHECK(hipEventDestroy(loop->ready));
	if (loop->copy != loop->compute)
		HIP_CHECK(hipStreamDestroy(loop->copy));
	HIP_CHECK(hipStreamDestroy(loop->compute));
}

static long count_wrong(const struct loop *loop)
{
	const struct shape *shape = &loop->shape;
	long wrong = 0;

	for (long feature = 0; feature < shape->features; feature++) {
		unsigned weight = 1;
		for (long step = 0; step < shape->epochs * shape->batches; step++)
			for (long pass = 0; pass < shape->passes; pass++) {
				size_t first = step % shape->batches * loop->batch_words + feature;
				unsigned sum = 0;
				for (long i = 0; i < shape->samples; i++)
					sum += step_of(weight,
						       sample_at(first + i * shape->features));
				weight += sum;
			}
		wrong += loop->weights[feature] != weight;
	}
	return wrong;
}

int main(int argc, char **argv)
{
	struct loop loop = {};
	struct shape *shape = &loop.shape;
	const char *prefetch = "other", *advice = nullptr;
	*shape = {8, 64, 1024, 2, 4};
	const struct option_row rows[] = {
		{"batches", "COUNT", "batches (default 8)", &shape->batches, nullptr, nullptr},
		{"samples", "COUNT", "samples of a batch (default 64)", &shape->samples, nullptr,
		 nullptr},
		{"features", "COUNT", "integers of a sample, and weights (default 1024)",
		 &shape->features, nullptr, nullptr},
		{"epochs", "COUNT", "times over all batches (default 2)", &shape->epochs, nullptr,
		 nullptr},
		{"passes", "COUNT", "times over a batch in its step (default 4)", &shape->passes,
		 nullptr, nullptr},
		{"prefetch", "STREAM", "of the next batch: none, same, other (default other)",
		 nullptr, nullptr, &prefetch},
		{"advise", "LIST", "for the samples: " ADVICE_CHOICES, nullptr, nullptr, &advice},
	};
	parse_options(argc, argv,
		      "Minibatches, the next one prefetched while this one is computed.", rows, 7);
	loop.prefetch = (enum prefetch_choice)choice_of("prefetch", prefetch, prefetch_names, 3);
	loop.batch_words = shape->samples * shape->features;

	size_t words = shape->batches * loop.batch_words;
	HIP_CHECK(hipGetDevice(&loop.device));
	HIP_CHECK(hipMallocManaged(&loop.samples, words * 4, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&loop.weights, shape->features * 4, hipMemAttachGlobal));
	give_advice(loop.samples, words * 4, advice, loop.device);
	make_queues(&loop);
	for (size_t i = 0; i < words; i++)
		loop.samples[i] = sample_at(i);
	for (long feature = 0; feature < shape->features; feature++)
		loop.weights[feature] = 1;
	run(&loop);
	long wrong = count_wrong(&loop);
	free_queues(&loop);
	HIP_CHECK(hipFree(loop.weights));
	HIP_CHECK(hipFree(loop.samples));
	return report("train_loop", wrong);
}
