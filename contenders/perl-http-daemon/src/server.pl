use strict;
use warnings;

use HTTP::Daemon;
use HTTP::Response;

my ($port, $assets) = @ARGV;

# Read once: the run measures the server, not the file system.
open my $file, '<:raw', "$assets/html-228.html" or die "html-228.html: $!\n";
my $page = do { local $/; <$file> };

my %replies = (
    '/'      => ['text/html',  $page],
    '/hello' => ['text/plain', "Hello World\n"],
    '/pong'  => ['text/plain', 'PONG'],
);

# A client that hangs up early must not end the server.
$SIG{PIPE} = 'IGNORE';

# The Listen backlog stays at the module's default. ReuseAddr lets the server
# start again on a port whose last connections it has closed itself.
my $daemon = HTTP::Daemon->new(
    LocalAddr => '127.0.0.1',
    LocalPort => $port,
    ReuseAddr => 1,
) or die "port $port: $@\n";

while (1) {
    my $client = $daemon->accept or next;

    # One request for each connection: this server is serial, so a connection
    # kept open would block every other client.
    if (my $request = $client->get_request) {
        my $reply = $replies{ $request->uri->path };
        if ($reply) {
            my ($type, $body) = @$reply;
            $client->send_response(HTTP::Response->new(
                200, 'OK', ['Content-Type' => $type, Connection => 'close'], $body,
            ));
        }
        else {
            $client->send_response(HTTP::Response->new(
                404, 'Not Found', ['Content-Type' => 'text/plain', Connection => 'close'], "Not Found\n",
            ));
        }
    }
    $client->close;
}
