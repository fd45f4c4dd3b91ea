# figures.tsv of tests/gpu/applied to the README.md about them.
BEGIN { FS = "\t"; count = 0 }
/^#/ { next }
{
	program = $1; policy = $2
	if (!(program in seen)) { seen[program] = 1; programs[++count] = program }
	id = program SUBSEP policy
	have[id] = 1; runs[id] = $3
	for (q = 0; q < 3; q++) {
		p[id, q] = $(4 + 4 * q); m[id, q] = $(5 + 4 * q); least[id, q] = $(6 + 4 * q); most[id, q] = $(7 + 4 * q)
	}
	list[program] = list[program] (list[program] == "" ? "" : " ") policy
}
function abs(x) { return x < 0 ? -x : x }
function near(id, q) { # within 1 %, or what the card itself has between runs
	return p[id, q] >= least[id, q] * 0.99 && p[id, q] <= most[id, q] * 1.01
}
function kib(x) { return x >= 1048576 ? sprintf("%.4g MiB", x / 1048576) : sprintf("%.4g KiB", x / 1024) }
function bytes(id, q) { return m[id, q] == p[id, q] ? kib(m[id, q]) : kib(m[id, q]) " (" kib(p[id, q]) ")" }
function percent(x) { return sprintf("%+.0f %%", 100 * x) }
END {
	print "# Policies applied on an H200\n"
	print "`umtrace -P` on the card: each program without a policy (`base`) and under each, three times in turn; medians. Predicted is what the same"
	print "program does under the same policy without a GPU (`umtrace --machine=h200 --no-model -P`), by `nvidia_uvm` on `h200` (`umsim check`)."
	print "None of the programs and sizes was used in calibration: bfs, hotspot, kv_cache and transformer_step of `kernels/` were never measured before,"
	print "the others are of the test set (`tests/gpu/test_set.txt`). Made by `tests/gpu/applied` from [figures.tsv](figures.tsv).\n"
	print "- Card: NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-12-01; built by `umhipcc --nvidia --offload-arch=sm_90 -O2 -g`; `umtrace -q` (faults of the GPU)."
	print "- `advise` is what `umanalyze advise` wrote from the trace without a GPU, less the rules `allocate_as`, which cannot be applied on a GPU; the others"
	print "  are made by hand and alike for all: `prefetch` (all managed memory to the GPU before the first launch), `preferred` (preferred location GPU),"
	print "  `remote` (preferred location host, accessed by the GPU), `readmostly`, `drop` (the program's own hints left out)."
	print "- The policies are in [policies](policies); random_touch's `advise` said nothing but `allocate_as` and so is `base`. Of the traces those of jacobi2d.4M are kept"
	print "  (`measured/`, `accesses/`), all others are in the figures alone."
	print "- `drop` worked: the driver reads the parameters again that CUPTI shows to the tap, so that a prefetch can be led away (`trace/tap/tap_apply.h`)."
	print "- Bytes are those that moved, in brackets the prediction where it differs; accesses in place are told by no GPU. The time is that of the device or"
	print "  the link busy, so that the start of the process and what the host computes are not in it.\n"
	print "| program | policy | to the device | to the host | busy | least to most | change | predicted change | |"
	print "|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= count; i++) {
		program = programs[i]; base = program SUBSEP "base"
		n = split(list[program], policies, " ")
		best = ""; chosen = ""
		for (j = 1; j <= n; j++) {
			id = program SUBSEP policies[j]
			if (best == "" || m[id, 2] < m[program SUBSEP best, 2]) best = policies[j]
			if (chosen == "" || p[id, 2] < p[program SUBSEP chosen, 2]) chosen = policies[j]
		}
		for (j = 1; j <= n; j++) {
			id = program SUBSEP policies[j]; mark = ""
			line = "| " program " | " policies[j] " | " bytes(id, 0) " | " bytes(id, 1) " | " \
				sprintf("%.3g ms", m[id, 2] / 1e6) " | " sprintf("%.3g to %.3g", least[id, 2] / 1e6, most[id, 2] / 1e6)
			for (q = 0; q < 2; q++) { all_bytes++; good_bytes += near(id, q) }
			if (policies[j] != "base") {
				c = m[id, 2] / m[base, 2] - 1; d = p[id, 2] / p[base, 2] - 1
				line = line " | " percent(c) " | " percent(d)
				# a change that is larger than what the runs themselves differ by
				if (most[id, 2] < least[base, 2] || least[id, 2] > most[base, 2]) {
					changed++; signs += c * d > 0; sizes += abs(c - d) <= 0.2
					if (c * d <= 0)
						against = against (against == "" ? "" : ", ") program " " policies[j]
				} else same++
			} else line = line " | | "
			if (policies[j] == best) mark = "best"
			if (policies[j] == chosen) mark = mark (mark == "" ? "" : ", ") "recommended"
			print line " | " mark " |"
		}
		if (chosen == best) right++
		else {
			regret = m[program SUBSEP chosen, 2] / m[program SUBSEP best, 2] - 1
			within = least[program SUBSEP chosen, 2] <= most[program SUBSEP best, 2]
			ties += within
			wrong = wrong sprintf("%s%s: %s, %s was best by %.0f %%%s", wrong == "" ? "" : "; ", program, chosen, best, \
				100 * regret, within ? " (within what the runs differ by)" : "")
		}
	}
	print ""
	printf "- **Bytes**, each way: within 1 %% or the card's own spread in %d of %d.\n", good_bytes, all_bytes
	printf "- **Time**: in %d cases the change was larger than what the runs themselves differ by. Its sign was predicted right in %d of these, its size within 20 points\n", changed, signs
	printf "  of the time without the policy in %d. In %d others the card shows no difference.\n", sizes, same
	printf "  Its sign was wrong for: %s.\n", against == "" ? "none" : against
	printf "- **The recommended policy** (least predicted time, of these) was the best of those measured in %d of %d programs, and level with it in %d more.\n", right, count, ties
	printf "  Where not: %s.\n", wrong == "" ? "never" : wrong
}
