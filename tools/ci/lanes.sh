# lanes.sh: which lanes there are, and when they run. A new lane is a script beside this file and a word in this table.
#
#   lane         the whole of lane.sh
#   lane:quick   the same with WEFT_QUICK=1: what finds most in the least time
#   a+b          both at once, with half the cores each; they must not share a build tree

# With every commit, after `make test`.
always=(style seeds extras install model:quick)

# And one of these, chosen by the commit. They should take about equally long.
thirds=(
  'asan faults race'
  'tsan model mutants fuzz valgrind'
  'clang dev aarch64 tidy signals chaos differential'
)

# Only with `make check`: too long for a commit.
seldom=(long)

# Every lane, whole, each once: `make check`.
all_lanes() {
  printf '%s\n' release "${always[@]%:quick}" ${thirds[*]//+/ } "${seldom[@]}" | awk '!seen[$0]++'
}

# What a commit gets: 0, 1, 2 or all. A lane that runs whole does not run quickly as well.
lanes_of_third() {
  if [[ $1 == all ]]; then
    all_lanes | grep -vx release
    return
  fi
  local chosen=${thirds[$1]} lane
  for lane in "${always[@]}"; do
    [[ " ${chosen//+/ } " == *" ${lane%:quick} "* ]] || echo "$lane"
  done
  printf '%s\n' $chosen
}
