# The tables of tests/gpu/report. `part` says what is read: 1 test_set.txt, 2 losses.tsv, 3 figures.tsv,
# 4 times.tsv.

BEGIN {
	columns = split("h2d_bytes h2d_records d2h_bytes d2h_records gpu_fault_records gpu_faults " \
		"cpu_faults remote_maps busy_ns kernel_ns launches", column, " ")
}

part == 1 {
	in_test_set[$1] = 1
}

part == 2 {
	lost[$4] += $5
}

part == 3 {
	note_name($3)
	traced[$3] = 1
	for (c = 1; c <= columns; c++)
		add($1 "/" $3 "/" column[c], $(3 + c))
}

part == 4 {
	note_name($3)
	add($1 "/" $3 "/all", $4)
	if ($5 != "")
		add($1 "/" $3 "/gpu", $5)
	else
		is_run[$3] = 1
}

END {
	print "## Configurations\n"
	table(0)
	print "\n## Runs of kernels/\n"
	table(1)
	print "\n`H2D`, `D2H`: bytes that crossed the link to the device and to the host, and records. GPU faults: records, and the sum of their"
	print "values. CPU faults: of `--faults=all`. Maps: remote mappings. Busy: the sum of the transfers' own times. Kernels: the sum of the"
	print "launches' own times. All else of `--faults=gpu`.\n"
	cost()
	losses()
}

function note_name(name)
{
	if (!(name in known)) {
		known[name] = 1
		names[++name_count] = name
	}
}

function add(key, value,    i)
{
	for (i = count[key]++; i > 0 && values[key, i - 1] > value + 0; i--)
		values[key, i] = values[key, i - 1]
	values[key, i] = value + 0
}

function median(key,    n)
{
	n = count[key]
	return n % 2 ? values[key, (n - 1) / 2] : (values[key, n / 2 - 1] + values[key, n / 2]) / 2
}

# Median, least and most, each divided.
function spread(key, unit,    low, high)
{
	if (!count[key])
		return ""
	low = sprintf("%.0f", values[key, 0] / unit)
	high = sprintf("%.0f", values[key, count[key] - 1] / unit)
	return sprintf("%.0f", median(key) / unit) (low == high ? "" : " (" low "–" high ")")
}

function table(runs,    i, name, gpu)
{
	print "| name | test | H2D bytes | records | D2H bytes | records | GPU faults | sum | CPU faults | maps | busy µs | kernels µs |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= name_count; i++) {
		name = names[i]
		if (!(name in traced) || (name in is_run) != runs)
			continue
		gpu = "gpu/" name "/"
		printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name,
			name in in_test_set ? "test" : "", spread(gpu "h2d_bytes", 1),
			spread(gpu "h2d_records", 1), spread(gpu "d2h_bytes", 1),
			spread(gpu "d2h_records", 1), spread(gpu "gpu_fault_records", 1),
			spread(gpu "gpu_faults", 1), spread("all/" name "/cpu_faults", 1),
			spread(gpu "remote_maps", 1), spread(gpu "busy_ns", 1000),
			spread(gpu "kernel_ns", 1000)
	}
}

# --- what the tap costs ---

function ratio(mode, name, what,    untraced)
{
	untraced = median("untraced/" name "/" what)
	return untraced ? median(mode "/" name "/" what) / untraced : 0
}

# The q-th of all ratios, q from 0 to 1.
function quantile(mode, what, runs, q,    i, key)
{
	key = "ratios/" mode "/" what "/" runs
	if (!(key in count))
		for (i = 1; i <= name_count; i++)
			if ((names[i] in is_run) == runs && count[mode "/" names[i] "/" what])
				add(key, ratio(mode, names[i], what))
	if (!count[key])
		return ""
	return sprintf("%.2f", values[key, int(q * (count[key] - 1) + 0.5)])
}

function cost_line(text, mode, what, runs)
{
	if (quantile(mode, what, runs, 0.5) != "")
		printf "| %s | %s | %s | %s | %s |\n", text, mode, quantile(mode, what, runs, 0.5),
			quantile(mode, what, runs, 0.9), quantile(mode, what, runs, 1)
}

function cost(    i, m, mode, name, n)
{
	print "## Cost of the tap\n"
	print "Time traced over time untraced, of medians; of all ratios the median, the 90th percentile and the largest. *cupti*: no tap, but"
	print "NVIDIA's CUPTI with the same records enabled as for `--faults=gpu`, which are thrown away (tests/gpu/bare_cupti.c): the least that any"
	print "tool costs that asks for them.\n"
	print "| what | `--faults` | median | 90 % | largest |"
	print "|---|---|---|---|---|"
	n = split("cupti off gpu all", modes, " ")
	for (m = 1; m <= n; m++)
		cost_line("configuration, whole", modes[m], "all", 0)
	for (m = 1; m <= n; m++)
		cost_line("its GPU steps, from launch to end", modes[m], "gpu", 0)
	cost_line("run of kernels/, umtrace's own start and end with it", "gpu", "all", 1)
	print "\n| name | untraced ms | cupti | off | gpu | all | GPU steps ms | cupti | off | gpu | all |"
	print "|---|---|---|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= name_count; i++) {
		name = names[i]
		printf "| %s | %.2f", name, median("untraced/" name "/all") / 1e6
		for (m = 1; m <= n; m++)
			printf " | %s", cell(modes[m], name, "all")
		printf " | %s", count["untraced/" name "/gpu"] ? sprintf("%.2f", median("untraced/" name "/gpu") / 1e6) : ""
		for (m = 1; m <= n; m++)
			printf " | %s", cell(modes[m], name, "gpu")
		print " |"
	}
}

function cell(mode, name, what)
{
	return count[mode "/" name "/" what] ? sprintf("%.2f", ratio(mode, name, what)) : ""
}

function losses(    kind, any)
{
	print "\n## Losses\n"
	for (kind in lost) {
		any = 1
		printf "- %s: %d\n", kind, lost[kind]
	}
	if (!any)
		print "None."
}
