use strict;
use warnings;

use HTTP::Daemon;
use HTTP::Response;
use JSON::PP;
use LWP::MediaTypes qw(guess_media_type);

my ($port, $assets) = @ARGV;

# Read once: the run measures the server, not the file system.
open my $file, '<:raw', "$assets/html-228.html" or die "html-228.html: $!\n";
my $page = do { local $/; <$file> };

# Perl's hashes have no order of their own.
my $json = JSON::PP->new->canonical;

my %routes = (
    'GET /'      => sub { ('text/html', $page) },
    'GET /hello' => sub { ('text/plain', "Hello World\n") },
    'GET /pong'  => sub { ('text/plain', 'PONG') },
    'GET /json'  => sub {
        my %query = $_[0]->uri->query_form;
        ('application/json', $json->encode({ message => 'Hello World', number => int $query{n} }));
    },
    'POST /echo' => sub { ('application/octet-stream', $_[0]->content) },
);

# One request for each connection: this server is serial, so a connection
# kept open would block every other client.
sub reply {
    my ($client, $status, $reason, $type, $body) = @_;
    $client->send_response(HTTP::Response->new(
        $status, $reason, ['Content-Type' => $type, Connection => 'close'], $body,
    ));
}

# The module's send_file_response would not tell the client of the close.
sub reply_with_file {
    my ($client, $path, $file) = @_;
    $client->send_basic_header(200);
    $client->send_header(
        'Content-Type'   => scalar guess_media_type($path),
        'Content-Length' => -s $file,
        Connection       => 'close',
    );
    $client->send_crlf;
    $client->send_file($file);
}

# A client that hangs up early must not end the server.
$SIG{PIPE} = 'IGNORE';

# The Listen backlog stays at the module's default. ReuseAddr lets the server
# start again on a port whose last connections it has closed itself.
my $daemon = HTTP::Daemon->new(
    LocalAddr => $ENV{DROME_HOST} // '127.0.0.1',
    LocalPort => $port,
    ReuseAddr => 1,
) or die "port $port: $@\n";

while (1) {
    my $client = $daemon->accept or next;
    if (my $request = $client->get_request) {
        my $path  = $request->uri->path;
        my $route = $routes{ $request->method . " $path" };
        if ($route) {
            reply($client, 200, 'OK', $route->($request));
        }
        elsif ($path =~ m{^/[^/]+\.\w+$} and open my $file, '<:raw', "$assets$path") {
            reply_with_file($client, $path, $file);
        }
        else {
            reply($client, 404, 'Not Found', 'text/plain', "Not Found\n");
        }
    }
    $client->close;
}
