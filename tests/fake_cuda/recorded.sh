#!/bin/sh
# recorded.sh TRACE: the callbacks and activity records of a measured trace, as a script for the stand-ins:
# what CUPTI told on the card, in the order of its times (times themselves become those of the replay).
# For programs of managed allocations, launches, prefetches, synchronisation and frees on one device.
set -eu
echo "resource 1 0x5000"
sqlite3 "$1" "
WITH place AS (SELECT allocation, address FROM allocation),
causes(word, code) AS (VALUES ('prefetch', 1), ('device_fault', 2), ('host_fault', 2), ('driver_prefetch', 3),
	('eviction', 4)),
accesses(word, code) AS (VALUES ('read', 1), ('write', 2), ('atomic', 3), ('prefetch', 4)),
lines(at, line) AS (
	SELECT o.start_ns, CASE o.kind
		WHEN 'alloc' THEN printf('call 371 context=0x5000 P:%d z:%d u:1', p.address, o.bytes)
		WHEN 'free' THEN printf('call 245 context=0x5000 p:%d', p.address)
		WHEN 'sync_device' THEN 'call 17 context=0x5000'
		WHEN 'prefetch' THEN printf('call 716 context=0x5000 p:%d z:%d u:%d u:0 u:0 p:0',
			p.address + o.offset_bytes, o.bytes, CASE o.device WHEN -1 THEN 2 ELSE 1 END)
		WHEN 'launch' THEN printf('call 307 context=0x5000 symbol=%s p:0x5 u:%d u:%d u:%d u:%d u:%d u:%d u:0 p:0 p:0 p:0'
			|| char(10) || 'activity 10 216 z@16:now-1000000 z@24:now+9000000000 u@40:0 u@44:1 u@48:7 u@52:%d u@56:%d'
			|| ' u@60:%d u@64:%d u@68:%d u@72:%d u@92:corr s@104:%s', k.symbol, k.grid_x, k.grid_y, k.grid_z, k.block_x,
			k.block_y, k.block_z, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.symbol)
		END
	FROM op o LEFT JOIN place p USING (allocation) LEFT JOIN kernel k ON k.op = o.op
	UNION ALL
	SELECT m.start_ns, printf('activity 25 104 u@4:%d z@8:%d z@16:now z@24:now+%d z@32:%d u@40:0 u@44:0 u@56:%d',
		CASE m.source WHEN -1 THEN 1 ELSE 2 END, m.bytes, m.duration_ns, p.address + m.first_page * 4096, c.code)
	FROM migration m JOIN place p USING (allocation) JOIN causes c ON c.word = m.cause
	UNION ALL
	SELECT f.start_ns, CASE f.device
		WHEN -1 THEN printf('activity 25 104 u@4:3 z@8:0x1000 z@16:now z@32:%d u@40:0xffffffff u@44:0 u@56:%d',
			p.address + f.first_page * 4096, a.code)
		ELSE printf('activity 25 104 u@4:4 z@8:%d z@16:now z@24:now+%d z@32:%d u@40:0 u@44:0 u@56:%d',
			f.faults, f.duration_ns, p.address + f.first_page * 4096, a.code) END
	FROM fault f JOIN place p USING (allocation) JOIN accesses a ON a.word = f.access
)
SELECT line FROM lines WHERE line IS NOT NULL ORDER BY at"
