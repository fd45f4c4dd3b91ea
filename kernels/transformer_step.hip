/*
 * Training steps of a stack of layers, with the advice that each phase of a step wants:
 *   forward   a layer's weights are prefetched on a stream of their own while the layer before is computed
 *   backward  activations, gradients and targets may be anywhere: the GPU is said to access them
 *             (accessed-by), so that what is not there is mapped, not migrated
 *   update    gradients are only read, by the GPU and by the host (which wants their sum, as for clipping):
 *             read-mostly lets both have a copy
 * --plain leaves all three out. A layer is one matrix of d x d integers, T tokens of d words go through it;
 * what lies between matrices in a real layer (attention, norms) touches activations only, and is left out.
 *
 * What its trace must show, with l layers, T tokens, d words (a multiple of 32), s steps, pages of weights
 * W = 4 d d / 4096 a layer, of activations A = 4 T d / 4096 (both whole), each step:
 *   host          A pages of input and A of targets written before; after the backward phase l W pages of
 *                 gradients read. Before the first step also l W pages of weights written, after the last
 *                 l W read
 *   prefetches    l, of W pages (none with --plain)
 *   advice        accessed-by of (l + 1) A + A pages and of l W (activations, targets, gradients), set before
 *                 the backward phase and unset after it; read-mostly of the l W gradients, set before the
 *                 update and unset after it: 8 calls (none with --plain)
 *   launches      forward l: 2 T d d reads, T d writes; W + A pages read, A written
 *                 loss 1: 2 T d reads, T d writes
 *                 backward_input l, but not of layer 0: l - 1 of 2 T d d reads, T d writes
 *                 backward_weights l: 2 T d d reads, d d writes
 *                 update l: 2 d d reads, d d writes
 *
 * Under driver `demand`, 4 KiB, room for all:
 *   weights       l W device faults in the first step with --plain, else none; l W host faults at the end
 *   targets       s A device faults with --plain, of which each moves a page; else none in the backward
 *                 phase: they are mapped and 64 A lines read remotely, each step
 *   gradients     --plain: l W device faults in the first step's backward phase and l W in each update (the
 *                 host's reading took them), l W host faults a step. Otherwise the host's reading makes a
 *                 copy and the update finds the GPU's: no device fault there
 */
#include "kernel_common.h"

#include <vector>

#define LANES 256

struct shape {
	long layers, tokens, width, steps;
};

struct model {
	struct shape shape;
	bool plain;
	int device;
	unsigned *weights, *gradients; /* of all layers */
	unsigned *activations;	       /* layers + 1 of them: the first is the input */
	unsigned *targets, *errors[2]; /* errors: of a layer's output, and of its input */
	hipStream_t compute, copy;
	std::vector<hipEvent_t> fetched; /* a layer's weights */
	unsigned sum;			 /* of the gradients of all steps, by the host */
};

/* --- kernels: a lane for each word of the result --- */

/* out[t][j] = sum over k of in[t][k] * weights[k][j] */
__global__ void forward(const unsigned *in, const unsigned *weights, unsigned *out, long tokens,
			long width)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= tokens * width)
		return;
	unsigned sum = 0;
	for (long k = 0; k < width; k++)
		sum += in[i / width * width + k] * weights[k * width + i % width];
	out[i] = sum;
}

__global__ void loss(const unsigned *out, const unsigned *targets, unsigned *error, long words)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < words)
		error[i] = out[i] - targets[i];
}

/* error_in[t][k] = sum over j of error[t][j] * weights[k][j] */
__global__ void backward_input(const unsigned *error, const unsigned *weights, unsigned *error_in,
			       long tokens, long width)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= tokens * width)
		return;
	unsigned sum = 0;
	for (long j = 0; j < width; j++)
		sum += error[i / width * width + j] * weights[i % width * width + j];
	error_in[i] = sum;
}

/* gradient[k][j] = sum over t of in[t][k] * error[t][j] */
__global__ void backward_weights(const unsigned *in, const unsigned *error, unsigned *gradient,
				 long tokens, long width)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= width * width)
		return;
	unsigned sum = 0;
	for (long t = 0; t < tokens; t++)
		sum += in[t * width + i / width] * error[t * width + i % width];
	gradient[i] = sum;
}

__global__ void update(unsigned *weights, const unsigned *gradient, long words)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < words)
		weights[i] -= gradient[i] >> 4;
}

/* --- a step --- */

static long token_words(const struct model *m)
{
	return m->shape.tokens * m->shape.width;
}

static long layer_words(const struct model *m)
{
	return m->shape.width * m->shape.width;
}

static unsigned groups(long words)
{
	return (unsigned)((words + LANES - 1) / LANES);
}

static unsigned *layer_of(const struct model *m, unsigned *array, long layer)
{
	return array + layer * layer_words(m);
}

static unsigned *activation_of(const struct model *m, long layer)
{
	return m->activations + layer * token_words(m);
}

static void advise(const struct model *m, unsigned *memory, long words, hipMemoryAdvise advice)
{
	if (!m->plain)
		HIP_CHECK(hipMemAdvise(memory, words * 4, advice, m->device));
}

static void fetch_weights(const struct model *m, long layer)
{
	if (m->plain || layer == m->shape.layers)
		return;
	HIP_CHECK(hipMemPrefetchAsync(layer_of(m, m->weights, layer), layer_words(m) * 4, m->device,
				      m->copy));
	HIP_CHECK(hipEventRecord(m->fetched[layer], m->copy));
}

static void forward_phase(const struct model *m)
{
	fetch_weights(m, 0);
	for (long layer = 0; layer < m->shape.layers; layer++) {
		if (!m->plain)
			HIP_CHECK(hipStreamWaitEvent(m->compute, m->fetched[layer], 0));
		forward<<<groups(token_words(m)), LANES, 0, m->compute>>>(
			activation_of(m, layer), layer_of(m, m->weights, layer),
			activation_of(m, layer + 1), m->shape.tokens, m->shape.width);
		HIP_CHECK(hipGetLastError());
		fetch_weights(m, layer + 1);
	}
}

static void advise_backward(const struct model *m, hipMemoryAdvise advice)
{
	advise(m, m->activations, (m->shape.layers + 1) * token_words(m), advice);
	advise(m, m->targets, token_words(m), advice);
	advise(m, m->gradients, m->shape.layers * layer_words(m), advice);
}

static void backward_phase(struct model *m)
{
	long words = token_words(m), layers = m->shape.layers;

	advise_backward(m, hipMemAdviseSetAccessedBy);
	loss<<<groups(words), LANES, 0, m->compute>>>(activation_of(m, layers), m->targets,
						      m->errors[layers % 2], words);
	for (long layer = layers - 1; layer >= 0; layer--) {
		const unsigned *error = m->errors[(layer + 1) % 2];
		backward_weights<<<groups(layer_words(m)), LANES, 0, m->compute>>>(
			activation_of(m, layer), error, layer_of(m, m->gradients, layer),
			m->shape.tokens, m->shape.width);
		if (layer > 0)
			backward_input<<<groups(words), LANES, 0, m->compute>>>(
				error, layer_of(m, m->weights, layer), m->errors[layer % 2],
				m->shape.tokens, m->shape.width);
	}
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipStreamSynchronize(m->compute));
	advise_backward(m, hipMemAdviseUnsetAccessedBy);
}

static void update_phase(struct model *m)
{
	long words = m->shape.layers * layer_words(m);

	advise(m, m->gradients, words, hipMemAdviseSetReadMostly);
	for (long i = 0; i < words; i++)
		m->sum += m->gradients[i];
	for (long layer = 0; layer < m->shape.layers; layer++)
		update<<<groups(layer_words(m)), LANES, 0, m->compute>>>(
			layer_of(m, m->weights, layer), layer_of(m, m->gradients, layer),
			layer_words(m));
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipStreamSynchronize(m->compute));
	advise(m, m->gradients, words, hipMemAdviseUnsetReadMostly);
}

static unsigned input_at(long step, long i)
{
	return (unsigned)((i * 13 + step * 7) % 251);
}

static unsigned target_at(long step, long i)
{
	return (unsigned)((i * 5 + step) % 241);
}

static unsigned weight_at(long i)
{
	return (unsigned)(i % 61);
}

static void run_step(struct model *m, long step)
{
	for (long i = 0; i < token_words(m); i++) {
		m->activations[i] = input_at(step, i);
		m->targets[i] = target_at(step, i);
	}
	forward_phase(m);
	backward_phase(m);
	update_phase(m);
}

/* --- the same on the CPU --- */

struct cpu_model {
	std::vector<std::vector<unsigned>> weights, gradients, activations;
};

static std::vector<unsigned> cpu_forward(const struct model *m, const std::vector<unsigned> &in,
					 const std::vector<unsigned> &weights)
{
	long width = m->shape.width;
	std::vector<unsigned> out(in.size(), 0);

	for (long i = 0; i < (long)in.size(); i++)
		for (long k = 0; k < width; k++)
			out[i] += in[i / width * width + k] * weights[k * width + i % width];
	return out;
}

static void cpu_backward(const struct model *m, struct cpu_model *cpu, std::vector<unsigned> error)
{
	long width = m->shape.width;

	for (long layer = m->shape.layers - 1; layer >= 0; layer--) {
		const std::vector<unsigned> &in = cpu->activations[layer];
		const std::vector<unsigned> &weights = cpu->weights[layer];
		std::vector<unsigned> &gradient = cpu->gradients[layer];
		std::vector<unsigned> error_in(error.size(), 0);
		for (long i = 0; i < layer_words(m); i++) {
			gradient[i] = 0;
			for (long t = 0; t < m->shape.tokens; t++) {
				unsigned e = error[t * width + i % width];
				gradient[i] += in[t * width + i / width] * e;
				error_in[t * width + i / width] += e * weights[i];
			}
		}
		error = error_in;
	}
}

static void cpu_step(const struct model *m, struct cpu_model *cpu, long step, unsigned *sum)
{
	long words = token_words(m), layers = m->shape.layers;

	for (long i = 0; i < words; i++)
		cpu->activations[0][i] = input_at(step, i);
	for (long layer = 0; layer < layers; layer++)
		cpu->activations[layer + 1] =
			cpu_forward(m, cpu->activations[layer], cpu->weights[layer]);
	std::vector<unsigned> error(words);
	for (long i = 0; i < words; i++)
		error[i] = cpu->activations[layers][i] - target_at(step, i);
	cpu_backward(m, cpu, error);
	for (long layer = 0; layer < layers; layer++)
		for (long i = 0; i < layer_words(m); i++) {
			*sum += cpu->gradients[layer][i];
			cpu->weights[layer][i] -= cpu->gradients[layer][i] >> 4;
		}
}

static long count_wrong(const struct model *m)
{
	const struct shape *shape = &m->shape;
	std::vector<unsigned> layer(layer_words(m)), tokens(token_words(m));
	struct cpu_model cpu = {std::vector<std::vector<unsigned>>(shape->layers, layer),
				std::vector<std::vector<unsigned>>(shape->layers, layer),
				std::vector<std::vector<unsigned>>(shape->layers + 1, tokens)};
	unsigned sum = 0;

	for (long i = 0; i < shape->layers * layer_words(m); i++)
		cpu.weights[i / layer_words(m)][i % layer_words(m)] = weight_at(i);
	for (long step = 0; step < shape->steps; step++)
		cpu_step(m, &cpu, step, &sum);
	long wrong = sum != m->sum;
	for (long i = 0; i < shape->layers * layer_words(m); i++)
		wrong += m->weights[i] != cpu.weights[i / layer_words(m)][i % layer_words(m)];
	return wrong;
}

/* --- */

static unsigned *words(long count)
{
	unsigned *memory;

	HIP_CHECK(hipMallocManaged(&memory, count * sizeof(*memory), hipMemAttachGlobal));
	return memory;
}

static void open_model(struct model *m)
{
	long layers = m->shape.layers;

	HIP_CHECK(hipGetDevice(&m->device));
	m->weights = words(layers * layer_words(m));
	m->gradients = words(layers * layer_words(m));
	m->activations = words((layers + 1) * token_words(m));
	m->targets = words(token_words(m));
	m->errors[0] = words(token_words(m));
	m->errors[1] = words(token_words(m));
	HIP_CHECK(hipStreamCreateWithFlags(&m->compute, hipStreamNonBlocking));
	HIP_CHECK(hipStreamCreateWithFlags(&m->copy, hipStreamNonBlocking));
	m->fetched.resize(layers);
	for (hipEvent_t &event : m->fetched)
		HIP_CHECK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	for (long i = 0; i < layers * layer_words(m); i++)
		m->weights[i] = weight_at(i);
}

static void close_model(struct model *m)
{
	for (hipEvent_t event : m->fetched)
		HIP_CHECK(hipEventDestroy(event));
	HIP_CHECK(hipStreamDestroy(m->copy));
	HIP_CHECK(hipStreamDestroy(m->compute));
	for (unsigned *memory :
	     {m->errors[1], m->errors[0], m->targets, m->activations, m->gradients, m->weights})
		HIP_CHECK(hipFree(memory));
}

int main(int argc, char **argv)
{
	struct model model = {};
	struct shape *shape = &model.shape;
	*shape = {4, 32, 64, 2};
	const struct option_row rows[] = {
		{"layers", "COUNT", "layers (default 4)", &shape->layers, nullptr, nullptr},
		{"tokens", "COUNT", "tokens (default 32)", &shape->tokens, nullptr, nullptr},
		{"width", "WORDS", "of a token (default 64)", &shape->width, nullptr, nullptr},
		{"steps", "COUNT", "steps (default 2)", &shape->steps, nullptr, nullptr},
		{"plain", nullptr, "no prefetch, no advice", nullptr, &model.plain, nullptr},
	};
	parse_options(argc, argv, "Training steps, with the advice that each phase wants.", rows,
		      5);
	open_model(&model);
	for (long step = 0; step < shape->steps; step++)
		run_step(&model, step);
	long wrong = count_wrong(&model);
	close_model(&model);
	return report("transformer_step", wrong);
}
