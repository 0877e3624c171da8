#!/usr/bin/env bash
# Races the base and the commit that is checked out, in the current folder of the repository, and ends as `drome race` does. How
# servers are built, started and judged is what the base's drome.toml says: that of a pull request is never read.
#
#   DROME                 the program
#   DROME_ACTION_BASE     revision to compare with; empty: the first parent of the commit that is checked out
#   DROME_ACTION_MARGIN   largest slowdown that passes; empty: what the base's drome.toml says
#   DROME_ACTION_OPTIONS  further options of `drome race`, one per line
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/common.sh"

# Variables with which a program could write to the job, or act in its name. Builds and servers have no use for them. This prevents
# accidents only: all of the job's programs run as the same user.
HIDDEN=(GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_TOKEN GH_TOKEN ACTIONS_RUNTIME_TOKEN
    ACTIONS_ID_TOKEN_REQUEST_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL)

# No hook runs, whatever the repository's configuration says.
turn_hooks_off() {
    local n=${GIT_CONFIG_COUNT:-0}
    export "GIT_CONFIG_KEY_$n=core.hooksPath" "GIT_CONFIG_VALUE_$n=/dev/null" "GIT_CONFIG_COUNT=$((n + 1))"
}

commit() {
    git rev-parse --verify --quiet --end-of-options "$1^{commit}"
}

# Only in GitHub's own merge of a pull request is the first parent the base. The parents of any other commit are its author's choice.
check_merge() {
    [[ $head == "${GITHUB_SHA:-}" ]] && commit HEAD^2 > /dev/null ||
        fail "the pull request's merge is not checked out with its parents: let actions/checkout choose the ref, with fetch-depth: 2, or set the input base"
}

# The settings of the race, from the base.
write_settings() {
    git cat-file blob "$base:./drome.toml" > "$1" 2> /dev/null ||
        fail "the base ($base) has no drome.toml in this folder: merge one first (\`drome new race\` writes one), or set working-directory"
}

outcome_of() {
    case $1 in
        0) echo passed ;;
        3) echo slower ;;
        4) echo open ;;
        *) echo error ;;
    esac
}

echo "outcome=error" >> "$GITHUB_OUTPUT"
case ${GITHUB_EVENT_NAME:-} in
    pull_request_target | workflow_run)
        fail "a job of the event $GITHUB_EVENT_NAME has the repository's secrets, and this action runs the code of a pull request: use the event pull_request"
        ;;
esac
turn_hooks_off
head=$(commit HEAD) || fail "this folder is in no git repository with a commit: run actions/checkout first"
asked=${DROME_ACTION_BASE:-}
if [[ -z $asked ]]; then
    [[ ${GITHUB_EVENT_NAME:-} != pull_request ]] || check_merge
    asked=HEAD^1
fi
base=$(commit "$asked") || fail "there is no commit $asked here: let actions/checkout fetch it, with a larger fetch-depth"
work=$(mktemp -d "$RUNNER_TEMP/drome-XXXXXX")
write_settings "$work/settings.toml"

options=()
while read -r option; do
    [[ -z $option ]] || options+=("$option")
done <<< "${DROME_ACTION_OPTIONS:-}"
[[ -z ${DROME_ACTION_MARGIN:-} ]] || options+=("--fail-if-slower=$DROME_ACTION_MARGIN")

code=0
ignore_commands
env "${HIDDEN[@]/#/--unset=}" "$DROME" race --file "$work/settings.toml" --rev "$base" --rev "$head" --name base --name change \
    --verdict "$work/verdict.json" "${options[@]}" || code=$?
hear_commands

outcome=error
if [[ -s $work/verdict.json ]]; then
    outcome=$(outcome_of "$code")
    echo "verdict=$work/verdict.json" >> "$GITHUB_OUTPUT"
    "$DROME" report "$work/verdict.json" >> "$GITHUB_STEP_SUMMARY" || fail "something changed the verdict while its race was running"
fi
echo "outcome=$outcome" >> "$GITHUB_OUTPUT"
exit "$code"
