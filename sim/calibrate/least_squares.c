#include "least_squares.h"

#include "trace/base/error.h"

#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TERMS_MAX  UM_LEAST_SQUARES_TERMS_MAX
#define ROUNDS_MAX (10 * TERMS_MAX)
#define TOLERANCE  1e-9 /* of the largest gradient: below, a term is not worth having */
#define DEVIATIONS 30	/* rounds until the least deviations stand still */

int um_samples_add(struct um_samples *samples, const struct um_sample *sample)
{
	if (samples->count == samples->capacity) {
		size_t capacity = samples->capacity ? 2 * samples->capacity : 64;
		struct um_sample *grown = reallocarray(samples->at, capacity, sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %zu samples", capacity);
		samples->at = grown;
		samples->capacity = capacity;
	}
	samples->at[samples->count++] = *sample;
	return 0;
}

void um_samples_free(struct um_samples *samples)
{
	free(samples->at);
	samples->at = NULL;
	samples->count = samples->capacity = 0;
}

/* --- least squares with costs >= 0 --- */

struct solving {
	const struct um_samples *samples;
	const double *weights;	 /* of each sample's equation */
	bool passive[TERMS_MAX]; /* whose cost may be above 0 */
	double costs[TERMS_MAX]; /* >= 0 */
	double candidate[TERMS_MAX];
	double *matrix, *right; /* room for LAPACK */
};

static double fitted_ns(const struct um_samples *samples, const struct um_sample *sample,
			const double *costs)
{
	double sum = sample->fixed_ns;

	for (size_t term = 0; term < samples->terms; term++)
		sum += sample->terms[term] * costs[term];
	return sum;
}

/* How much the sum of squares would fall with each term. */
static void find_gradient(const struct solving *solving, double *gradient)
{
	const struct um_samples *samples = solving->samples;

	memset(gradient, 0, TERMS_MAX * sizeof(*gradient));
	for (size_t i = 0; i < samples->count; i++) {
		const struct um_sample *sample = &samples->at[i];
		double left = (sample->value_ns - fitted_ns(samples, sample, solving->costs)) *
			      solving->weights[i] * solving->weights[i];

		for (size_t term = 0; term < samples->terms; term++)
			gradient[term] += sample->terms[term] * left;
	}
}

/* The best costs of the passive terms, whatever their sign. */
static int solve_passive(struct solving *solving)
{
	const struct um_samples *samples = solving->samples;
	size_t columns[TERMS_MAX], count = 0;
	lapack_int rank;
	double singular[TERMS_MAX];

	for (size_t term = 0; term < samples->terms; term++)
		if (solving->passive[term])
			columns[count++] = term;
	for (size_t i = 0; i < samples->count; i++) {
		const struct um_sample *sample = &samples->at[i];

		for (size_t k = 0; k < count; k++)
			solving->matrix[i * count + k] =
				sample->terms[columns[k]] * solving->weights[i];
		solving->right[i] = (sample->value_ns - sample->fixed_ns) * solving->weights[i];
	}
	if (LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)samples->count, (lapack_int)count, 1,
			   solving->matrix, (lapack_int)count, solving->right, 1, singular, -1,
			   &rank))
		return um_fail(UM_ELIMIT, "the measured times do not tell the costs apart");
	memset(solving->candidate, 0, sizeof(solving->candidate));
	for (size_t k = 0; k < count; k++)
		solving->candidate[columns[k]] = solving->right[k];
	return 0;
}

/* Goes towards the candidate until the first cost is 0, and takes that term out. False: all the way. */
static bool step_back(struct solving *solving)
{
	double step = 1;
	size_t terms = solving->samples->terms, stop = terms;

	for (size_t term = 0; term < terms; term++) {
		double now = solving->costs[term], next = solving->candidate[term];

		if (!solving->passive[term] || next > 0 || now - next <= 0)
			continue;
		if (now / (now - next) < step) {
			step = now / (now - next);
			stop = term;
		}
	}
	for (size_t term = 0; term < terms; term++)
		if (solving->passive[term])
			solving->costs[term] +=
				step * (solving->candidate[term] - solving->costs[term]);
	if (stop == terms)
		return false;
	solving->costs[stop] = 0;
	solving->passive[stop] = false;
	return true;
}

static int add_term(struct solving *solving, size_t term)
{
	int error;

	solving->passive[term] = true;
	do
		error = solve_passive(solving);
	while (!error && step_back(solving));
	return error;
}

/* The term that would help most; `terms` if none would. */
static size_t next_term(const struct solving *solving, double largest, const double *gradient)
{
	size_t terms = solving->samples->terms, best = terms;

	for (size_t term = 0; term < terms; term++)
		if (!solving->passive[term] && gradient[term] > TOLERANCE * largest &&
		    (best == terms || gradient[term] > gradient[best]))
			best = term;
	return best;
}

static int solve(struct solving *solving)
{
	double gradient[TERMS_MAX], largest = 0;

	find_gradient(solving, gradient);
	for (size_t term = 0; term < solving->samples->terms; term++)
		largest = fmax(largest, fabs(gradient[term]));
	for (int round = 0; round < ROUNDS_MAX; round++) {
		size_t term = next_term(solving, largest, gradient);
		int error = term < solving->samples->terms ? add_term(solving, term) : 0;

		if (error || term == solving->samples->terms)
			return error;
		find_gradient(solving, gradient);
	}
	return 0;
}

/* --- what is left over --- */

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Sorts them. */
static double quantile(double *values, size_t count, double part)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return count ? values[(size_t)(part * (double)(count - 1) + 0.5)] : 0;
}

static void add_up_errors(struct um_fit *fit, const struct um_samples *samples, double *errors,
			  double *sums)
{
	size_t groups = 0, used = 0;

	for (size_t i = 0; i < samples->count; i++) {
		const struct um_sample *sample = &samples->at[i];
		double fitted = fitted_ns(samples, sample, fit->costs_ns);

		errors[i] = fabs(fitted / sample->value_ns - 1);
		sums[2 * sample->group] += fitted;
		sums[2 * sample->group + 1] += sample->value_ns;
		groups = sample->group + 1 > groups ? sample->group + 1 : groups;
	}
	fit->median_error = quantile(errors, samples->count, 0.5);
	fit->p90_error = quantile(errors, samples->count, 0.9);
	for (size_t group = 0; group < groups; group++)
		if (sums[2 * group + 1] > 0)
			errors[used++] = fabs(sums[2 * group] / sums[2 * group + 1] - 1);
	fit->group_median_error = quantile(errors, used, 0.5);
	fit->group_p90_error = quantile(errors, used, 0.9);
	fit->samples = samples->count;
	fit->groups = used;
}

static int find_errors(struct um_fit *fit, const struct um_samples *samples)
{
	size_t groups = 1;

	for (size_t i = 0; i < samples->count; i++)
		if (samples->at[i].group >= groups)
			groups = samples->at[i].group + 1;
	double *errors = calloc(samples->count + groups, sizeof(*errors));
	double *sums = calloc(2 * groups, sizeof(*sums));

	if (errors && sums)
		add_up_errors(fit, samples, errors, sums);
	int error = errors && sums ? 0 : um_fail(UM_ENOMEM, "out of memory");
	free(errors);
	free(sums);
	return error;
}

/* --- both ways --- */

static int solve_weighted(struct um_fit *fit, const struct um_samples *samples,
			  const double *weights)
{
	struct solving solving = {.samples = samples, .weights = weights};
	int error = 0;

	solving.matrix = calloc(samples->count * samples->terms, sizeof(*solving.matrix));
	solving.right = calloc(samples->count, sizeof(*solving.right));
	if (!solving.matrix || !solving.right)
		error = um_fail(UM_ENOMEM, "no memory for %zu samples", samples->count);
	if (!error)
		error = solve(&solving);
	free(solving.matrix);
	free(solving.right);
	memcpy(fit->costs_ns, solving.costs, sizeof(fit->costs_ns));
	return error;
}

static double square_weight(const struct um_sample *sample)
{
	return 1 / sqrt(sample->value_ns);
}

static int fit_with(struct um_fit *fit, const struct um_samples *samples, int rounds)
{
	if (samples->count < samples->terms || !samples->terms)
		return um_fail(UM_ELIMIT, "%zu measured times are too few for %zu costs",
			       samples->count, samples->terms);
	double *weights = calloc(samples->count, sizeof(*weights));
	int error = weights ? 0 : um_fail(UM_ENOMEM, "out of memory");

	*fit = (struct um_fit){0};
	for (size_t i = 0; i < samples->count && !error; i++)
		weights[i] = square_weight(&samples->at[i]);
	for (int round = 0; round < rounds && !error; round++) {
		error = solve_weighted(fit, samples, weights);
		for (size_t i = 0; i < samples->count && round + 1 < rounds; i++) {
			const struct um_sample *sample = &samples->at[i];
			double left =
				fabs(sample->value_ns - fitted_ns(samples, sample, fit->costs_ns));

			weights[i] = 1 / sqrt(fmax(left, sample->value_ns / 100));
		}
	}
	free(weights);
	return error ? error : find_errors(fit, samples);
}

int um_least_squares(struct um_fit *fit, const struct um_samples *samples)
{
	return fit_with(fit, samples, 1);
}

int um_least_deviations(struct um_fit *fit, const struct um_samples *samples)
{
	return fit_with(fit, samples, DEVIATIONS);
}
