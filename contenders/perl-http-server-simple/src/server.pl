use strict;
use warnings;

package Server;

use parent 'HTTP::Server::Simple::CGI';

my ($port, $assets) = @ARGV;

# Read once: the run measures the server, not the file system.
open my $file, '<:raw', "$assets/html-228.html" or die "html-228.html: $!\n";
my $page = do { local $/; <$file> };

my %replies = (
    '/'      => ['200 OK', 'text/html',  $page],
    '/hello' => ['200 OK', 'text/plain', "Hello World\n"],
    '/pong'  => ['200 OK', 'text/plain', 'PONG'],
);
my $not_found = ['404 Not Found', 'text/plain', "Not Found\n"];

sub handle_request {
    my ($self, $cgi) = @_;
    my ($status, $type, $body) = @{ $replies{ $cgi->path_info } // $not_found };

    # The module adds no header of its own, and without a length the client
    # could not tell a whole body from one that was cut short.
    print "HTTP/1.0 $status\r\n",
        "Content-Type: $type\r\n",
        'Content-Length: ', length $body, "\r\n\r\n",
        $body;
}

my $server = Server->new($port);
$server->host('127.0.0.1');
$server->run;
