#include "smi_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* include/uapi/linux/kfd_ioctl.h */
struct kfd_version {
	uint32_t major, minor;
};
struct kfd_smi_events {
	uint32_t gpu_id;  /* in */
	uint32_t anon_fd; /* out */
};
#define KFD_GET_VERSION _IOR('K', 0x01, struct kfd_version)
#define KFD_SMI_EVENTS	_IOWR('K', 0x1f, struct kfd_smi_events)

#define EVENT_BIT(id) (UINT64_C(1) << ((id)-1))
#define WANTED                                                                                     \
	(EVENT_BIT(UM_SMI_MIGRATE_START) | EVENT_BIT(UM_SMI_MIGRATE_END) |                         \
	 EVENT_BIT(UM_SMI_FAULT_START) | EVENT_BIT(UM_SMI_FAULT_END) |                             \
	 EVENT_BIT(UM_SMI_QUEUE_EVICTION) | EVENT_BIT(UM_SMI_QUEUE_RESTORE) |                      \
	 EVENT_BIT(UM_SMI_UNMAP))

/* All of the driver's queue at a time. */
#define READ_BYTES	8192u
#define DESCRIPTORS_MAX 64u

void um_smi_descriptor_init(struct um_smi_descriptor *descriptor, int file, uint32_t gpu_id,
			    void (*take)(void *, const struct um_smi_span *), void *context)
{
	int flags = fcntl(file, F_GETFL);

	descriptor->file = file;
	descriptor->gpu_id = gpu_id;
	um_smi_reader_init(&descriptor->reader, take, context);
	if (flags >= 0)
		fcntl(file, F_SETFL, flags | O_NONBLOCK);
}

static int switch_on(int file)
{
	const uint64_t wanted = WANTED;

	fcntl(file, F_SETFD, FD_CLOEXEC);
	if (write(file, &wanted, sizeof(wanted)) == (ssize_t)sizeof(wanted))
		return file;
	int error = errno;

	close(file);
	errno = error;
	return -1;
}

int um_smi_open(int kfd, uint32_t gpu_id)
{
	struct kfd_version version = {0};
	struct kfd_smi_events events = {.gpu_id = gpu_id};

	if (ioctl(kfd, KFD_GET_VERSION, &version) != 0)
		return -1;
	if (version.major < 1 || (version.major == 1 && version.minor < UM_SMI_KFD_MINOR)) {
		errno = EPROTO;
		return -1;
	}
	if (ioctl(kfd, KFD_SMI_EVENTS, &events) != 0)
		return -1;
	return switch_on((int)events.anon_fd);
}

/* All that there is. The driver never blocks, and says EAGAIN when it has told everything. */
static int64_t read_all(struct um_smi_descriptor *descriptor)
{
	char data[READ_BYTES];
	int64_t all = 0;

	for (;;) {
		ssize_t bytes = read(descriptor->file, data, sizeof(data));

		if (bytes > 0) {
			um_smi_reader_put(&descriptor->reader, data, (size_t)bytes);
			all += bytes;
		} else if (bytes == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(descriptor->file);
			descriptor->file = -1;
			return all;
		} else if (errno == EAGAIN) {
			return all;
		}
	}
}

int64_t um_smi_drain(struct um_smi_descriptor *descriptors, unsigned count, int wake,
		     int timeout_ms)
{
	struct pollfd files[DESCRIPTORS_MAX + 1];
	int64_t all = 0;
	bool any = false;

	count = count < DESCRIPTORS_MAX ? count : DESCRIPTORS_MAX;
	/* poll() passes over negative ones. */
	for (unsigned i = 0; i < count; i++) {
		files[i] = (struct pollfd){.fd = descriptors[i].file, .events = POLLIN};
		any |= descriptors[i].file >= 0;
	}
	files[count] = (struct pollfd){.fd = wake, .events = POLLIN};
	if (!any)
		return -1;
	if (poll(files, count + 1, timeout_ms) <= 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (descriptors[i].file >= 0 && files[i].revents)
			all += read_all(&descriptors[i]);
	return all;
}

void um_smi_descriptor_fini(struct um_smi_descriptor *descriptor)
{
	if (descriptor->file >= 0)
		read_all(descriptor);
	if (descriptor->file >= 0)
		close(descriptor->file);
	descriptor->file = -1;
	um_smi_reader_end(&descriptor->reader);
}

/* --- counters --- */

static bool read_counter(uint64_t *out, const char *root, uint32_t pid, uint32_t gpu_id,
			 const char *name)
{
	char path[512], text[32], *end;

	int length = snprintf(path, sizeof(path), "%s/sys/class/kfd/kfd/proc/%u/counters_%u/%s",
			      root, pid, gpu_id, name);
	int file =
		length > 0 && (size_t)length < sizeof(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (file < 0)
		return false;
	ssize_t bytes = read(file, text, sizeof(text) - 1);
	close(file);
	if (bytes <= 0)
		return false;
	text[bytes] = '\0';
	*out = strtoull(text, &end, 10);
	return end != text;
}

bool um_smi_counters_read(struct um_smi_counters *counters, const char *root, uint32_t pid,
			  uint32_t gpu_id)
{
	*counters = (struct um_smi_counters){0};
	return read_counter(&counters->faults, root, pid, gpu_id, "faults") &&
	       read_counter(&counters->pages_in, root, pid, gpu_id, "page_in") &&
	       read_counter(&counters->pages_out, root, pid, gpu_id, "page_out");
}
