# shellcheck shell=bash
# What the action's scripts share: how they fail, and a log in which nothing that a pull request prints is a command to the runner.

fail() {
    echo "drome action: $1" >&2
    exit 1
}

# From now on the runner takes lines such as "::add-mask::" for text. Only the token, which nobody else knows, changes that.
ignore_commands() {
    log_token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "::stop-commands::$log_token"
}

hear_commands() {
    echo "::$log_token::"
}
