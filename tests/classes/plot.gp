# Throughput by footprint, in a file and on the terminal: `data` has a block of two columns a class.
set xlabel "footprint, % of device memory"
set ylabel "throughput, of that at 80 %"
set xrange [80:160]
set yrange [0:1.05]
set key at 158, 0.62 right
title_of(i) = word("linear:stream_triad cliff:jacobi2d collapse:matmul", i + 1)
set terminal svg size 640,400 font "sans,12"
set output svg
set grid
plot for [i=0:2] data index i using 1:2 with linespoints linewidth 2 title title_of(i) noenhanced
set output
unset grid
set terminal dumb 78 24
set ylabel
set title "throughput, of that at 80 %"
plot for [i=0:2] data index i using 1:2 with linespoints title title_of(i) noenhanced
