#!/usr/bin/env bash
# Writes the comment of heaptrim guard to a pull request, or brings the one that is there up
# to date. Works with GitHub and Gitea. The token of a fork's pull request may not write: the
# job summary has the same text.
#
#   TOKEN, NUMBER, COMMENT  token, number of the pull request, file with the comment
#   GITHUB_API_URL, GITHUB_REPOSITORY  as the runner sets them
set -euo pipefail

marker='<!-- heaptrim guard -->'
comments="${GITHUB_API_URL:?}/repos/${GITHUB_REPOSITORY:?}/issues"

api() {
	curl --silent --show-error --fail-with-body -H "Authorization: token ${TOKEN:-}" -H 'Content-Type: application/json' "$@"
}

give_up() {
	echo "::notice title=heaptrim guard::no comment could be written, which is so for pull requests of forks; the job summary has it"
	exit 0
}

[[ -n "${TOKEN:-}" ]] || give_up
body=$(jq --raw-input --slurp '{body: .}' <"${COMMENT:?}")
id=
for page in 1 2 3 4 5; do
	list=$(api "$comments/${NUMBER:?}/comments?per_page=100&page=$page") || give_up
	id=$(jq --raw-output --arg marker "$marker" '[.[] | select(.body | startswith($marker)) | .id] | first // empty' <<<"$list")
	[[ -n "$id" || $(jq length <<<"$list") -lt 100 ]] && break
done
if [[ -n "$id" ]]; then
	api -X PATCH --data-binary @- "$comments/comments/$id" <<<"$body" >/dev/null || give_up
else
	api -X POST --data-binary @- "$comments/$NUMBER/comments" <<<"$body" >/dev/null || give_up
fi
