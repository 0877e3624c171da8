#!/bin/sh
# A server that gets no length, and not all at once, can only answer in chunks.
printf 'Content-Type: text/plain\r\n\r\nHello '
sleep 0.05
printf 'World\n'
