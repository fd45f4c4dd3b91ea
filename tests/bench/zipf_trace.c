/* zipf_trace FILE TOUCHES: a trace of one launch, one group, that touches Zipf(1.0) over 4 GiB. */
#include "tests/unit/sim/trace_fixture.h"
#include "zipf.h"

#include <stdio.h>
#include <unistd.h>

static void put_run(struct trace_fixture *fx)
{
	um_db_exec(fx->db, "INSERT INTO run (role, tool, command, clock, ended, exit_status) "
			   "VALUES ('trace', 'zipf_trace', 'zipf_trace', 'none', 'exited', 0)");
	um_db_exec(fx->db,
		   "INSERT INTO origin (record, origin) VALUES ('page_access', 'emulated')");
}

int main(int argc, char **argv)
{
	struct trace_fixture fx;
	struct zipf zipf;

	if (argc != 3) {
		fputs("zipf_trace FILE TOUCHES\n", stderr);
		return 2;
	}
	zipf_init(&zipf);
	fx_open(&fx);
	put_run(&fx);
	int64_t data = fx_alloc(&fx, "managed", (int64_t)ZIPF_PAGES * PAGE);

	um_db_begin(fx.db);
	fx_launch(&fx, "k", 1, 0);
	for (unsigned long long i = strtoull(argv[2], NULL, 10); i-- > 0;)
		fx_touch(&fx, 0, data, zipf_draw(&zipf), false);
	fx_launch_end(&fx);
	um_db_commit(fx.db);
	zipf_fini(&zipf);
	/* The fixture removes its file, which is this one's too. */
	if (link(fx.path, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	fx_close(&fx);
	return 0;
}
