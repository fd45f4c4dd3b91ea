/*
 * Clients hold lists of requests, by the time at which they come; a cluster knows which of its
 * clients is next, so that an entry costs a look at the clusters and at the clients of one.
 */
#include "fault_queue.h"

#include "trace/base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct request {
	um_ns ready;
	uint32_t id;
	uint32_t waves; /* entries that are to come */
	uint32_t next;	/* of its client */
};

struct client {
	uint32_t first, last; /* requests */
	um_ns answered;	      /* when it can come again */
	uint32_t accesses, misses;
};

struct cluster {
	uint32_t next_client;
	um_ns due; /* when that asks; UM_NEVER */
};

struct um_fault_queue {
	struct um_fault_path path;
	struct client *clients;
	uint64_t *misses; /* of all clients: path.misses each */
	struct cluster *clusters;
	struct request *requests;
	uint32_t count, capacity;
	uint32_t turn;	 /* the cluster after the one that was served last */
	um_ns free_at;	 /* the buffer can take the next entry */
	uint64_t resets; /* so that no two replays are alike */
};

int um_fault_queue_create(struct um_fault_queue **out, const struct um_fault_path *path)
{
	struct um_fault_queue *queue = calloc(1, sizeof(*queue));

	assert(path->entry_ns && path->clients && path->clusters && path->accesses && path->misses);
	if (!queue)
		return um_fail(UM_ENOMEM, "no memory for the way of faults");
	queue->path = *path;
	if (queue->path.clusters > path->clients)
		queue->path.clusters = path->clients;
	queue->clients = calloc(path->clients, sizeof(*queue->clients));
	queue->misses = calloc((size_t)path->clients * path->misses, sizeof(*queue->misses));
	queue->clusters = calloc(queue->path.clusters, sizeof(*queue->clusters));
	if (!queue->clients || !queue->misses || !queue->clusters) {
		um_fault_queue_destroy(queue);
		return um_fail(UM_ENOMEM, "no memory for the way of faults");
	}
	um_fault_queue_reset(queue, 0);
	*out = queue;
	return 0;
}

void um_fault_queue_destroy(struct um_fault_queue *queue)
{
	if (!queue)
		return;
	free(queue->clients);
	free(queue->misses);
	free(queue->clusters);
	free(queue->requests);
	free(queue);
}

void um_fault_queue_reset(struct um_fault_queue *queue, um_ns now)
{
	for (uint32_t i = 0; i < queue->path.clients; i++)
		queue->clients[i] = (struct client){.first = NONE, .last = NONE};
	for (uint32_t i = 0; i < queue->path.clusters; i++)
		queue->clusters[i] = (struct cluster){.due = UM_NEVER};
	queue->count = 0;
	queue->free_at = now;
	queue->resets++;
}

/* --- clients --- */

static uint32_t first_client(const struct um_fault_queue *queue, uint32_t cluster)
{
	return (uint32_t)((uint64_t)cluster * queue->path.clients / queue->path.clusters);
}

static uint32_t cluster_of(const struct um_fault_queue *queue, uint32_t client)
{
	uint32_t cluster =
		(uint32_t)((uint64_t)client * queue->path.clusters / queue->path.clients);

	return client < first_client(queue, cluster + 1) ? cluster : cluster + 1;
}

static um_ns due_of(const struct um_fault_queue *queue, const struct client *client)
{
	um_ns ready;

	if (client->first == NONE)
		return UM_NEVER;
	ready = queue->requests[client->first].ready;
	return ready > client->answered ? ready : client->answered;
}

static void find_next_client(struct um_fault_queue *queue, uint32_t number)
{
	struct cluster *cluster = &queue->clusters[number];

	cluster->due = UM_NEVER;
	for (uint32_t i = first_client(queue, number); i < first_client(queue, number + 1); i++) {
		um_ns due = due_of(queue, &queue->clients[i]);

		if (due < cluster->due) {
			cluster->due = due;
			cluster->next_client = i;
		}
	}
}

/* Whether the client can miss there as well; it does then. */
static bool miss(struct um_fault_queue *queue, const struct um_fault *fault)
{
	struct client *client = &queue->clients[fault->client];
	uint64_t *misses = &queue->misses[(size_t)fault->client * queue->path.misses];
	uint64_t key = (uint64_t)fault->allocation << 32 | fault->page / queue->path.miss_pages;
	uint32_t at = 0;

	while (at < client->misses && misses[at] != key)
		at++;
	if (client->accesses == queue->path.accesses || at == queue->path.misses)
		return false;
	client->accesses++;
	if (at == client->misses)
		misses[client->misses++] = key;
	return true;
}

/* --- requests --- */

/* Steele, Lea and Flood's SplitMix64 finalizer: the same numbers in every run. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/*
 * How much later than others the cluster comes to the page, this time. Neighbours are late together,
 * half of the pairs by two thirds: on an H200 pages fell into an early and a late half, most likely by
 * the part of L2 that their data is in.
 */
static um_ns lateness(const struct um_fault_queue *queue, const struct um_fault *fault)
{
	uint64_t seed =
		mix(queue->resets * 0x9e3779b97f4a7c15ull + cluster_of(queue, fault->client));
	uint64_t page = (uint64_t)fault->allocation << 32 | fault->page;
	um_ns jitter = queue->path.jitter_ns;

	if (!jitter)
		return 0;
	return (mix(seed ^ page / 2) & 1 ? jitter * 2 / 3 : 0) + mix(seed + page) % jitter;
}

/* A client's loads overtake one another, but none of its stores overtakes anything. */
static void put_in_order(struct um_fault_queue *queue, struct client *client, uint32_t number,
			 bool writes)
{
	struct request *request = &queue->requests[number];
	uint32_t *link = &client->first;

	if (writes && client->last != NONE && queue->requests[client->last].ready > request->ready)
		request->ready = queue->requests[client->last].ready;
	if (client->last != NONE && queue->requests[client->last].ready <= request->ready)
		link = &queue->requests[client->last].next;
	while (*link != NONE && queue->requests[*link].ready <= request->ready)
		link = &queue->requests[*link].next;
	request->next = *link;
	*link = number;
	if (request->next == NONE)
		client->last = number;
}

int um_fault_queue_add(struct um_fault_queue *queue, const struct um_fault *fault, uint32_t id,
		       bool *waits)
{
	assert(fault->client < queue->path.clients);
	*waits = miss(queue, fault);
	if (!*waits)
		return 0;
	if (queue->count == queue->capacity) {
		uint32_t capacity = queue->capacity ? queue->capacity * 2 : 64;
		struct request *grown = realloc(queue->requests, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u faults on their way", capacity);
		queue->requests = grown;
		queue->capacity = capacity;
	}
	queue->requests[queue->count] =
		(struct request){.ready = fault->raised_at + lateness(queue, fault),
				 .id = id,
				 .waves = fault->waves ? fault->waves : 1};
	put_in_order(queue, &queue->clients[fault->client], queue->count++, um_fault_writes(fault));
	find_next_client(queue, cluster_of(queue, fault->client));
	return 0;
}

/* --- the buffer --- */

um_ns um_fault_queue_due(const struct um_fault_queue *queue)
{
	um_ns due = UM_NEVER;

	for (uint32_t i = 0; i < queue->path.clusters; i++)
		due = queue->clusters[i].due < due ? queue->clusters[i].due : due;
	return due == UM_NEVER || due > queue->free_at ? due : queue->free_at;
}

/* The first cluster from the one whose turn it is that asks at `at`. */
static uint32_t cluster_at(const struct um_fault_queue *queue, um_ns at)
{
	uint32_t cluster = queue->turn;

	while (queue->clusters[cluster].due > at)
		cluster = (cluster + 1) % queue->path.clusters;
	return cluster;
}

bool um_fault_queue_next(struct um_fault_queue *queue, um_ns now, uint32_t *id)
{
	um_ns at = um_fault_queue_due(queue);
	struct request *request;
	struct client *client;
	uint32_t cluster;

	if (at == UM_NEVER || at > now)
		return false;
	cluster = cluster_at(queue, at);
	client = &queue->clients[queue->clusters[cluster].next_client];
	request = &queue->requests[client->first];
	*id = request->id;
	client->answered = at + queue->path.entry_ns;
	if (!--request->waves) {
		client->first = request->next;
		if (client->first == NONE)
			client->last = NONE;
	}
	queue->turn = (cluster + 1) % queue->path.clusters;
	queue->free_at = at + queue->path.entry_ns;
	find_next_client(queue, cluster);
	return true;
}
