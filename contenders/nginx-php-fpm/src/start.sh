#!/bin/sh
# start.sh DIR [OPTION OF PHP-FPM]...: both servers, until one ends or a signal comes.
# Started as root, each would give its workers to a user who may not be able to
# read the files, so the workers stay with whoever starts them.
dir=$1
shift
if [ "$(id -u)" -eq 0 ]; then
    printf 'user = root\ngroup = root\n' >> "$dir/php-fpm.conf"
    set -- --allow-to-run-as-root "$@"
fi
/usr/sbin/php-fpm8.2 --nodaemonize --fpm-config "$dir/php-fpm.conf" "$@" &
php=$!
# nginx would answer 502 until PHP listens.
until [ -S "$dir/php.sock" ]; do
    kill -0 $php || exit 1
    sleep 0.05
done
/usr/sbin/nginx -p "$dir" -c "$dir/nginx.conf" -g "daemon off; user $(id -un) $(id -gn);" &
nginx=$!
trap 'kill $php $nginx' TERM INT
wait
wait
