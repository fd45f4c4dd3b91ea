# class|percent|footprint|ns|bytes to device|to host|evicted|faults -> the table
function mib(bytes) { return sprintf("%.1f", bytes / 1048576) }
BEGIN {
	print "class     footprint  throughput      time  faults  to device    again  evicted  moved for each"
	print "           % of mem    of 80 %        ms               MiB      MiB      MiB    byte touched"
}
$1 != class {
	if (class) print ""
	ns = $4
	first = $5
}
{
	printf "%-8s  %9d  %10.3f  %8.2f  %6d  %9s  %7s  %7s  %14.2f\n", $1 == class ? "" : $1, $2, ns / $4, $4 / 1e6, $8,
		mib($5), mib($5 - first), mib($7), ($5 + $6) / $3
	class = $1
}
