#include "trace/spool/apply_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* One allocation of a stack, the 2nd launch of a kernel with two calls, hints of a stack left out. */
enum { KEYS = 3, EVENTS = 2, SUBJECTS = 1, ACTIONS = 2 };

struct fixture {
	struct um_apply_header *table;
	size_t bytes;
	uint64_t main_hash, call_hash;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->bytes = um_apply_bytes(KEYS, EVENTS, SUBJECTS, ACTIONS);
	f->table = calloc(1, f->bytes);
	f->main_hash = um_apply_site_hash(0, "/lib/app", 0x10);
	f->call_hash = um_apply_site_hash(f->main_hash, "/lib/app", 0x20);
	*f->table = (struct um_apply_header){.magic = UM_APPLY_MAGIC,
					     .keys = KEYS,
					     .events = EVENTS,
					     .subjects = SUBJECTS,
					     .actions = ACTIONS};
	um_apply_keys(f->table)[0] =
		(struct um_apply_key){f->call_hash, UM_APPLY_ALLOCATION, 0, 1, 0};
	um_apply_keys(f->table)[1] =
		(struct um_apply_key){um_apply_text_hash("scale"), UM_APPLY_LAUNCH, 1, 1, 0};
	um_apply_keys(f->table)[2] = (struct um_apply_key){f->call_hash, UM_APPLY_ADVISE, 0, 0, 0};
	um_apply_events(f->table)[0] = (struct um_apply_event){.nth = 1, .subject = 0};
	um_apply_events(f->table)[1] = (struct um_apply_event){
		.nth = 2, .subject = UM_APPLY_NO_SUBJECT, .first_action = 0, .actions = 2};
	um_apply_subjects(f->table)[0].bytes = 8192;
	um_apply_actions(f->table)[0] =
		(struct um_apply_action){.op = UM_OP_PREFETCH, .start = 0, .bytes = 8192};
	um_apply_actions(f->table)[1] =
		(struct um_apply_action){.op = UM_OP_ADVISE, .start = 4096, .bytes = 4096};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->table);
	free(f);
	return 0;
}

static void put_site(struct um_apply *apply, uint32_t number, uint32_t parent, uint64_t offset)
{
	union {
		struct um_record_site record;
		unsigned char bytes[sizeof(struct um_record_site) + 32];
	} site = {.record = {.site = number, .parent = parent, .offset = offset}};

	strcpy(site.record.text, "/elsewhere/app");
	um_apply_note_site(apply, &site.record);
}

/* main() at site 1, the call at 2, a wrapper of HIP's that was called there at 3. */
static struct um_apply *begin(const struct fixture *f)
{
	struct um_apply *apply = um_apply_begin(f->table, f->bytes);

	assert_non_null(apply);
	assert_int_equal(f->table->taken, 1);
	put_site(apply, 1, 0, 0x10);
	put_site(apply, 2, 1, 0x20);
	put_site(apply, 3, 2, 0x30);
	return apply;
}

static void counts_by_keys(void **state)
{
	struct um_apply *apply = begin(*state);
	const struct um_apply_event *event;

	/* By the frame that called the wrapper; what comes from elsewhere is of no key. */
	assert_null(um_apply_next(apply, UM_APPLY_ALLOCATION, 1, ""));
	event = um_apply_next(apply, UM_APPLY_ALLOCATION, 3, "");
	assert_non_null(event);
	assert_int_equal(event->subject, 0);
	assert_null(um_apply_next(apply, UM_APPLY_ALLOCATION, 2, "")); /* the second */
	assert_null(um_apply_next(apply, UM_APPLY_LAUNCH, 0, "scale"));
	assert_null(um_apply_next(apply, UM_APPLY_LAUNCH, 0, "other"));
	event = um_apply_next(apply, UM_APPLY_LAUNCH, 0, "scale");
	assert_non_null(event);
	assert_int_equal(event->actions, 2);
	assert_null(um_apply_next(apply, UM_APPLY_LAUNCH, 0, "scale"));
}

static void finds_where(void **state)
{
	const struct fixture *f = *state;
	struct um_apply *apply = begin(f);
	struct um_apply_action *whole = um_apply_actions(f->table), *part = whole + 1;
	const struct um_apply_event *made = um_apply_next(apply, UM_APPLY_ALLOCATION, 2, "");
	uint64_t address, bytes;

	assert_false(um_apply_where(apply, whole, &address, &bytes));
	assert_int_equal(whole->outcome, UM_APPLY_NO_MEMORY);
	um_apply_bind(apply, made, 0x10000, 8192);
	assert_int_equal(um_apply_subjects(f->table)[0].seen, 1);
	assert_true(um_apply_where(apply, part, &address, &bytes));
	assert_int_equal(address, 0x11000);
	assert_int_equal(bytes, 4096);
	/* Of another size: all of it is still all of it, a part that it does not have is none. */
	um_apply_bind(apply, made, 0x20000, 5000);
	assert_int_equal(um_apply_subjects(f->table)[0].seen, 2);
	assert_true(um_apply_where(apply, whole, &address, &bytes));
	assert_int_equal(bytes, 5000);
	assert_false(um_apply_where(apply, part, &address, &bytes));
	um_apply_unbind_part(apply, 0x20000); /* it is none */
	assert_true(um_apply_where(apply, whole, &address, &bytes));
	um_apply_unbind(apply, 0x1f000, 0x1000); /* before it */
	assert_true(um_apply_where(apply, whole, &address, &bytes));
	um_apply_unbind(apply, 0x20000, 5000);
	assert_false(um_apply_where(apply, whole, &address, &bytes));
}

static void leaves_hints_out(void **state)
{
	const struct fixture *f = *state;
	struct um_apply *apply = begin(f);

	assert_true(um_apply_leaves_out(apply, UM_APPLY_ADVISE, 2));
	assert_false(um_apply_leaves_out(apply, UM_APPLY_ADVISE, 1));
	assert_false(um_apply_leaves_out(apply, UM_APPLY_PREFETCH, 2));
	f->table->flags = UM_APPLY_DROP_PREFETCH;
	assert_true(um_apply_leaves_out(apply, UM_APPLY_PREFETCH, 1));
	assert_int_equal(f->table->left_out_advice, 1);
	assert_int_equal(f->table->left_out_prefetch, 1);
}

/* Whatever lies there: nothing is believed that points outside. */
static void refuses_damage(void **state)
{
	const struct fixture *f = *state;

	assert_null(um_apply_begin(NULL, 0));
	assert_null(um_apply_begin(f->table, f->bytes - 8));
	um_apply_keys(f->table)[0].events = EVENTS + 1;
	assert_null(um_apply_begin(f->table, f->bytes));
	um_apply_keys(f->table)[0].events = 1;
	um_apply_events(f->table)[1].first_action = 1;
	assert_null(um_apply_begin(f->table, f->bytes));
	um_apply_events(f->table)[1].first_action = 0;
	um_apply_actions(f->table)[0].subject = SUBJECTS;
	assert_null(um_apply_begin(f->table, f->bytes));
	um_apply_actions(f->table)[0].subject = 0;
	um_apply_actions(f->table)[0].op = UM_OP_LAUNCH;
	assert_null(um_apply_begin(f->table, f->bytes));
	um_apply_actions(f->table)[0].op = UM_OP_PREFETCH;
	f->table->magic++;
	assert_null(um_apply_begin(f->table, f->bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts_by_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_where, setup, teardown),
		cmocka_unit_test_setup_teardown(leaves_hints_out, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_damage, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
