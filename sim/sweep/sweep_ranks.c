/*
 * Between the ranks go messages: a header, and texts behind it. Ranks other than 0 say first how far they came on
 * their own and in what they have to agree, and wait for a word. Then each asks for a block of points, runs
 * it in one pass, sends each result as it has it, and asks again. Rank 0 answers between its own results.
 */
#include "sweep_ranks.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE_NS 5000000 /* between two looks for messages, where there is nothing else to do */

enum kind { SAYS_READY, ASKS, TELLS, FAILS, GO, BLOCK, NO_MORE };

struct header {
	enum kind kind;
	int error;
	uint64_t point; /* TELLS */
	uint64_t count; /* BLOCK: points, uint64_t each, behind the text */
	struct um_totals totals;
	uint64_t notes; /* TELLS: behind the text, two texts each */
};

struct message {
	struct header *header; /* malloc'ed, the texts behind it */
	size_t bytes;
	int from;
};

/* ---------------------------------------------------------------- messages */

static int add_bytes(struct message *message, const void *bytes, size_t count)
{
	struct header *grown = realloc(message->header, message->bytes + count);

	if (!grown)
		return um_fail(UM_ENOMEM, "out of memory");
	message->header = grown;
	memcpy((char *)grown + message->bytes, bytes, count);
	message->bytes += count;
	return 0;
}

static int add_text(struct message *message, const char *text)
{
	return add_bytes(message, text, strlen(text) + 1);
}

static int make(struct message *out, const struct header *header, const char *text)
{
	*out = (struct message){malloc(sizeof(*header)), sizeof(*header), 0};
	if (!out->header)
		return um_fail(UM_ENOMEM, "out of memory");
	*out->header = *header;
	return add_text(out, text);
}

static int send_text(const struct um_ranks_ops *ops, int to, const struct header *header,
		     const char *text)
{
	struct message message;
	int error = make(&message, header, text);

	if (!error)
		ops->send(to, message.header, message.bytes);
	free(message.header);
	return error;
}

/* The texts behind a header, one after the other; "" behind the last. */
static const char *next_text(const struct message *message, const char *text)
{
	const char *end = (const char *)message->header + message->bytes;

	if (!text)
		return (const char *)(message->header + 1);
	text += strlen(text) + 1;
	return text < end ? text : "";
}

/* UM_ESTOPPED: none is there. Every text ends with a NUL, which is looked at here. */
static int receive(const struct um_ranks_ops *ops, bool blocks, struct message *out)
{
	*out = (struct message){0};
	if (!ops->probe(blocks, &out->from, &out->bytes))
		return UM_ESTOPPED;
	out->header = malloc(out->bytes ? out->bytes : 1);
	if (!out->header)
		return um_fail(UM_ENOMEM, "out of memory");
	ops->receive(out->from, out->header, out->bytes);
	if (out->bytes > sizeof(*out->header) && !((char *)out->header)[out->bytes - 1])
		return 0;
	free(out->header);
	return um_fail(UM_EFORMAT, "rank %d sends what is no message of umsim: another version?",
		       out->from);
}

/* ---------------------------------------------------------------- other ranks */

struct worker {
	const struct um_sweep *request;
	const struct um_ranks_ops *ops;
	uint64_t *which; /* the points of the block */
	struct um_sweep_point *points;
};

static int send_result(void *context, size_t point, const struct um_sweep_result *result)
{
	const struct worker *worker = context;
	const struct header header = {
		.kind = TELLS,
		.error = result->error,
		.point = worker->which[point],
		.totals = result->totals,
		.notes = result->note_count,
	};
	struct message message;
	int error = make(&message, &header, result->message);

	for (size_t i = 0; i < result->note_count && !error; i++) {
		error = add_text(&message, result->notes[i].what);
		if (!error)
			error = add_text(&message, result->notes[i].why);
	}
	if (!error)
		worker->ops->send(0, message.header, message.bytes);
	free(message.header);
	return error;
}

/* Which points a BLOCK has, out of the message. */
static int take_block(struct worker *worker, const struct message *message)
{
	size_t count = message->header->count;
	size_t room = message->bytes - sizeof(*message->header) - 1;

	if (!count || count > room / sizeof(uint64_t))
		return um_fail(UM_EFORMAT, "rank 0 hands out a block without points");
	worker->which = calloc(count, sizeof(*worker->which));
	worker->points = calloc(count, sizeof(*worker->points));
	if (!worker->which || !worker->points)
		return um_fail(UM_ENOMEM, "out of memory");
	memcpy(worker->which, next_text(message, NULL) + 1, count * sizeof(uint64_t));
	for (size_t i = 0; i < count; i++) {
		if (worker->which[i] >= worker->request->count)
			return um_fail(UM_EFORMAT, "rank 0 hands out a point that there is not");
		worker->points[i] = worker->request->points[worker->which[i]];
	}
	return 0;
}

static int run_block(struct worker *worker, const struct message *message)
{
	struct um_sweep part = *worker->request;
	int error = take_block(worker, message);

	part.points = worker->points;
	part.count = message->header->count;
	part.result = send_result;
	part.tick = NULL;
	part.context = worker;
	if (!error)
		error = um_sweep_run(&part);
	free(worker->which);
	free(worker->points);
	worker->which = NULL;
	worker->points = NULL;
	return error;
}

static int work(struct worker *worker)
{
	const struct header asks = {.kind = ASKS}, fails = {.kind = FAILS};
	enum kind kind = BLOCK;
	int error = 0;

	while (!error && kind == BLOCK) {
		struct message message;

		error = send_text(worker->ops, 0, &asks, "");
		if (!error)
			error = receive(worker->ops, true, &message);
		if (error)
			break;
		kind = message.header->kind;
		if (kind == BLOCK)
			error = run_block(worker, &message);
		free(message.header);
	}
	if (error)
		send_text(worker->ops, 0, &fails, um_error_message());
	return error;
}

/* ---------------------------------------------------------------- rank 0 */

struct leader {
	const struct um_sweep *request;
	const struct um_ranks_ops *ops;
	const size_t *todo;
	size_t todo_count, next; /* to hand out */
	const size_t *own;	 /* of todo: its own block */
	size_t told;
	int working; /* other ranks that have not been told that there is no more */
};

/* *first of todo, and how many: half of an even part of what is left. 0: there is no more. */
static size_t next_block(struct leader *leader, const size_t **first)
{
	size_t left = leader->todo_count - leader->next;
	size_t ranks = (size_t)leader->ops->size(), count = ranks > 1 ? left / (2 * ranks) : left;

	count = count < leader->request->threads ? leader->request->threads : count;
	count = count < left ? count : left;
	*first = leader->todo + leader->next;
	leader->next += count;
	return count;
}

static int hand_out(struct leader *leader, int to)
{
	const size_t *first;
	size_t count = next_block(leader, &first);
	const struct header header = {.kind = count ? BLOCK : NO_MORE, .count = count};
	struct message message;
	int error = make(&message, &header, "");

	for (size_t i = 0; i < count && !error; i++)
		error = add_bytes(&message, &(uint64_t){first[i]}, sizeof(uint64_t));
	if (!error)
		error = add_text(&message, "");
	if (!error)
		leader->ops->send(to, message.header, message.bytes);
	leader->working -= count == 0;
	free(message.header);
	return error;
}

static int tell(struct leader *leader, size_t point, const struct um_sweep_result *result)
{
	const struct um_sweep *request = leader->request;

	leader->told++;
	return request->result(request->context, point, result);
}

/* Reasons are literals of this program where it was run; here they live as long as the message. */
static int tell_message(struct leader *leader, const struct message *message)
{
	const struct header *header = message->header;
	const char *text = next_text(message, NULL);
	size_t count = header->notes < message->bytes ? header->notes : 0;
	struct um_sweep_note *notes = calloc(count + 1, sizeof(*notes));
	struct um_sweep_result result = {header->error, text, header->totals, notes, count};
	int error;

	if (!notes)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		notes[i].what = (char *)(text = next_text(message, text));
		notes[i].why = text = next_text(message, text);
	}
	error = header->point < leader->request->count
			? tell(leader, header->point, &result)
			: um_fail(UM_EFORMAT, "rank %d tells of a point that there is not",
				  message->from);
	free(notes);
	return error;
}

static int answer(struct leader *leader, const struct message *message)
{
	switch (message->header->kind) {
	case TELLS:
		return tell_message(leader, message);
	case ASKS:
		return hand_out(leader, message->from);
	case FAILS:
		return um_fail(UM_EIO, "rank %d: %s", message->from, next_text(message, NULL));
	default:
		return um_fail(UM_EFORMAT, "rank %d sends what it should not", message->from);
	}
}

/* What the others sent meanwhile. */
static int serve(struct leader *leader)
{
	int error = 0;

	while (!error) {
		struct message message;

		error = receive(leader->ops, false, &message);
		if (error)
			break;
		error = answer(leader, &message);
		free(message.header);
	}
	return error == UM_ESTOPPED ? 0 : error;
}

static int take_own(void *context, size_t point, const struct um_sweep_result *result)
{
	struct leader *leader = context;

	return tell(leader, leader->own[point], result);
}

static int tick(void *context, double part)
{
	struct leader *leader = context;
	const struct um_sweep *request = leader->request;
	int error = serve(leader);

	if (error || !request->tick)
		return error;
	/* How far the others are within theirs is not known. */
	if (leader->ops->size() > 1)
		part = (double)leader->told / (double)leader->todo_count;
	return request->tick(request->context, part);
}

static int run_own(struct leader *leader, size_t count)
{
	struct um_sweep_point *points = calloc(count, sizeof(*points));
	struct um_sweep part = *leader->request;
	int error;

	if (!points)
		return um_fail(UM_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++)
		points[i] = leader->request->points[leader->own[i]];
	part.points = points;
	part.count = count;
	part.result = take_own;
	part.tick = tick;
	part.context = leader;
	error = um_sweep_run(&part);
	free(points);
	return error;
}

static int run_own_blocks(struct leader *leader)
{
	size_t count;
	int error = 0;

	while (!error && (count = next_block(leader, &leader->own)) > 0)
		error = run_own(leader, count);
	return error;
}

static int lead(struct leader *leader)
{
	int error = run_own_blocks(leader);

	while (!error && leader->working) {
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
		error = tick(leader, 0);
	}
	return error;
}

/* ---------------------------------------------------------------- agreeing */

/* On rank 0: waits until all are ready, and tells them whether it goes on. */
static int gather(const struct um_ranks_ops *ops, int own_error, const char *identity)
{
	char said[1024] = "";
	int error = own_error, size = ops->size();
	struct header word = {.kind = GO};

	snprintf(said, sizeof(said), "%s", own_error ? um_error_message() : "");
	for (int i = 1; i < size; i++) {
		struct message message;
		int rank_error = receive(ops, true, &message);

		if (!rank_error && message.header->error)
			rank_error = um_fail(message.header->error, "rank %d: %s", message.from,
					     next_text(&message, NULL));
		else if (!rank_error && strcmp(next_text(&message, NULL), identity) != 0)
			rank_error = um_fail(UM_EINVAL,
					     "rank %d has another trace, other policies or another "
					     "umsim there: %s",
					     message.from, next_text(&message, NULL));
		if (rank_error && !error) {
			error = rank_error;
			snprintf(said, sizeof(said), "%s", um_error_message());
		}
		free(message.header);
	}
	word.error = error;
	for (int i = 1; i < size; i++)
		send_text(ops, i, &word, "");
	return error ? um_fail(error, "%s", said) : 0;
}

int um_ranks_agree(const struct um_ranks_ops *ops, int own_error, const char *identity)
{
	const struct header ready = {.kind = SAYS_READY, .error = own_error};
	struct message word;
	int error;

	if (ops->rank() == 0)
		return gather(ops, own_error, identity);
	error = send_text(ops, 0, &ready, own_error ? um_error_message() : identity);
	if (!error)
		error = receive(ops, true, &word);
	if (error)
		return error;
	error = word.header->error;
	free(word.header);
	return error;
}

static int rank_alone(void)
{
	return 0;
}

static int size_alone(void)
{
	return 1;
}

static bool no_message(bool blocks, int *from, size_t *count)
{
	(void)blocks;
	(void)from;
	(void)count;
	return false;
}

int um_sweep_run_ranks(const struct um_sweep *request, const struct um_ranks_ops *ops,
		       const size_t *todo, size_t todo_count)
{
	static const struct um_ranks_ops alone = {
		.rank = rank_alone, .size = size_alone, .probe = no_message};
	struct leader leader = {.request = request,
				.ops = ops ? ops : &alone,
				.todo = todo,
				.todo_count = todo_count,
				.working = ops ? ops->size() - 1 : 0};
	struct worker worker = {.request = request, .ops = ops};

	return !ops || ops->rank() == 0 ? lead(&leader) : work(&worker);
}
