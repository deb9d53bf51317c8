#!/usr/bin/env bash
# Runs heaptrim guard for a pull request, or for a push to a branch.
#
#   BASE       revision to compare with; by default origin/$GITHUB_BASE_REF, and without
#              that all benchmarks are run
#   ARGUMENTS  further arguments of heaptrim guard
#   RESULTS    folder for the comment, the log and the counts
#   PAGE       URL that the comment links to
#
# A broken budget is written to GITHUB_OUTPUT, as failed=true; the exit code is 0 then, so
# that the steps behind this one can tell of it.
set -euo pipefail

results=${RESULTS:-heaptrim-results}
mkdir -p "$results"
base=${BASE:-}
if [[ -z "$base" && -n "${GITHUB_BASE_REF:-}" ]]; then
	base="origin/$GITHUB_BASE_REF"
fi

# Clones of CI often hold one commit. Of the branch to compare with, as much is fetched as
# shows where this one left it.
if [[ "$base" == origin/* ]]; then
	branch=${base#origin/}
	git fetch --quiet --no-tags --depth=1 origin "+refs/heads/$branch:refs/remotes/origin/$branch"
	for depth in 10 100 1000; do
		git merge-base "$base" HEAD >/dev/null 2>&1 && break
		git fetch --quiet --no-tags --deepen="$depth" origin "+refs/heads/$branch:refs/remotes/origin/$branch" "$(git rev-parse HEAD)" 2>/dev/null ||
			git fetch --quiet --no-tags --deepen="$depth" origin "+refs/heads/$branch:refs/remotes/origin/$branch" || break
	done
fi

args=(-annotations -md "$results/comment.md" -json "$results/guard.json" -sarif "$results/guard.sarif" -html "$results/guard.html" -o "$results")
if [[ -n "$base" ]]; then
	args+=(-base "$base")
else
	args+=(-all)
fi
if [[ -n "${PAGE:-}" ]]; then
	args+=(-page "$PAGE")
fi
# The arguments are words, as they would be on a command line.
read -r -a more <<<"${ARGUMENTS:-}"

status=0
heaptrim guard "${args[@]}" ${more[@]+"${more[@]}"} || status=$?
if [[ -s "$results/comment.md" ]]; then
	cat "$results/comment.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
	echo "results=$results" >>"${GITHUB_OUTPUT:-/dev/null}"
fi
case $status in
0) echo "failed=false" >>"${GITHUB_OUTPUT:-/dev/null}" ;;
3)
	echo "failed=true" >>"${GITHUB_OUTPUT:-/dev/null}"
	# Where no step follows that could fail, this one does.
	[[ -n "${GITHUB_OUTPUT:-}" ]] || exit 3
	;;
*) exit "$status" ;;
esac
