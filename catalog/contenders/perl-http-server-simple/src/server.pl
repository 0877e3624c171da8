use strict;
use warnings;

package Server;

use parent 'HTTP::Server::Simple::CGI';
use JSON::PP;

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
        my ($cgi) = @_;
        my $number = int $cgi->param('n');
        ('application/json', $json->encode({ message => 'Hello World', number => $number }));
    },
    # CGI.pm's name for a body that is no form.
    'POST /echo' => sub { ('application/octet-stream', scalar $_[0]->param('POSTDATA')) },
);

sub handle_request {
    my ($self, $cgi) = @_;
    my $route = $routes{ $cgi->request_method . ' ' . $cgi->path_info };
    return reply('404 Not Found', 'text/plain', "Not Found\n") unless $route;
    reply('200 OK', $route->($cgi));
}

# The module adds no header of its own, and without a length the client
# could not tell a whole body from one that was cut short.
sub reply {
    my ($status, $type, $body) = @_;
    print "HTTP/1.0 $status\r\n",
        "Content-Type: $type\r\n",
        'Content-Length: ', length $body, "\r\n\r\n",
        $body;
}

my $server = Server->new($port);
$server->host($ENV{DROME_HOST} // '127.0.0.1');
$server->run;
