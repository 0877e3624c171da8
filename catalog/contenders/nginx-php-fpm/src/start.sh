#!/bin/bash
# start.sh DIR [OPTION OF PHP-FPM]...: both servers, until one of them ends or a signal comes.
# Started as root, each would give its workers to a user who may not be able to
# read the files, so the workers stay with whoever starts them.
dir=$1
shift
PATH=$PATH:/usr/sbin
if [ "$(id -u)" -eq 0 ]; then
    printf 'user = root\ngroup = root\n' >> "$dir/php-fpm.conf"
    set -- --allow-to-run-as-root "$@"
fi
# Debian names it for its version: the newest that is here.
"$(compgen -c php-fpm | sort -V | tail -n 1)" --nodaemonize --fpm-config "$dir/php-fpm.conf" "$@" &
php=$!
trap 'kill $php $nginx 2> /dev/null; wait' EXIT
trap 'exit 0' TERM INT
# nginx would answer 502 until PHP listens.
until [ -S "$dir/php.sock" ]; do
    kill -0 $php 2> /dev/null || exit 1
    sleep 0.05
done
nginx -p "$dir" -c "$dir/nginx.conf" -g "daemon off; user $(id -un) $(id -gn);" &
nginx=$!
# One without the other is no server: when either ends, so does this.
wait -n
exit 1
