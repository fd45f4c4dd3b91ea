/*
 * The library that stands before libc when the host is watched by mprotect: the program's signal
 * handling must work as if it were not there. Each case is a program of its own, in a child.
 */
#include "trace/runtime/arena.h"
#include "trace/db/words.h"
#include "trace/runtime/hostwatch.h"
#include "trace/runtime/hostwatch_place.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES 64u

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __func__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static bool asks_places; /* as with umtrace --host-sync */

/* A small arena in place of arena.c. */
struct um_arena um_arena;

static char *page(unsigned n)
{
	return um_arena.base + (size_t)n * UM_PAGE_BYTES;
}

/* A store that stays where it is written. */
static void poke(char *address)
{
	*(volatile char *)address = 1;
}

static void watch(void)
{
	um_arena.base = mmap(NULL, (size_t)PAGES * UM_PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(um_arena.base != MAP_FAILED);
	um_arena.span = (uint64_t)PAGES * UM_PAGE_BYTES;
	if (asks_places)
		um_hostwatch_ask_places();
	CHECK(um_hostwatch_init(UM_HOST_WATCH_MPROTECT) == UM_HOST_WATCH_MPROTECT);
	um_hostwatch_add(0, um_arena.span / 2); /* the rest is as device memory is */
}

static uint32_t touch_of[PAGES];

static void note_run(uint64_t first_page, uint64_t pages, uint32_t touch, void *unused)
{
	(void)unused;
	for (uint64_t n = first_page; n < first_page + pages; n++)
		touch_of[n] = touch;
}

static void collect(void)
{
	memset(touch_of, 0, sizeof(touch_of));
	um_hostwatch_collect(note_run, NULL);
	um_hostwatch_arm();
}

static char *no_page(void)
{
	static char *address;

	if (!address)
		address = mmap(NULL, UM_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return address;
}

/* The exit status, or 128 and the signal. */
static int run(void (*program)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		static const struct rlimit no_core = {0, 0};

		alarm(30);
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler is not the program's */
		program();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define PROGRAM(name, expected)                                                                    \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		asks_places = false;                                                               \
		assert_int_equal(run(name), expected);                                             \
		asks_places = true;                                                                \
		assert_int_equal(run(name), expected);                                             \
	}

/* --- no handler --- */

static void own_fault_kills(void)
{
	watch();
	poke(page(1));
	poke(no_page());
}
PROGRAM(own_fault_kills, 128 + SIGSEGV)

static void sent_signal_kills(void)
{
	watch();
	kill(getpid(), SIGSEGV);
	usleep(100000);
}
PROGRAM(sent_signal_kills, 128 + SIGSEGV)

static void unmanaged_memory_is_not_ours(void)
{
	watch();
	CHECK(!mprotect(page(PAGES - 1), UM_PAGE_BYTES, PROT_NONE));
	poke(page(PAGES - 1));
}
PROGRAM(unmanaged_memory_is_not_ours, 128 + SIGSEGV)

static void ignored_fault_kills(void)
{
	watch();
	CHECK(signal(SIGSEGV, SIG_IGN) == SIG_DFL);
	kill(getpid(), SIGSEGV); /* ignored */
	poke(page(1));
	poke(no_page());
}
PROGRAM(ignored_fault_kills, 128 + SIGSEGV)

/* --- the program's handler --- */

static volatile sig_atomic_t calls, seen_code;
static void *volatile seen_address;
static sigjmp_buf back;

static void note_and_repair(int number, siginfo_t *info, void *context)
{
	CHECK(number == SIGSEGV && context);
	calls++;
	seen_address = info->si_addr;
	seen_code = info->si_code;
	poke(page(2)); /* a handler may touch watched memory, too */
	mprotect(no_page(), UM_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

static void set_before(void)
{
	struct sigaction action = {.sa_sigaction = note_and_repair, .sa_flags = SA_SIGINFO}, now;

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	watch();
	CHECK(!sigaction(SIGSEGV, NULL, &now));
	CHECK(now.sa_sigaction == note_and_repair && sigismember(&now.sa_mask, SIGUSR1));
	errno = 77;
	poke(page(1));
	CHECK(errno == 77 && calls == 0);
	poke(no_page() + 5);
	CHECK(calls == 1 && seen_address == no_page() + 5 && seen_code == SEGV_ACCERR);
	collect();
	CHECK(touch_of[1] == UM_TOUCH_WRITTEN && touch_of[2] == UM_TOUCH_WRITTEN);
}
PROGRAM(set_before, 0)

static void set_while_watched(void)
{
	struct sigaction action = {.sa_sigaction = note_and_repair, .sa_flags = SA_SIGINFO}, old;

	watch();
	CHECK(!sigaction(SIGSEGV, &action, &old) && old.sa_handler == SIG_DFL);
	poke(page(1));
	poke(no_page());
	CHECK(calls == 1);
	CHECK(!sigaction(SIGSEGV, &old, &action) && action.sa_sigaction == note_and_repair);
	mprotect(no_page(), UM_PAGE_BYTES, PROT_NONE);
	poke(no_page());
}
PROGRAM(set_while_watched, 128 + SIGSEGV)

static void jump(int number)
{
	(void)number;
	calls++;
	siglongjmp(back, 1);
}

static void jumps_out(void)
{
	watch();
	CHECK(signal(SIGSEGV, jump) == SIG_DFL);
	for (volatile int i = 0; i < 3; i++) {
		if (!sigsetjmp(back, 1))
			poke(no_page());
		poke(page((unsigned)i));
	}
	CHECK(calls == 3);
	collect();
	CHECK(touch_of[0] && touch_of[1] && touch_of[2] && !touch_of[3]);
	CHECK(signal(SIGSEGV, SIG_DFL) == jump);
}
PROGRAM(jumps_out, 0)

static void once_only(void)
{
	struct sigaction action = {.sa_sigaction = note_and_repair,
				   .sa_flags = SA_SIGINFO | (int)SA_RESETHAND};

	watch();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	poke(page(1)); /* not the fault that uses it up */
	poke(no_page());
	CHECK(calls == 1);
	mprotect(no_page(), UM_PAGE_BYTES, PROT_NONE);
	poke(no_page());
}
PROGRAM(once_only, 128 + SIGSEGV)

static void on_the_other_stack(int number)
{
	(void)number;
	poke(page(3));
	_exit(42);
}

static int use_up_stack(int calls_left)
{
	volatile char here[4096];

	here[0] = (char)calls_left;
	return calls_left ? use_up_stack(calls_left - 1) + here[0] : 0;
}

static void stack_overflow(void)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction action = {.sa_handler = on_the_other_stack, .sa_flags = SA_ONSTACK};

	watch();
	CHECK(!sigaltstack(&stack, NULL) && !sigaction(SIGSEGV, &action, NULL));
	use_up_stack(1 << 30);
}
PROGRAM(stack_overflow, 42)

static void sent_signal_is_handled(void)
{
	struct sigaction action = {.sa_sigaction = note_and_repair, .sa_flags = SA_SIGINFO};

	watch();
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	raise(SIGSEGV);
	CHECK(calls == 1 && seen_code <= 0);
}
PROGRAM(sent_signal_is_handled, 0)

/* --- masks --- */

static void touch_in_handler(int number)
{
	(void)number;
	poke(page(4));
	calls++;
}

static void other_handlers_touch(void)
{
	struct sigaction action = {.sa_handler = touch_in_handler};

	sigfillset(&action.sa_mask);
	CHECK(!sigaction(SIGUSR1, &action, NULL)); /* before watching ... */
	watch();
	raise(SIGUSR1);
	collect();
	CHECK(touch_of[4] == UM_TOUCH_WRITTEN);
	CHECK(!sigaction(SIGUSR2, &action, NULL)); /* ... and while */
	raise(SIGUSR2);
	collect();
	CHECK(touch_of[4] == UM_TOUCH_WRITTEN && calls == 2);
}
PROGRAM(other_handlers_touch, 0)

static void *thread_blocks_all(void *unused)
{
	sigset_t all, before, now;

	sigfillset(&all);
	CHECK(!pthread_sigmask(SIG_SETMASK, &all, &before));
	CHECK(!sigismember(&before, SIGSEGV));
	CHECK(!pthread_sigmask(SIG_BLOCK, NULL, &now) && sigismember(&now, SIGSEGV));
	poke(page(5));
	sigemptyset(&all);
	sigaddset(&all, SIGSEGV);
	CHECK(!sigprocmask(SIG_UNBLOCK, &all, &now) && sigismember(&now, SIGSEGV));
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &now) && !sigismember(&now, SIGSEGV));
	CHECK(sigismember(&now, SIGTERM));
	return unused;
}

static void blocked_signals(void)
{
	pthread_t thread;

	watch();
	CHECK(!pthread_create(&thread, NULL, thread_blocks_all, NULL));
	CHECK(!pthread_join(thread, NULL));
	collect();
	CHECK(touch_of[5] == UM_TOUCH_WRITTEN);
}
PROGRAM(blocked_signals, 0)

static void child_gets_it_back(void)
{
	struct sigaction now;

	CHECK(signal(SIGSEGV, jump) == SIG_DFL);
	watch();
	pid_t pid = fork();

	if (pid == 0) {
		um_hostwatch_child();
		CHECK(!sigaction(SIGSEGV, NULL, &now) && now.sa_handler == jump);
		if (!sigsetjmp(back, 1))
			poke(no_page());
		_exit(calls == 1 ? 0 : 1);
	}
	int status = 1;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}
PROGRAM(child_gets_it_back, 0)

/* --- calls that hostwatch_test.c does not make --- */

static void sockets_and_text(void)
{
	int pair[2], null = dup(1);
	char small[10] = "abcdefghi";
	FILE *file = fopen("/dev/null", "w");

	watch();
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	CHECK(send(pair[0], small, 10, 0) == 10 && recv(pair[1], page(0), 5000, 0) == 10);
	CHECK(send(pair[0], page(2), 5, 0) == 5 && recvfrom(pair[1], small, 10, 0, 0, 0) == 5);
	struct iovec part[2] = {{page(4), 3}, {page(6), 4096}};
	struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};

	CHECK(sendmsg(pair[0], &message, 0) == 4099);
	part[0].iov_base = page(8);
	part[1].iov_base = page(10);
	part[1].iov_len = 9000;
	CHECK(recvmsg(pair[1], &message, 0) == 4099);
	memset(page(12), 'x', 8191);
	um_hostwatch_collect(note_run, NULL);
	um_hostwatch_arm();
	CHECK(file && !setvbuf(file, NULL, _IONBF, 0));
	CHECK(fputs(page(12), file) >= 0 && !fclose(file)); /* past the buffer */
	CHECK(write(null, page(20), 0) == 0);
	CHECK(read(-1, page(20), 10) == -1 && errno == EBADF);
	CHECK(fread(page(22), SIZE_MAX, 0, stdin) == 0);
	um_hostwatch_collect(note_run, NULL);
	CHECK(touch_of[0] == UM_TOUCH_WRITTEN && touch_of[1] == 0);
	CHECK(touch_of[2] == UM_TOUCH_READ && touch_of[4] == UM_TOUCH_READ);
	CHECK(touch_of[6] == UM_TOUCH_READ && touch_of[7] == 0);
	CHECK(touch_of[8] == UM_TOUCH_WRITTEN && touch_of[10] == UM_TOUCH_WRITTEN);
	CHECK(touch_of[11] == 0 && touch_of[20] == 0 && touch_of[22] == 0);
	CHECK(touch_of[12] == UM_TOUCH_READ && touch_of[13] == UM_TOUCH_READ);
}
PROGRAM(sockets_and_text, 0)

/* --- who touches --- */

static struct um_page_touch first_of(unsigned n, unsigned access)
{
	struct um_page_touch touch = {0};

	CHECK(um_hostwatch_touch(n, access, &touch) == asks_places);
	return touch;
}

static __attribute__((noinline)) void touch_from(char *address)
{
	poke(address);
	__asm__ volatile("");
}

static uint32_t depth_of(uint32_t place)
{
	uint32_t depth = 0;

	for (; place; depth++)
		CHECK(um_touch_address(place, &place));
	return depth;
}

static void places_are_told_apart(void)
{
	watch();
	touch_from(page(0));
	/* Another call: one place for all. volatile: the compiler makes no calls of their own of rounds. */
	for (volatile unsigned n = 1; n < 5; n++)
		touch_from(page(n));
	CHECK(*(volatile char *)page(5) == 0);
	poke(page(5));
	um_hostwatch_collect(note_run, NULL);
	if (!asks_places) {
		first_of(0, UM_FAULT_WRITE);
		return;
	}
	uint32_t one = first_of(0, UM_FAULT_WRITE).place, loop = first_of(1, UM_FAULT_WRITE).place;

	CHECK(one && loop && one != loop && depth_of(one) == depth_of(loop) && depth_of(one) > 3);
	for (unsigned n = 2; n < 5; n++)
		CHECK(first_of(n, UM_FAULT_WRITE).place == loop);
	CHECK(first_of(0, UM_FAULT_WRITE).touch == 1 && first_of(4, UM_FAULT_WRITE).touch == 5);
	CHECK(first_of(0, UM_FAULT_READ).touch == 0);
	CHECK(first_of(5, UM_FAULT_READ).touch == 6 && first_of(5, UM_FAULT_WRITE).touch == 7);
	um_hostwatch_arm();
	CHECK(first_of(0, UM_FAULT_WRITE).touch == 0);
}
PROGRAM(places_are_told_apart, 0)

/* Says that its caller's frame ends where `frame_end` points. */
void touch_wildly(char *address, const char *frame_end);
__asm__(".text\n.type touch_wildly, @function\ntouch_wildly:\n.cfi_startproc\n"
	".cfi_def_cfa %rsi, 0\nmovb $1, (%rdi)\nret\n.cfi_endproc\n"
	".size touch_wildly, . - touch_wildly\n");

static void wrong_unwind_tables(void)
{
	watch();
	touch_wildly(page(0), no_page() + 64);
	touch_wildly(page(1), NULL);
	touch_wildly(page(2), (char *)1);
	CHECK(*page(0) == 1 && *page(1) == 1 && *page(2) == 1);
	for (uint64_t i = 1; i < 200; i++) /* anywhere, also in memory that is there */
		touch_wildly(page(3 + i % 20),
			     (char *)(i % 2 ? i * 0x123456789abcull : (uintptr_t)&i + i * 40));
	um_hostwatch_collect(note_run, NULL);
	if (asks_places)
		CHECK(depth_of(first_of(0, UM_FAULT_WRITE).place) == 1);
	CHECK(touch_of[0] == UM_TOUCH_WRITTEN && touch_of[2] == UM_TOUCH_WRITTEN);
	poke(no_page()); /* is the program's own fault, as before */
}
PROGRAM(wrong_unwind_tables, 128 + SIGSEGV)

static void on_small_stack(int number)
{
	(void)number;
	_exit(3);
}

/* As untraced, and the instruction alone is known. */
static void small_signal_stack(void)
{
	static char memory[8192];
	stack_t small = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = on_small_stack, .sa_flags = SA_ONSTACK};

	watch();
	CHECK(!sigaltstack(&small, NULL) && !sigaction(SIGSEGV, &action, NULL));
	touch_from(page(0));
	um_hostwatch_collect(note_run, NULL);
	if (asks_places)
		CHECK(depth_of(first_of(0, UM_FAULT_WRITE).place) == 1);
	poke(no_page());
}
PROGRAM(small_signal_stack, 3)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_fault_kills),
		cmocka_unit_test(test_sent_signal_kills),
		cmocka_unit_test(test_unmanaged_memory_is_not_ours),
		cmocka_unit_test(test_ignored_fault_kills),
		cmocka_unit_test(test_set_before),
		cmocka_unit_test(test_set_while_watched),
		cmocka_unit_test(test_jumps_out),
		cmocka_unit_test(test_once_only),
		cmocka_unit_test(test_stack_overflow),
		cmocka_unit_test(test_sent_signal_is_handled),
		cmocka_unit_test(test_other_handlers_touch),
		cmocka_unit_test(test_blocked_signals),
		cmocka_unit_test(test_child_gets_it_back),
		cmocka_unit_test(test_sockets_and_text),
		cmocka_unit_test(test_places_are_told_apart),
		cmocka_unit_test(test_wrong_unwind_tables),
		cmocka_unit_test(test_small_signal_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
