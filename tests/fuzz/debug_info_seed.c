/* A small program with debug information, for debug_info_fuzz.c; it is never run. */
struct grid {
	float *cells;
	float *edges[2];
};

void _start(void);

static struct grid state;
static volatile int sink;

static inline __attribute__((always_inline)) void put(struct grid *to, float *what)
{
	to->edges[1] = what;
	sink++;
}

static __attribute__((noinline)) int fill(struct grid *g, int n)
{
	struct grid local = {0};
	float *many[3] = {0};

	for (int i = 0; i < n; i++) {
		put(&local, many[i % 3]);
		put(g, local.edges[1]);
	}
	return sink;
}

void _start(void)
{
	fill(&state, 3);
	for (;;)
		sink++;
}
