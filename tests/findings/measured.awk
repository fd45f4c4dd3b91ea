# The table of tests/findings/measured. figures.tsv: name, variant, repetition, bytes to device, to host, ns
# busy; then the rows: name, kind, the faulty one's predicted bytes to device, to host, ns, the changed one's.
BEGIN { FS = "\t" }

function size(bytes,   sign) {
	sign = bytes < 0 ? "-" : ""
	bytes = bytes < 0 ? -bytes : bytes
	if (bytes < 1024)
		return sign bytes " B"
	if (bytes < 1048576)
		return sign sprintf("%.4g KiB", bytes / 1024)
	return sign sprintf("%.4g MiB", bytes / 1048576)
}

function us(ns) {
	return sprintf("%.0f", ns / 1000)
}

# The least, the median and the most of what each repetition of the one took more than any of the other.
function spread(name,   i, j, n, value, all) {
	n = 0
	for (i = 1; i <= count[name, "faulty"]; i++)
		for (j = 1; j <= count[name, "corrected"]; j++) {
			value = busy[name, "faulty", i] - busy[name, "corrected", j]
			all[++n] = value
		}
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && all[j] < all[j - 1]; j--) {
			value = all[j]; all[j] = all[j - 1]; all[j - 1] = value
		}
	least = all[1]; most = all[n]; middle = all[int((n + 1) / 2)]
}

# "yes"; "within spread": the card's repetitions do not tell which is the faster.
function verdict(predicted) {
	if (least <= 0 && most >= 0)
		return "within spread"
	return (predicted > 0) == (middle > 0) ? "yes" : "**no**"
}

FNR == NR {
	n = ++count[$1, $2]
	bytes[$1, $2, n] = $4 + $5
	busy[$1, $2, n] = $6
	next
}

FNR == 1 {
	print "| twin | finding | bytes saved, predicted | measured | µs saved, predicted | measured | least to most | of µs busy, measured | sign of time |"
	print "|---|---|---|---|---|---|---|---|---|"
}

{
	predicted_bytes = $3 + $4 - $6 - $7
	low = high = bytes[$1, "faulty", 1] - bytes[$1, "corrected", 1]
	for (i = 1; i <= count[$1, "faulty"]; i++)
		for (j = 1; j <= count[$1, "corrected"]; j++) {
			value = bytes[$1, "faulty", i] - bytes[$1, "corrected", j]
			low = value < low ? value : low
			high = value > high ? value : high
		}
	measured_bytes = low == high ? size(low) : size(low) " to " size(high)
	saved = $5 - $8
	spread($1)
	before = 0
	for (i = 1; i <= count[$1, "faulty"]; i++)
		before += busy[$1, "faulty", i] / count[$1, "faulty"]
	sign = verdict(saved)
	printf "| %s | %s | %s | %s | %s | %s | %s to %s | %s | %s |\n", $1, $2, size(predicted_bytes), measured_bytes,
		us(saved), us(middle), us(least), us(most), us(before), sign
	all++
	exact += low == high && low == predicted_bytes
	right += sign == "yes"
	unclear += sign == "within spread"
}

END {
	printf "\nOf %d: bytes saved exactly as predicted in %d; time saved or lost as predicted in %d, within the card's spread in %d, otherwise in %d.\n",
		all, exact, right, unclear, all - right - unclear
}
