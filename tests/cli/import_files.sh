# Sourced: makes files such as other tools write, small and by hand, in the formats that trace/import/*.c describe.
# What they add up to stands beside them.

# make_nvprof FILE: 2 launches; to the device 64 KiB + 1.9375 MiB, to the host 64 KiB; faults of the GPU 256 + 89, of
# the host 2; thrashing, throttling, a remote mapping, a copy.
make_nvprof() {
	cat >"$1" <<-'END'
		the program's own output, before
		==4711== NVPROF is profiling process 4711, command: ./app 128
		==4711== Profiling application: ./app 128
		==4711== Profiling result:
		   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream        Unified Memory  Virtual Address  Name
		500.10ms         -                    -               -         -         -         -         -           -           -           -                -         -         -         PC 0x10003fcc   0x200060000000  [Unified Memory CPU page faults]
		510.00ms  10.000us                    -               -         -         -         -  4.0000KB  1.0000GB/s    Pageable      Device  Tesla V100-SXM2         1         7                     -                -  [CUDA memcpy HtoD]
		567.26ms  622.01us            (11 11 1)       (16 16 1)        40  3.0000KB        0B         -           -           -           -  Tesla V100-SXM2         1         7                     -                -  sweep(int, float*) [419]
		567.26ms  364.00us                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -                   256   0x200060000000  [Unified Memory GPU page faults]
		567.51ms  4.2880us                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -           64.000000KB   0x200060000000  [Unified Memory Memcpy HtoD]
		567.60ms  67.712us                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -                    89   0x200060020000  [Unified Memory GPU page faults]
		567.63ms  90.000us                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -            1.937500MB   0x200060010000  [Unified Memory Memcpy HtoD]
		567.70ms         -                    -               -         -         -         -         -           -           -           -  CPU, Tesla V100         -         -            4.000000KB   0x200060020000  [Unified Memory page thrash]
		567.71ms  461.73us                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -                     -   0x200060021000  [Unified Memory page throttle]
		567.75ms         -                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -           64.000000KB   0x200060030000  [Unified Memory remote mapping]
		569.00ms  100.00us            (11 11 1)       (16 16 1)        40  3.0000KB        0B         -           -           -           -  Tesla V100-SXM2         1        14                     -                -  sweep(int, float*) [420]
		569.53ms         -                    -               -         -         -         -         -           -           -           -                -         -         -         PC 0x10003da0   0x200060020000  [Unified Memory CPU page faults]
		569.60ms  3.0400us                    -               -         -         -         -         -           -           -           -  Tesla V100-SXM2         -         -           64.000000KB   0x200060020000  [Unified Memory Memcpy DtoH]

		Regs: Number of registers used per CUDA thread.
	END
}

# make_svm FILE: to the device 2 MiB for a fault and 4 MiB of a prefetch, to the host 2 MiB; faults 2, one of them with no
# end; a stop of queues, an unmapping.
make_svm() {
	cat >"$1" <<-'END'
		ROCr HMM event: 1000000 PAGE_FAULT_START Write GPU0(0x55d0c0) 140182667923456
		ROCr HMM event: 1010000 MIGRATE_START PAGEFAULT_GPU CPU->GPU0(0x55d0c0) [0x7f7ed2200000, 0x7f7ed23fffff]
		ROCr HMM event: 1210000 MIGRATE_END PAGEFAULT_GPU CPU->GPU0(0x55d0c0) [0x7f7ed2200000, 0x7f7ed23fffff]
		ROCr HMM event: 1250000 PAGE_FAULT_END Migration GPU0(0x55d0c0) 140182667923456
		ROCr HMM event: 1300000 MIGRATE_START PREFETCH CPU->GPU0(0x55d0c0) [0x7f7ed2400000, 0x7f7ed27fffff]
		ROCr HMM event: 1700000 MIGRATE_END PREFETCH CPU->GPU0(0x55d0c0) [0x7f7ed2400000, 0x7f7ed27fffff]
		ROCr HMM event: 2000000 QUEUE_EVICTION SVM GPU0(0x55d0c0)
		ROCr HMM event: 2900000 QUEUE_RESTORE GPU0(0x55d0c0)
		ROCr HMM event: 3000000 MIGRATE_START PAGEFAULT_CPU GPU0(0x55d0c0)->CPU [0x7f7ed2200000, 0x7f7ed23fffff]
		ROCr HMM event: 3100000 UNMAP_FROM_GPU MMU_NOTIFY_MIGRATE GPU0(0x55d0c0) [0x7f7ed2200000, 0x7f7ed23fffff]
		ROCr HMM event: 3200000 MIGRATE_END PAGEFAULT_CPU GPU0(0x55d0c0)->CPU [0x7f7ed2200000, 0x7f7ed23fffff]
		ROCr HMM event: 4000000 PAGE_FAULT_START Read GPU0(0x55d0c0) 140182667927552
	END
}

# make_totals FILE: to the device 36 migrations of 432865280 bytes, to the host 32 of 65011712; 33 faults.
make_totals() {
	cat >"$1" <<-'END'
		{"devices": [{"device_id": 2, "device_name": "gfx950", "migrations": {
		  "host_to_device": {"count": 36, "total_size_bytes": 432865280, "total_time_ns": 827859200},
		  "device_to_host": {"count": 32, "total_size_bytes": 65011712, "total_time_ns": 39135300},
		  "device_to_device": {"count": 0, "total_size_bytes": 0, "total_time_ns": 0}}}],
		 "summary": {"total_page_faults": 33, "xnack_enabled": true, "migration_triggers":
		  {"gpu_page_fault": 30, "cpu_page_fault": 2, "prefetch": 1, "ttm_eviction": 0, "unknown": 0}}}
	END
}

# make_nsys FILE [old]: 1 launch; to the device 64 KiB for faults, 128 KiB brought along, 1 MiB of a prefetch; to the host 64
# KiB; faults of the GPU 12, of the host 2. old: without what came with later versions.
make_nsys() {
	local address=", virtualAddress INTEGER, migrationCause INTEGER" cause2=", 47244640256, 2" cause3=", 47244705792, 3"
	local cause1=", 47246737408, 1"
	rm -f "$1"
	sqlite3 "$1" >/dev/null <<-END
		PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;
		CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
		INSERT INTO StringIds VALUES (1, 'sweep'), (2, 'sweep(int, float*)'), (3, 'cudaDeviceSynchronize_v3020'),
			(4, 'cudaMemPrefetchAsync_v8000'), (5, 'cudaGetDevice_v3020');
		CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER);
		INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100', 42949672960, 108);
		CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
			globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER,
			blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
		INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100000, 900000, 0, 7, 79020687360, 2, 1, 8, 1, 1, 256, 1, 1, 16, 32);
		CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER,
			returnValue INTEGER);
		INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50000, 60000, 5, 4, 0), (120000, 950000, 5, 3, 0),
			(10000, 20000, 5, 5, 0);
		CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start INTEGER, globalPid INTEGER, address INTEGER);
		INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (20000, 79020687360, 47244640256), (960000, 79020687360, 47244640256);
		CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start INTEGER, end INTEGER, globalPid INTEGER, deviceId INTEGER,
			address INTEGER, numberOfPageFaults INTEGER, faultAccessType INTEGER);
		INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (110000, 120000, 79020687360, 0, 47244640256, 11, 2),
			(130000, 140000, 79020687360, 0, 47244644352, 1, 1);
		COMMIT;
	END
	if [ "${2:-}" = old ]; then
		address="" cause1="" cause2="" cause3=""
	else
		sqlite3 "$1" "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER,
			address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);
			INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (15000, 79020687360, 0, 47244640256, 4194304, 4, 0),
			(990000, 79020687360, 0, 47244640256, 4194304, 4, 1)"
	fi
	sqlite3 "$1" "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
		bytes INTEGER, copyKind INTEGER $address);
		INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (61000, 90000, 0, 7, 1048576, 11 $cause1), (112000, 113000, 0, 7, 65536, 11
		$cause2), (114000, 116000, 0, 7, 131072, 11 $cause3), (970000, 971000, 0, 7, 65536, 12 $cause2)"
}

# make_rocpd FILE SUFFIX [nested]: 1 launch of 4 x 256 lanes; to the device 2 MiB for a fault, 4 MiB of a prefetch, to the host
# 2 MiB and a migration that failed; 1 fault, a stop of queues, 7 dropped events. Halves apart tell the same again.
make_rocpd() {
	local u=$2 open='{"kfd":' close='}'
	[ "${3:-}" != nested ] || open='{"kfd":{"kfd":' close='}}'
	rm -f "$1"
	sqlite3 "$1" >/dev/null <<-END
		PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;
		CREATE TABLE "rocpd_metadata$u" (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
		INSERT INTO "rocpd_metadata$u" (tag, value) VALUES ('schema_version', '3');
		CREATE TABLE "rocpd_string$u" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
		INSERT INTO "rocpd_string$u" (id, string) VALUES (1, 'KFD_PAGE_MIGRATE'), (2, 'KFD_PAGE_FAULT'), (3, 'KFD_QUEUE'),
			(4, 'KFD_EVENT_PAGE_MIGRATE'), (5, 'KFD_EVENT_DROPPED_EVENTS'), (6, 'HIP_RUNTIME_API_EXT'),
			(11, 'KFD_PAGE_MIGRATE_PAGEFAULT_GPU'), (12, 'KFD_PAGE_MIGRATE_PREFETCH'),
			(13, 'KFD_PAGE_MIGRATE_PAGEFAULT_CPU'), (14, 'KFD_PAGE_FAULT_WRITE_FAULT_MIGRATED'),
			(15, 'KFD_QUEUE_EVICT_SVM'), (16, 'KFD_EVENT_PAGE_MIGRATE_START'), (17, 'KFD_EVENT_DROPPED_EVENTS'),
			(18, 'hipMallocManaged'), (19, 'hipDeviceSynchronize'), (20, 'hipMemPrefetchAsync'), (21, 'hipMalloc');
		CREATE TABLE "rocpd_info_node$u" (id INTEGER PRIMARY KEY, hostname TEXT);
		INSERT INTO "rocpd_info_node$u" VALUES (1, 'frontier00001');
		CREATE TABLE "rocpd_info_process$u" (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, command TEXT);
		INSERT INTO "rocpd_info_process$u" VALUES (1, 1, 4711, './app 128');
		CREATE TABLE "rocpd_info_agent$u" (id INTEGER PRIMARY KEY, type TEXT, absolute_index INTEGER, name TEXT,
			product_name TEXT);
		INSERT INTO "rocpd_info_agent$u" VALUES (1, 'CPU', 0, 'EPYC', ''), (2, 'GPU', 1, 'gfx90a', 'AMD Instinct MI250X');
		CREATE TABLE "rocpd_info_kernel_symbol$u" (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
		INSERT INTO "rocpd_info_kernel_symbol$u" VALUES (1, '_Z5sweepi', 'sweep(int)');
		CREATE TABLE "rocpd_event$u" (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER, extdata TEXT);
		INSERT INTO "rocpd_event$u" VALUES
			(1, 1, 0, '$open{"start_address":"140182667919360","end_address":"140182670016512","src_agent_id":"0","dst_agent_id":"1","prefetch_agent_id":"-1","preferred_agent_id":"-1","error_code":"0"}$close'),
			(2, 1, 0, '$open{"start_address":"0x7f7ed2400000","end_address":"0x7f7ed2800000","src_agent_id":"0","dst_agent_id":"1","error_code":"0"}$close'),
			(3, 1, 0, '$open{"start_address":"140182667919360","end_address":"140182670016512","src_agent_id":"1","dst_agent_id":"0","error_code":"0"}$close'),
			(4, 1, 0, '$open{"start_address":"140182667919360","end_address":"140182670016512","src_agent_id":"1","dst_agent_id":"0","error_code":"-12"}$close'),
			(5, 2, 0, '$open{"agent_id":"1","address":"140182667923456"}$close'),
			(6, 3, 0, '$open{"agent_id":"1"}$close'),
			(7, 4, 0, '$open{"start_address":"140182667919360","end_address":"140182670016512","src_agent_id":"0","dst_agent_id":"1"}$close'),
			(8, 5, 0, '$open{"count":"7"}$close'), (9, 6, 1, '{}'), (10, 6, 2, '{}'), (11, 6, 3, '{}'), (12, 6, 4, '{}');
		CREATE TABLE "rocpd_region$u" (id INTEGER PRIMARY KEY, tid INTEGER, start INTEGER, end INTEGER, name_id INTEGER,
			event_id INTEGER);
		INSERT INTO "rocpd_region$u" (tid, start, end, name_id, event_id) VALUES (1, 1010000, 1210000, 11, 1),
			(1, 500000, 700000, 12, 2), (1, 3000000, 3200000, 13, 3), (1, 3300000, 3400000, 13, 4),
			(1, 1000000, 1250000, 14, 5), (1, 2000000, 2900000, 15, 6), (1, 1010000, 1010000, 16, 7),
			(1, 3500000, 3500000, 17, 8), (1, 100000, 200000, 18, 9), (1, 2950000, 2990000, 19, 10),
			(1, 490000, 710000, 20, 11), (1, 90000, 95000, 21, 12);
		CREATE TABLE "rocpd_arg$u" (id INTEGER PRIMARY KEY, event_id INTEGER, position INTEGER, type TEXT, name TEXT, value TEXT);
		INSERT INTO "rocpd_arg$u" (event_id, position, type, name, value) VALUES (11, 0, 'const void*', 'dev_ptr', '0x7f7ed2400000'),
			(11, 1, 'size_t', 'count', '4194304'), (11, 2, 'int', 'device', '0');
		CREATE TABLE "rocpd_kernel_dispatch$u" (id INTEGER PRIMARY KEY, tid INTEGER, agent_id INTEGER, kernel_id INTEGER,
			queue_id INTEGER, stream_id INTEGER, start INTEGER, end INTEGER, group_segment_size INTEGER,
			workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER,
			grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);
		INSERT INTO "rocpd_kernel_dispatch$u" VALUES (1, 1, 2, 1, 1, 0, 990000, 2900000, 64, 256, 1, 1, 1024, 1, 1, NULL);
		CREATE TABLE "rocpd_memory_copy$u" (id INTEGER PRIMARY KEY, start INTEGER, end INTEGER, dst_agent_id INTEGER,
			dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, size INTEGER, stream_id INTEGER);
		INSERT INTO "rocpd_memory_copy$u" VALUES (1, 300000, 400000, 2, 139637976727552, 1, 94000000000000, 65536, 0);
		CREATE TABLE "rocpd_memory_allocate$u" (id INTEGER PRIMARY KEY, agent_id INTEGER, type TEXT, level TEXT, start INTEGER,
			end INTEGER, address INTEGER, size INTEGER);
		INSERT INTO "rocpd_memory_allocate$u" VALUES (1, 2, 'ALLOC', 'REAL', 91000, 94000, 139637976727552, 1048576),
			(2, 2, 'ALLOC', 'SCRATCH', 95000, 96000, 139637980000000, 4096);
		COMMIT;
	END
	[ -z "$u" ] || sqlite3 "$1" "CREATE VIEW rocpd_region AS SELECT * FROM \"rocpd_region$u\""
}
