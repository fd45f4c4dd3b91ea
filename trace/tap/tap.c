/*
 * The tap's life. NVIDIA's driver loads it when the program first uses CUDA (CUDA_INJECTION64_PATH) and
 * calls InitializeInjection(). Whatever goes wrong, the program runs on, untraced.
 *
 * At exit() the records that CUPTI has are fetched in a handler, while the driver is still whole; what
 * handlers of the program do after that is recorded too, and the last word is said by the library's
 * destructor, which calls nobody.
 */
#include "tap_apply.h"
#include "../spool/spool_environment.h"

#include "trace/base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CUDA_VARIABLE	    "CUDA_INJECTION64_PATH"
#define NVTX_VARIABLE	    "NVTX_INJECTION64_PATH"
#define DRIVER_VERSION_PATH "/proc/driver/nvidia/version"

__attribute__((visibility("default"))) int InitializeInjection(void);

/* umtrace's own variable of this name is still there, for the program's first range. */
static atomic_bool nvtx_waits;

/* --- saying and writing --- */

/* The only thing that the tap ever prints. */
static void say(const char *why)
{
	char line[1280];
	int used = snprintf(line, sizeof(line), "umtrace: %s; the program runs untraced\n", why);

	if (used < 0)
		return;
	size_t bytes = (size_t)used < sizeof(line) ? (size_t)used : sizeof(line) - 1;

	(void)!write(STDERR_FILENO, line, bytes);
}

/* cupti_version.h */
static void version_text(uint32_t version, char text[32])
{
	static const char *const counted[] = {
		[19] = "12.0", [20] = "12.2", [21] = "12.3", [22] = "12.4",   [23] = "12.5",
		[24] = "12.6", [26] = "12.8", [27] = "12.9", [28] = "12.9.1",
	};
	bool known = version < sizeof(counted) / sizeof(*counted) && counted[version];

	if (version >= UM_CUPTI_VERSION_13_0)
		snprintf(text, 32, "%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
	else if (known)
		snprintf(text, 32, "%s", counted[version]);
	else
		snprintf(text, 32, "of version %u", version);
}

static void put_hello(void)
{
	char version[32];
	struct um_record_hello hello = {
		.header = {sizeof(hello), UM_RECORD_HELLO, 0},
		.spool_version = UM_SPOOL_VERSION,
		.pid = (uint32_t)getpid(),
		.backend = UM_BACKEND_CUPTI,
		.host_watch = UM_HOST_WATCH_NONE,
		.start_ns = um_tap.start_ns,
	};
	int driver = um_tap.cupti.driver;

	um_tap_driver_version(hello.driver, DRIVER_VERSION_PATH);
	version_text(um_tap.cupti.version, version);
	if (um_tap.cupti.version)
		snprintf(hello.runtime, sizeof(hello.runtime), "CUPTI %s (CUDA driver %d.%d)",
			 version, driver / 1000 % 1000, driver % 1000 / 10);
	else
		snprintf(hello.runtime, sizeof(hello.runtime), "CUPTI (not started)");
	um_tap_put(&hello.header);
}

static void put_bye(void)
{
	uint64_t handler_calls = um_tap_handler_calls();
	struct um_record_bye bye = {{sizeof(bye), UM_RECORD_BYE, 0}, um_tap_now_ns()};

	if (handler_calls)
		um_tap_lost(UM_LOSS_SIGNAL_HANDLER, handler_calls,
			    "records of CUDA calls made by a signal handler within one");
	um_tap_tell_losses(true);
	um_tap_put(&bye.header);
}

/* The message of the last um_fail(). */
static void give_up(void)
{
	say(um_error_message());
	if (!um_tap_lock())
		return;
	um_tap_put_loss(UM_LOSS_TAP_OFF, 1, um_error_message());
	um_tap_unlock();
}

/* --- the environment --- */

static const char *own_path(void)
{
	Dl_info own;

	return dladdr((const void *)(uintptr_t)&InitializeInjection, &own) ? own.dli_fname : NULL;
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat status, other_status;

	return !strcmp(path, other) ||
	       (!stat(path, &status) && !stat(other, &other_status) &&
		status.st_dev == other_status.st_dev && status.st_ino == other_status.st_ino);
}

/* What umtrace preloads for programs that use no NVIDIA GPU lies beside this library. */
static void remove_preloads(const char *own)
{
	static const char *const names[] = {"libamdhip64.so.5", "libamdhip64.so.6",
					    "libamdhip64.so.7", "libroctx64.so.4",
					    "libumtrace_wrap.so"};
	const char *slash = strrchr(own, '/');
	char path[PATH_MAX];

	for (size_t i = 0; slash && i < sizeof(names) / sizeof(*names); i++) {
		int used =
			snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - own), own, names[i]);

		if (used > 0 && (size_t)used < sizeof(path))
			um_environment_remove_preload(path);
	}
}

/*
 * NVIDIA's driver loads the tap for itself alone. umtrace.h looks for it among what the whole program
 * sees, and so must find it before the variable is gone that tells of it.
 */
static void become_visible(void)
{
	const char *own = own_path();

	um_tap_announce_names();
	if (own)
		dlopen(own, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

static void clean_environment(void)
{
	const char *injected = getenv(CUDA_VARIABLE), *own = own_path();

	um_environment_remove(UM_SPOOL_VARIABLE);
	if (!own)
		return;
	if (injected && is_same_file(injected, own))
		um_environment_remove(CUDA_VARIABLE);
	remove_preloads(own);
	um_environment_drop_kokkos(own);
}

/*
 * NVTX reads its variable at the program's first range, which may still come: where any code of the
 * program would read it, it stays until then.
 */
static void clean_nvtx(void)
{
	if (!um_spool_config(um_tap.writer)->set_nvtx)
		return;
	if (um_tap.subscriber && um_tap_program_has_nvtx())
		atomic_store(&nvtx_waits, true);
	else
		um_environment_remove(NVTX_VARIABLE);
}

static void nvtx_has_started(void)
{
	if (atomic_load_explicit(&nvtx_waits, memory_order_relaxed) &&
	    atomic_exchange(&nvtx_waits, false))
		um_environment_remove(NVTX_VARIABLE);
}

/* --- callbacks --- */

static void on_resource(uint32_t what)
{
	int saved = errno;

	um_tap_thread()
		->calls++; /* the driver's, which is not to be waited for at an exit from here */
	um_tap_context_changed();
	if (what == UM_CUPTI_CONTEXT_CREATED) {
		um_tap_put_devices();
		um_tap_start_counters();
	} else {
		um_tap_flush();
	}
	um_tap_thread()->calls--;
	errno = saved;
}

static void on_state(const struct um_cupti_state_data *state)
{
	char text[512];

	snprintf(text, sizeof(text), "CUPTI gave up: %s",
		 state->message ? state->message : "a fatal error");
	if (!um_tap_lock())
		return;
	um_tap_put_loss(UM_LOSS_TAP_OFF, 1, text);
	um_tap_unlock();
}

static void on_callback(void *context, uint32_t domain, uint32_t what, const void *data)
{
	(void)context;
	if (!um_tap_is_on() || !data)
		return;
	switch (domain) {
	case UM_CUPTI_DRIVER_API:
		um_tap_on_call(what, data);
		break;
	case UM_CUPTI_RUNTIME_API:
		um_tap_on_runtime_call(what, data);
		break;
	case UM_CUPTI_RESOURCE:
		on_resource(what);
		break;
	case UM_CUPTI_NVTX:
		nvtx_has_started();
		um_tap_on_nvtx(what, data);
		break;
	case UM_CUPTI_STATE:
		on_state(data);
		break;
	default:
		break;
	}
}

/* --- start --- */

static int subscribe(void)
{
	char other[UM_CUPTI_OTHER_NAME_BYTES + 1] = "";
	struct um_cupti_subscriber_params params = {
		.bytes = sizeof(params),
		.name = "umtrace",
		.other_name = other,
		.other_bytes = UM_CUPTI_OTHER_NAME_BYTES,
	};
	const struct um_cupti *cupti = &um_tap.cupti;
	int result = cupti->subscribe_2
			     ? cupti->subscribe_2(&um_tap.subscriber, on_callback, NULL, &params)
			     : cupti->subscribe(&um_tap.subscriber, on_callback, NULL);

	if (result == UM_CUPTI_SUCCESS)
		return 0;
	um_tap.subscriber = NULL;
	if (result == UM_CUPTI_MULTIPLE_SUBSCRIBERS)
		return um_fail(UM_ENOTSUP, "another profiler has CUPTI%s%s%s", *other ? " (" : "",
			       other, *other ? ")" : "");
	return um_fail(UM_ENOTSUP, "CUPTI does not start: %s", um_cupti_text(cupti, result));
}

static void enable(void)
{
	const struct um_cupti *cupti = &um_tap.cupti;

	um_tap_start_activity();
	um_tap_enable_calls();
	cupti->enable_callback(1, um_tap.subscriber, UM_CUPTI_RESOURCE, UM_CUPTI_CONTEXT_CREATED);
	cupti->enable_callback(1, um_tap.subscriber, UM_CUPTI_RESOURCE,
			       UM_CUPTI_CONTEXT_DESTROY_STARTING);
	cupti->enable_callback(1, um_tap.subscriber, UM_CUPTI_STATE, UM_CUPTI_FATAL_ERROR);
	um_tap_enable_nvtx();
}

static void in_child(void)
{
	if (!um_tap_is_on())
		return;
	um_tap_switch_off();
	um_spool_detach(um_tap.writer);
	um_tap.writer = NULL;
	nvtx_has_started(); /* what it starts is not to load CUPTI */
}

/*
 * From a signal handler within a call of the driver, exit() finds the driver's and CUPTI's locks taken:
 * then nothing is fetched, and the end of the trace is missing.
 */
static bool exits_within_a_call(void)
{
	return um_tap_thread()->inside || um_tap_thread()->calls > 0;
}

static void at_exit(void)
{
	int saved = errno;

	if (um_tap_is_on() && um_tap.subscriber && !exits_within_a_call()) {
		um_tap_flush_last();
		um_tap_ask_addresses();
	}
	errno = saved;
}

static void start(const char *hint)
{
	int failed = um_cupti_open(&um_tap.cupti, hint);

	um_tap.faults = um_spool_config(um_tap.writer)->faults;
	um_tap.start_ns = um_tap_now_ns();
	um_tap_apply_begin();
	um_tap_switch_on();
	if (!um_tap_lock())
		return;
	put_hello();
	um_tap_unlock();
	if (!failed)
		um_tap_site_init(&um_tap.cupti);
	if (!failed)
		failed = subscribe();
	pthread_atfork(NULL, NULL, in_child);
	clean_nvtx();
	if (failed) {
		give_up();
		return;
	}
	atexit(at_exit);
	enable();
}

static void inject(void)
{
	char path[PATH_MAX] = "", hint[PATH_MAX] = "";
	const char *spool = um_environment_spool();
	const char *nvtx = getenv(NVTX_VARIABLE);

	if (!spool)
		return;
	memccpy(path, spool, '\0', sizeof(path) - 1);
	if (nvtx)
		memccpy(hint, nvtx, '\0', sizeof(hint) - 1);
	become_visible();
	clean_environment();
	int failed = um_spool_attach(&um_tap.writer, path);

	/* A process that this one was forked from may have the spool: it is the one that is traced. */
	if (failed == 0)
		start(hint);
	else if (failed == UM_EFORMAT || failed == UM_EVERSION)
		say(um_error_message());
}

int InitializeInjection(void)
{
	static atomic_bool called;
	int saved = errno;

	if (!atomic_exchange(&called, true))
		inject();
	errno = saved;
	return 1;
}

/* --- end --- */

static __attribute__((destructor)) void end(void)
{
	if (!um_tap_is_on() || exits_within_a_call() || !um_tap_lock())
		return;
	put_bye();
	um_tap_switch_off();
	um_spool_detach(um_tap.writer);
	um_tap.writer = NULL;
	um_tap_unlock();
}
