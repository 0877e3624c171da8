# gnuplot -c docs/simulation/plots.gp   (in the project's folder; docs/simulation.md says how its data are made)
set datafile separator ","
set terminal svg size 900,420 dynamic enhanced font "sans-serif,13" background rgb "white"
set grid back linecolor rgb "#dddddd"
set key outside right

name(i) = i == 1 ? "signed ranks (drome's)" : i == 2 ? "order statistics" : i == 3 ? "Student's t" : \
          i == 4 ? "bootstrap; median" : i == 5 ? "bootstrap; studentised" : "bootstrap; BCa"

set output "docs/simulation/coverage.svg"
set title "How often a 95 % interval contains the true value (one point for each kind of noise)"
set xlabel "blocks"
set ylabel "coverage, %"
set xrange [5:13]
set xtics (6, 8, 10, 12)
set yrange [75:100]
set arrow 1 from 5,95 to 13,95 nohead linecolor rgb "#444444" dashtype 2
plot for [i=1:6] "docs/simulation/coverage.csv" \
    using (strcol(3) eq name(i) ? $1 + (i - 3.5) * 0.18 : NaN):($4 * 100) with points pointtype i linecolor i title name(i)

set output "docs/simulation/power.svg"
unset arrow 1
set title "A race at 2 % noise: how often it is sure which is faster, and after how many blocks (median)"
set xlabel "true difference, %"
set ylabel "sure, %"
set y2label "blocks"
set xrange [0:10]
set xtics 1
set yrange [0:105]
set y2range [0:45]
set y2tics
noises = "Independent Drifting Autocorrelated HeavyTailed TwoModes"
plot for [n in noises] "docs/simulation/power.csv" \
    using ($2 * 100):(strcol(1) eq n ? $3 * 100 : NaN) with linespoints title n, \
    "docs/simulation/power.csv" using ($2 * 100):(strcol(1) eq "Independent" ? $5 : NaN) axes x1y2 \
    with linespoints dashtype 3 linecolor rgb "#888888" title "blocks (independent noise)"
