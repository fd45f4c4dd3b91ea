#include "tracer_host_access.h"

#include "hostwatch.h"
#include "tracer.h"
#include "tracer_site.h"

#define RUNS_AT_ONCE 512u
#define BLOCK_PAGES  512u /* 2 MiB: as far as a run's first touch tells the order of touches */

static struct {
	_Alignas(8) char buffer[sizeof(struct um_record_host_access) +
				RUNS_AT_ONCE * sizeof(struct um_host_access_run)];
	struct um_host_access_run run; /* that grows; pages 0: none */
	uint32_t place;		       /* of it */
} kept;

static struct um_record_host_access *record(void)
{
	return (struct um_record_host_access *)kept.buffer;
}

static void put_record(void)
{
	struct um_record_host_access *of = record();

	if (!of->runs)
		return;
	of->header.bytes = (uint32_t)(sizeof(*of) + of->runs * sizeof(of->run[0]));
	of->header.kind = UM_RECORD_HOST_ACCESS;
	um_tracer_put(&of->header);
	of->runs = 0;
}

static void end_run(void)
{
	if (!kept.run.pages)
		return;
	kept.run.site = um_tracer_touch_site(kept.place);
	record()->run[record()->runs++] = kept.run;
	kept.run.pages = 0;
	if (record()->runs == RUNS_AT_ONCE)
		put_record();
}

static void add_page(const struct um_allocation *allocation, uint32_t page, uint32_t access,
		     const struct um_page_touch *touch)
{
	struct um_host_access_run *run = &kept.run;

	if (!run->pages || touch->place != kept.place || page != run->first_page + run->pages ||
	    page % BLOCK_PAGES == 0) {
		end_run();
		*run = (struct um_host_access_run){.allocation = allocation->id,
						   .first_page = page,
						   .access = access,
						   .touch = touch->touch};
		kept.place = touch->place;
	}
	run->pages++;
	if (touch->touch < run->touch)
		run->touch = touch->touch;
}

void um_tracer_host_access(uint32_t op, const struct um_allocation *allocation, uint64_t first_page,
			   uint64_t pages)
{
	uint64_t start = allocation->offset >> UM_PAGE_SHIFT;
	struct um_page_touch touch;

	if (record()->op != op)
		um_tracer_host_access_end();
	record()->op = op;
	for (uint32_t access = 0; access < 2; access++) {
		for (uint64_t page = first_page; page < first_page + pages; page++) {
			if (!um_hostwatch_touch(page, access, &touch))
				return;
			if (touch.touch)
				add_page(allocation, (uint32_t)(page - start), access, &touch);
		}
		end_run();
	}
}

void um_tracer_host_access_end(void)
{
	end_run();
	put_record();
}
