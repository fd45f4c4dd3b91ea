/*
 * The spool record: what a traced program tells umtrace. Contract between whatever runs inside
 * the program (runtime, taps) and the ingest. Little endian, natural alignment, each record a
 * multiple of 8 bytes, `bytes` including its header. Records never outlive a run, so writer and
 * reader are of one build: any change raises UM_SPOOL_VERSION, and unequal versions refuse each
 * other.
 *
 * Times are ns of CLOCK_BOOTTIME. Ids (op, allocation, site, stream, event) count from 1 in the
 * order of the program; 0 means none. Pages are 4 KiB and are numbered within their allocation,
 * lines are 64 bytes.
 */
#ifndef UM_SPOOL_RECORD_H
#define UM_SPOOL_RECORD_H

#include <stdint.h>

#define UM_SPOOL_VERSION 12u
#define UM_PAGE_SHIFT	 12
#define UM_PAGE_BYTES	 4096u
#define UM_LINE_SHIFT	 6
#define UM_LINE_BYTES	 64u
#define UM_PAGE_LINES	 64u

/* Where a record's text fields end up is said beside them; text is UTF-8 or any bytes but NUL. */
enum um_record_kind {
	UM_RECORD_PAD = 0, /* skip */
	UM_RECORD_HELLO,   /* first record of a program */
	UM_RECORD_DEVICE,  /* a device the program can see */
	UM_RECORD_SITE,	   /* a place in the program that later records name */
	UM_RECORD_ALLOCATION,
	UM_RECORD_OP,	  /* what the program asked for; a second record of the same id updates */
	UM_RECORD_KERNEL, /* details of a launch op */
	UM_RECORD_PAGES,  /* page accesses of an op */
	UM_RECORD_STREAM, /* a chunk of the ordered access stream of a launch op */
	UM_RECORD_LOSS,	  /* something was not recorded */
	UM_RECORD_BYE,	  /* the program ended by exit() or return from main */
	/* What a driver told a tap, later than it happened and in no order: */
	UM_RECORD_TIME,	     /* when an op ran on its device */
	UM_RECORD_FAULT,     /* page faults */
	UM_RECORD_MIGRATION, /* bytes that crossed a link */
	UM_RECORD_MAPPING,   /* a mapping that came or went */
	UM_RECORD_EVENT,     /* anything else that the driver did: thrashing, throttling */
	UM_RECORD_RANGE,     /* the name of a UM_OP_RANGE */
	UM_RECORD_VARIABLE,  /* where the program keeps the address of an allocation */
	UM_RECORD_PART,	     /* the name of a part of an allocation, of a UM_OP_NAME */
	/* Where the host first read and wrote the pages of a UM_OP_HOST: */
	UM_RECORD_HOST_ACCESS,
};

struct um_record {
	uint32_t bytes; /* whole record, header included */
	uint16_t kind;
	uint16_t reserved;
};

enum um_backend {
	UM_BACKEND_EMULATED = 1, /* the CPU runtime */
	UM_BACKEND_CUPTI,	 /* NVIDIA's driver, through CUPTI */
};
enum um_host_watch {
	UM_HOST_WATCH_NONE = 0,
	UM_HOST_WATCH_WP_ASYNC,	 /* userfaultfd write-protect, async (Linux 6.7) */
	UM_HOST_WATCH_UFFD_SYNC, /* userfaultfd served by a thread, needs privileges */
	UM_HOST_WATCH_MPROTECT,	 /* mprotect and SIGSEGV, and system calls that touch are wrapped */
};

/* What the program's environment has; anything but 0 and 1 works as if it were not set. */
enum um_hsa_xnack { UM_HSA_XNACK_UNSET, UM_HSA_XNACK_0, UM_HSA_XNACK_1, UM_HSA_XNACK_NEITHER };

struct um_record_hello {
	struct um_record header;
	uint32_t spool_version;
	uint32_t pid;
	uint32_t backend;      /* enum um_backend */
	uint32_t host_watch;   /* enum um_host_watch */
	uint32_t filter_pages; /* K of the access stream's repeat filter */
	uint32_t requests;     /* 1: coalesced requests are counted */
	uint32_t xnack;	       /* 1: devices retry faults for this program */
	uint32_t hsa_xnack;    /* enum um_hsa_xnack */
	uint32_t pageable;     /* 1: accesses to memory that HIP did not allocate are recorded */
	uint32_t host_sync;    /* 1: the host's accesses come with their sites */
	uint64_t start_ns;
	/* "umtrace HIP runtime 0.1.0 (HIP 5.2)", "CUPTI 13.0.1 (CUDA driver 13.0)" */
	char runtime[64];
	char driver[32]; /* version of the kernel's driver: "580.159.04"; "": none, or not told */
};

struct um_record_device {
	struct um_record header;
	uint32_t device; /* 0.. */
	uint32_t compute_units;
	uint64_t memory_bytes;
	uint32_t wave_lanes; /* of the waves that its requests are of */
	uint32_t clock_khz;  /* peak clocks of its units and its memory; 0: not told */
	uint32_t memory_clock_khz;
	uint32_t memory_bus_bits; /* 0: not told */
	uint32_t l2_bytes;	  /* 0: not told */
	uint32_t reserved;
	char name[64];
	char arch[32];
};

struct um_record_site {
	struct um_record header;
	uint32_t site;
	uint32_t parent; /* the site that called this one, told before it; 0: not known */
	uint64_t offset; /* of the return address from the load base: its address in the ELF file */
	char text[];	 /* "module\0symbol\0": path, nearest symbol or "" */
};

enum um_allocation_kind {
	UM_ALLOCATION_MANAGED = 1,
	UM_ALLOCATION_DEVICE,
	UM_ALLOCATION_PINNED,
	UM_ALLOCATION_REGISTERED,
	UM_ALLOCATION_PAGEABLE,
};

/* um_record_allocation.flags of pageable memory: what the kernel calls its initial heap and stack. */
#define UM_PAGEABLE_HEAP  1u
#define UM_PAGEABLE_STACK 2u

struct um_record_allocation {
	struct um_record header;
	uint32_t allocation;
	uint32_t kind;	/* enum um_allocation_kind */
	uint32_t flags; /* as given: hipMemAttach*, hipHostMalloc*; pageable: UM_PAGEABLE_* */
	int32_t device; /* current device at the call */
	uint64_t address;
	uint64_t bytes; /* as asked for */
	/*
	 * UM_OP_ALLOC that made it, or of pageable memory the UM_OP_HOST before the launch that
	 * first touched it; its free is a UM_OP_FREE.
	 */
	uint32_t op;
	uint32_t site;
	char name[]; /* NUL-terminated; "" when the program gave none */
};

/*
 * Behind each kind: which fields of um_record_op mean something, besides op, flags, thread, stream,
 * times, result, site, device and allocation. RANGE: offset, bytes.
 */
enum um_op_kind {
	UM_OP_ALLOC = 1,    /* RANGE */
	UM_OP_FREE,	    /* RANGE */
	UM_OP_ADVISE,	    /* RANGE, advice */
	UM_OP_PREFETCH,	    /* RANGE; value: the device of its stream */
	UM_OP_COPY,	    /* RANGE of the target, source_*, value; allocation 0: unknown memory */
	UM_OP_MEMSET,	    /* RANGE, value */
	UM_OP_LAUNCH,	    /* a UM_RECORD_KERNEL of the same op follows before any other op */
	UM_OP_SYNC_DEVICE,  /* - */
	UM_OP_SYNC_STREAM,  /* - */
	UM_OP_EVENT_RECORD, /* event */
	UM_OP_EVENT_SYNC,   /* event: the host waits */
	UM_OP_STREAM_WAIT,  /* event: the stream waits */
	UM_OP_STREAM_CREATE,  /* - */
	UM_OP_STREAM_DESTROY, /* - */
	UM_OP_ATTACH,	      /* hipStreamAttachMemAsync: RANGE, value */
	UM_OP_HOST,	      /* host touches of managed memory since the op of that kind before */
	UM_OP_RANGE,	/* a range that the program named (NVTX, roctx): its times; told again at
				 its end. A UM_RECORD_RANGE of the same op follows */
	UM_OP_NAME,	/* um_name(): RANGE; a UM_RECORD_PART of the same op follows a good one */
	UM_OP_NAME_END, /* um_unname(): offset */
	/* The program has profilers record from here on, or no more: hipProfilerStart,
	 * roctxProfilerResume, cuProfilerStart: value, the system's id of the thread that it is for, 0: all */
	UM_OP_PROFILER_START,
	UM_OP_PROFILER_STOP,
	UM_OP_CALLBACK,	    /* a host function ran in the order of the stream; its times */
	UM_OP_EVENT_QUERY,  /* event: the host asked, and it was done */
	UM_OP_STREAM_QUERY, /* the host asked, and all of the stream was done */
	UM_OP_KINDS
};

/* um_record_op.flags */
#define UM_OP_ASYNC	   1u  /* the call may return before the work is done */
#define UM_OP_NON_BLOCKING 2u  /* stream created with hipStreamNonBlocking */
#define UM_OP_UNTRACED	   4u  /* launch ran without hooks: its accesses are unknown */
#define UM_OP_UNSELECTED   8u  /* launch was not asked for (selection.h) */
#define UM_OP_POLICY	   16u /* umtrace -P's: not a call of the program's */

struct um_record_op {
	struct um_record header;
	uint32_t op;
	uint16_t kind; /* enum um_op_kind */
	uint16_t flags;
	uint32_t thread; /* 1 is the first host thread seen */
	uint32_t stream; /* 0 is the null stream */
	uint64_t start_ns;
	uint64_t end_ns; /* 0: not ended when this was written */
	int32_t result;	 /* hipError_t */
	uint32_t site;
	uint32_t allocation;
	uint32_t source_allocation;
	uint64_t offset; /* bytes within allocation */
	uint64_t source_offset;
	uint64_t bytes;
	/* target of advice and prefetch: ordinal, -1 host; of what is on a stream its device; else current */
	int32_t device;
	uint32_t advice; /* hipMemoryAdvise */
	uint32_t event;
	uint32_t
		value; /* memset: byte pattern; copy: hipMemcpyKind; attach: hipMemAttach*; profiler */
};

/*
 * Once before the launch runs, so that a kernel that crashes or hangs has a name, and once after.
 */
struct um_record_kernel {
	struct um_record header;
	uint32_t op;
	uint32_t ended;	  /* 0: before; the totals are 0 and mean nothing */
	uint32_t grid[3]; /* work-groups */
	uint32_t block[3];
	uint32_t lds_bytes; /* static and dynamic */
	uint32_t reserved2;
	uint64_t reads; /* hooked accesses by lanes to HIP allocations */
	uint64_t writes;
	uint64_t atomics;
	uint64_t bytes_read; /* by lanes, not lines */
	uint64_t bytes_written;
	char name[]; /* "mangled\0demangled\0" */
};

/* um_page_run.touch */
#define UM_TOUCH_READ	       1u
#define UM_TOUCH_WRITTEN       2u
#define UM_TOUCH_WRITTEN_FIRST 4u /* the first access of the op to the page wrote */
#define UM_TOUCH_LINES_UNKNOWN 8u /* page granularity only (host): masks are 0 */
/* Atomics on floating-point values, and those of them that an instruction of the hardware does. */
#define UM_TOUCH_ATOMIC_FLOAT	 16u
#define UM_TOUCH_ATOMIC_HARDWARE 32u

/* `pages` consecutive pages that were touched alike. Sorted by (allocation, first_page). */
struct um_page_run {
	uint32_t allocation;
	uint32_t first_page;
	uint32_t pages;
	uint32_t touch;
	uint64_t lines_read;	/* bit i: line i of the page, the same in each page of the run */
	uint64_t lines_written; /* atomics count as read and written */
	/* Both counts stop at UINT32_MAX, which says "at least so many". */
	uint32_t
		requests; /* coalesced requests per page: distinct lines per wave and instruction */
	uint32_t atomics; /* of those, requests by atomic instructions */
};

struct um_record_pages {
	struct um_record header;
	uint32_t op;
	uint32_t runs;
	struct um_page_run run[];
};

/* See access_stream.h for the payload. */
struct um_record_stream {
	struct um_record header;
	uint32_t op;
	uint32_t chunk;	      /* 0.. within the op */
	uint64_t first_group; /* smallest and largest linear group id in the chunk */
	uint64_t last_group;
	uint64_t touches; /* page touches that the chunk expands to */
	uint32_t payload_bytes;
	uint32_t reserved;
	unsigned char payload[]; /* padded to 8 */
};

enum um_loss_kind {
	UM_LOSS_OUTSIDE = 1,	    /* kernel accesses outside HIP allocations */
	UM_LOSS_HOST_UNWATCHED,	    /* host memory could not be watched */
	UM_LOSS_HOST_DURING_KERNEL, /* launches while other host threads ran, unwatched */
	UM_LOSS_UNSUPPORTED, /* a HIP function that returned hipErrorNotSupported; text names it */
	UM_LOSS_UNTRACED_LAUNCH,
	UM_LOSS_CHILD,		 /* a forked child used HIP: not traced */
	UM_LOSS_CUT_OFF,	 /* set by the ingest: the program ended without BYE */
	UM_LOSS_SIGNAL_HANDLER,	 /* records of HIP calls that a signal handler made within one */
	UM_LOSS_PARTLY_UNMAPPED, /* pageable allocations that lost a part of their mapping */
	UM_LOSS_DROPPED, /* records that the driver or CUPTI dropped, or that the spool had no room for */
	UM_LOSS_UNKNOWN_RECORD, /* of a kind or a layout that the tap does not know; text says which */
	UM_LOSS_TAP_OFF,	/* the tap did not start, or part of it; text says what and why */
	UM_LOSS_NAME,	/* names of memory that is none of HIP's, or of more than there is */
	UM_LOSS_POLICY, /* what of umtrace -P was not done; text says what */
};

struct um_record_loss {
	struct um_record header;
	uint32_t op; /* 0: the whole run */
	uint32_t kind;
	uint64_t count;
	char text[]; /* NUL-terminated detail, or "" */
};

/*
 * Addresses instead of allocations: whoever told them knows no more, and tells them late. The ingest
 * finds the allocation that lived there then, and the op that ran then. Devices: -1 is the host.
 */
struct um_record_time {
	struct um_record header;
	uint32_t op;
	int32_t device;
	uint64_t start_ns;
	uint64_t end_ns;
};

struct um_record_fault {
	struct um_record header;
	int32_t device;	  /* who faulted */
	uint32_t access;  /* enum um_fault_access of words.h */
	uint64_t address; /* of the page */
	uint64_t faults;  /* that the driver counted as this one */
	uint64_t start_ns;
	uint64_t end_ns; /* 0: not told */
	uint32_t site;	 /* of the host's faulting instruction; 0: not known */
	uint32_t reserved;
};

struct um_record_migration {
	struct um_record header;
	int32_t source;
	int32_t destination;
	uint32_t cause; /* enum um_cause of words.h; UINT32_MAX: not told */
	uint32_t reserved;
	uint64_t address;
	uint64_t bytes;
	uint64_t start_ns;
	uint64_t end_ns;
};

struct um_record_mapping {
	struct um_record header;
	int32_t device;	 /* whose page table */
	uint32_t change; /* enum um_mapping_change */
	uint32_t cause;	 /* as of a migration */
	uint32_t reserved;
	uint64_t address;
	uint64_t bytes;
	uint64_t at_ns;
};

enum um_event_kind {
	UM_EVENT_THRASHING = 1,
	UM_EVENT_THROTTLING,
};

struct um_record_event {
	struct um_record header;
	int32_t device;
	uint32_t kind; /* enum um_event_kind */
	uint64_t address;
	uint64_t bytes; /* 0: not told */
	uint64_t start_ns;
	uint64_t end_ns; /* 0: not told */
};

/* The longest name, with its NUL: longer ones are cut. */
#define UM_RANGE_NAME_BYTES 512u

struct um_record_range {
	struct um_record header;
	uint32_t op;
	uint32_t reserved;
	char name[]; /* NUL-terminated */
};

/*
 * A pointer that a frame of the stack has, to where the variable lies or before it: the variable may be
 * a member of what it points to.
 */
struct um_variable_pointer {
	uint32_t site;	      /* of the frame */
	uint16_t at_register; /* 1: it is in a register, of this number in DWARF */
	uint16_t reserved;
	int64_t offset;	 /* else where it lies, from the end of the frame */
	uint64_t before; /* bytes from where it points to the variable */
};
#define UM_VARIABLE_POINTERS 32u

/*
 * What hipMalloc() and its like put an allocation's address into, right behind its
 * UM_RECORD_ALLOCATION, before that returns. It lies in a frame of the stack, in a module's data, or
 * elsewhere, where only the pointers tell of it.
 */
struct um_record_variable {
	struct um_record header;
	uint32_t allocation;
	uint32_t site;	/* of the frame: the place in it that called; 0: it lies in none */
	int64_t offset; /* from the end of the frame (DWARF's CFA), or of the module from its base */
	uint32_t pointers; /* UM_VARIABLE_POINTERS at most */
	uint32_t reserved;
	struct um_variable_pointer pointer[];
	/* Behind them the module's path, NUL-terminated; "": it lies in none. */
};

/* um_record_loss.text of UM_LOSS_NAME */
#define UM_WRONG_NAME_TEXT                                                                         \
	"um_name() and um_unname() of memory that was not allocated, or of more than there is"

/* A name, cut as that of a range is. */
struct um_record_part {
	struct um_record header;
	uint32_t op;
	uint32_t allocation;
	uint64_t offset; /* within it */
	uint64_t bytes;
	uint32_t site;
	uint32_t whole; /* 1: it is all of the allocation */
	char name[];	/* NUL-terminated */
};

/*
 * `pages` consecutive pages of which the first access of this kind in the interval came from one site.
 * A run ends where a 2 MiB block of its allocation does.
 */
struct um_host_access_run {
	uint32_t allocation;
	uint32_t first_page;
	uint32_t pages;
	uint32_t access; /* UM_FAULT_READ or UM_FAULT_WRITE of words.h */
	uint32_t site;	 /* of the instruction; 0: not known */
	uint32_t touch;	 /* the how many-eth touch of the interval was the first of them */
};

struct um_record_host_access {
	struct um_record header;
	uint32_t op;
	uint32_t runs;
	struct um_host_access_run run[];
};

struct um_record_bye {
	struct um_record header;
	uint64_t end_ns;
};

#endif
