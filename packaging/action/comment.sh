#!/usr/bin/env bash
# Writes the verdict of another workflow's run into the one comment of its pull request. This runs with a token that may write, so
# whatever a pull request can choose (its artifact, its branch's name) is data: the artifact is one file that `drome report` reads,
# and GitHub, not the artifact, says which pull request it is.
#
#   DROME                  the program
#   DROME_ACTION_ARTIFACT  name of the artifact with the file verdict.json
#   DROME_ACTION_AUTHOR    login whose comment is kept up to date
#   DROME_ACTION_MARKER    name in the comment's hidden first line
#   GH_TOKEN               for gh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

# The largest sizes of an artifact and of the file in it, in bytes.
MOST_PACKED=1048576
MOST_BYTES=262144

leave() {
    echo "no comment: $1"
    exit 0
}

# A value of the event that started this workflow; fails if it has none.
event() {
    jq --exit-status --raw-output "$1" "$GITHUB_EVENT_PATH"
}

is_number() {
    [[ $1 =~ ^[0-9]{1,19}$ ]]
}

# The numbers of the open pull requests whose head is the commit that was measured, in the repository and on the branch of that run.
pull_requests() {
    local owner branch repository
    owner=$(event .workflow_run.head_repository.owner.login)
    branch=$(event .workflow_run.head_branch)
    repository=$(event .workflow_run.head_repository.id)
    gh api --method GET "repos/$GITHUB_REPOSITORY/pulls" -f state=open -f "head=$owner:$branch" -f per_page=100 |
        jq --raw-output --arg commit "$commit" --arg repository "$repository" \
            '.[] | select(.head.sha == $commit and (.head.repo.id | tostring) == $repository) | .number'
}

# The number and the size of the run's artifact.
artifact() {
    gh api --method GET "repos/$GITHUB_REPOSITORY/actions/runs/$run/artifacts" -f "name=$name" -f per_page=100 |
        jq --raw-output --arg name "$name" \
            '[.artifacts[] | select(.name == $name and (.expired | not))] | max_by(.id) // empty | "\(.id) \(.size_in_bytes)"'
}

# Unpacks the artifact's verdict.json and nothing else, and no more bytes than a verdict can have.
download() {
    gh api "repos/$GITHUB_REPOSITORY/actions/artifacts/$1/zip" > "$work/verdict.zip"
    unzip -p "$work/verdict.zip" verdict.json < /dev/null | head -c $((MOST_BYTES + 1)) > "$work/verdict.json" ||
        fail "the artifact has no readable verdict.json of at most $MOST_BYTES bytes"
}

# The number of the author's comment that begins with the marker.
own_comment() {
    gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$number/comments?per_page=100" |
        jq --raw-output --slurp --arg author "$author" --arg marker "$(head -n 1 "$work/comment.md")" \
            '[.[][] | select(.user.login == $author and (.body | split("\n")[0] // "" | rtrimstr("\r")) == $marker)][0].id // empty'
}

ignore_commands
trap hear_commands EXIT
name=${DROME_ACTION_ARTIFACT:-drome-verdict}
author=${DROME_ACTION_AUTHOR:-github-actions[bot]}
[[ ${GITHUB_EVENT_NAME:-} == workflow_run ]] || fail "this is for the event workflow_run, not for ${GITHUB_EVENT_NAME:-none}"
[[ $(event .workflow_run.event) == pull_request ]] || leave "the run was not of a pull request"
run=$(event .workflow_run.id)
commit=$(event .workflow_run.head_sha)
is_number "$run" && [[ $commit =~ ^[0-9a-f]{40,64}$ ]] || fail "the event names no run or no commit"
event .workflow_run.head_repository.id > /dev/null || leave "the repository of the pull request is gone"

number=$(pull_requests)
[[ -n $number ]] || leave "no open pull request has this commit as its head: it was closed, or there is a newer commit"
is_number "$number" || leave "several open pull requests have this head"
found=$(artifact)
[[ -n $found ]] || leave "the run has no artifact $name: its own log says why"
read -r id bytes <<< "$found"
is_number "$id" && is_number "$bytes" && ((bytes <= MOST_PACKED)) || fail "the artifact has more than $MOST_PACKED bytes"

work=$(mktemp -d "$RUNNER_TEMP/drome-XXXXXX")
download "$id"
env --unset=GH_TOKEN "$DROME" report "$work/verdict.json" --marker "${DROME_ACTION_MARKER:-race}" > "$work/comment.md"
printf '\nMeasured for %s in [run %s](%s/%s/actions/runs/%s).\n' \
    "$commit" "$run" "${GITHUB_SERVER_URL:-https://github.com}" "$GITHUB_REPOSITORY" "$run" >> "$work/comment.md"

own=$(own_comment)
if [[ -z $own ]]; then
    to=(--method POST "repos/$GITHUB_REPOSITORY/issues/$number/comments")
else
    is_number "$own" || fail "GitHub gave no number of a comment"
    to=(--method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$own")
fi
jq --raw-input --slurp '{body: .}' "$work/comment.md" | gh api "${to[@]}" --input - --silent
echo "commented pull request $number"
