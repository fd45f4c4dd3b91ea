/*
 * A pool that carves one managed block, as Umpire, RMM and PyTorch's caching allocator do: parts are
 * given out first fit, split, merged when they come back, and used again. Each is named with um_name()
 * (umtrace.h) and taken back with um_unname(), so that a trace tells them apart although the runtime
 * knows one allocation.
 *
 * Steps of a tiny decoder. `weights` and `kv` live as long as the pool; in each step `activations` are
 * taken, used and freed, then `logits` as large are taken, which get the very same place, and the host
 * reads them.
 *
 * What its trace must show, with W pages of weights, K of kv, A of activations and of logits, S steps
 * (K a multiple of S, K/S a multiple of A; --tail=0, so that every part starts at a page):
 *   parts         weights and kv once, activations and logits S times each, at the same offset
 *   launches      forward S:  W pages read, A written (activations)
 *                 attend S:   A pages read (activations), K/S written (kv), K/S read but in step 0
 *                 project S:  A pages of kv read, A written (logits)
 *   host          W pages written before, A pages of logits read in each step, K never
 *   touched       weights W, kv K, activations A, logits A; of the allocation W + K + A
 *
 * Under driver `demand`, 4 KiB, room for all:
 *   device faults weights W, kv K, activations S A, logits none: what the host's reading of the logits
 *                 took away, the activations of the next step fetch back
 *   host faults   logits S A
 *   to the device W pages of weights; A (S - 1) of activations (whose first place nobody had written)
 *   to the host   S A pages of logits
 *
 * --tail=BYTES (a multiple of 256, below 4096) makes the weights so much longer. Then each part starts
 * within a page that it shares with the one before: one page more of each is touched, and 1, 2, 1 and 1
 * of those of weights, kv, activations and logits are shared.
 */
#include "kernel_common.h"

#include <umtrace.h>

#include <map>
#include <vector>

enum { PAGE_BYTES = 4096, PAGE_WORDS = PAGE_BYTES / 4, ALIGNMENT = 256, LANES = 256 };

/* --- the pool --- */

class pool
{
      public:
	explicit pool(size_t bytes)
	{
		HIP_CHECK(hipMallocManaged(&block_, bytes, hipMemAttachGlobal));
		free_[0] = bytes;
	}

	~pool()
	{
		HIP_CHECK(hipFree(block_));
	}

	pool(const pool &) = delete;
	pool &operator=(const pool &) = delete;

	unsigned *allocate(size_t bytes, const char *name)
	{
		size_t wanted = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		auto place = free_.begin();
		while (place != free_.end() && place->second < wanted)
			++place;
		if (place == free_.end()) {
			fprintf(stderr, "named_pools: the pool has no %zu bytes for %s\n", wanted,
				name);
			exit(1);
		}
		size_t offset = place->first, left = place->second - wanted;
		free_.erase(place);
		if (left)
			free_[offset + wanted] = left;
		used_[offset] = wanted;
		um_name(block_ + offset, bytes, name);
		return reinterpret_cast<unsigned *>(block_ + offset);
	}

	void release(unsigned *part)
	{
		auto used = used_.find(reinterpret_cast<char *>(part) - block_);
		um_unname(part);
		auto place = free_.insert(*used).first, after = std::next(place);
		used_.erase(used);
		if (after != free_.end() && place->first + place->second == after->first) {
			place->second += after->second;
			free_.erase(after);
		}
		if (place == free_.begin())
			return;
		auto before = std::prev(place);
		if (before->first + before->second == place->first) {
			before->second += place->second;
			free_.erase(place);
		}
	}

      private:
	char *block_ = nullptr;
	std::map<size_t, size_t> free_, used_; /* bytes by offset */
};

/* --- a step --- */

__global__ void forward(const unsigned *weights, size_t weight_words, unsigned *activations,
			size_t words, unsigned step)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= words)
		return;
	unsigned sum = step;
	for (size_t j = i; j < weight_words; j += words)
		sum += weights[j];
	activations[i] = sum;
}

__global__ void attend(const unsigned *activations, size_t words, const unsigned *before,
		       unsigned *slice, size_t slice_words)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < slice_words)
		slice[i] = activations[i % words] + (before ? before[i] : 0);
}

__global__ void project(const unsigned *slice, unsigned *logits, size_t words)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < words)
		logits[i] = slice[i] * 3;
}

struct shape {
	long weights, kv, activations, steps; /* pages; times */
	long tail;			      /* bytes */
};

struct decoder {
	struct shape shape;
	size_t weight_words, slice_words, words;
	unsigned *weights, *kv;
	std::vector<unsigned> expected; /* the slice before, on the CPU */
};

static unsigned blocks_of(size_t words)
{
	return (unsigned)((words + LANES - 1) / LANES);
}

static unsigned weight_at(size_t i)
{
	return (unsigned)(i % 1009);
}

/* What the host makes of the same step. */
static long check(struct decoder *decoder, const unsigned *logits, unsigned step)
{
	long wrong = 0;

	for (size_t i = 0; i < decoder->slice_words; i++) {
		unsigned sum = step;
		for (size_t j = i % decoder->words; j < decoder->weight_words; j += decoder->words)
			sum += weight_at(j);
		decoder->expected[i] += sum;
	}
	for (size_t i = 0; i < decoder->words; i++)
		wrong += logits[i] != decoder->expected[i] * 3;
	return wrong;
}

static long run_step(struct decoder *decoder, pool *from, unsigned step)
{
	size_t words = decoder->words, slice_words = decoder->slice_words;
	unsigned *slice = decoder->kv + step * slice_words;

	unsigned *activations = from->allocate(words * 4, "activations");
	forward<<<blocks_of(words), LANES>>>(decoder->weights, decoder->weight_words, activations,
					     words, step);
	HIP_CHECK(hipGetLastError());
	attend<<<blocks_of(slice_words), LANES>>>(activations, words,
						  step ? slice - slice_words : nullptr, slice,
						  slice_words);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	from->release(activations);

	unsigned *logits = from->allocate(words * 4, "logits");
	project<<<blocks_of(words), LANES>>>(slice, logits, words);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = check(decoder, logits, step);
	from->release(logits);
	return wrong;
}

int main(int argc, char **argv)
{
	struct decoder decoder = {};
	struct shape *shape = &decoder.shape;
	*shape = {64, 64, 16, 4, 0};
	const char *tail = "0";
	const struct option_row rows[] = {
		{"weights", "PAGES", "pages of weights (default 64)", &shape->weights, nullptr,
		 nullptr},
		{"kv", "PAGES", "pages of kv, a multiple of the steps (default 64)", &shape->kv,
		 nullptr, nullptr},
		{"activations", "PAGES", "of which kv / steps is a multiple (default 16)",
		 &shape->activations, nullptr, nullptr},
		{"steps", "COUNT", "steps (default 4)", &shape->steps, nullptr, nullptr},
		{"tail", "BYTES", "the weights are longer by this (default 0)", nullptr, nullptr,
		 &tail},
	};
	parse_options(argc, argv, "A pool that carves one managed block, its parts named.", rows, 5);
	shape->tail = strtol(tail, nullptr, 0);
	if (shape->kv % (shape->steps * shape->activations) || shape->tail < 0 ||
	    shape->tail >= PAGE_BYTES || shape->tail % ALIGNMENT) {
		fprintf(stderr, "named_pools: --kv must be a multiple of --steps times "
				"--activations, --tail one of 256 below 4096\n");
		return 2;
	}

	size_t weight_bytes = shape->weights * PAGE_BYTES + shape->tail;
	decoder.weight_words = weight_bytes / 4;
	decoder.slice_words = shape->kv / shape->steps * PAGE_WORDS;
	decoder.words = shape->activations * PAGE_WORDS;
	decoder.expected.assign(decoder.slice_words, 0);

	pool pool((shape->weights + shape->kv + 2 * shape->activations + 1) * PAGE_BYTES);
	decoder.weights = pool.allocate(weight_bytes, "weights");
	decoder.kv = pool.allocate(shape->kv * PAGE_BYTES, "kv");
	for (size_t i = 0; i < decoder.weight_words; i++)
		decoder.weights[i] = weight_at(i);
	long wrong = 0;
	for (long step = 0; step < shape->steps; step++)
		wrong += run_step(&decoder, &pool, (unsigned)step);
	pool.release(decoder.kv);
	pool.release(decoder.weights);
	return report("named_pools", wrong);
}
