use strict;
use warnings;

use JSON::PP;
use Plack::Builder;
use Plack::Request;

my $assets = $ENV{DROME_ASSETS};

# Read once: the run measures the server, not the file system.
open my $file, '<:raw', "$assets/html-228.html" or die "html-228.html: $!\n";
my $page = do { local $/; <$file> };

# Perl's hashes have no order of their own.
my $json = JSON::PP->new->canonical;

sub reply {
    my ($status, $type, $body) = @_;
    return [$status, ['Content-Type' => $type, 'Content-Length' => length $body], [$body]];
}

my %routes = (
    'GET /'      => sub { reply(200, 'text/html', $page) },
    'GET /hello' => sub { reply(200, 'text/plain', "Hello World\n") },
    'GET /pong'  => sub { reply(200, 'text/plain', 'PONG') },
    'GET /json'  => sub {
        my ($request) = @_;
        my $number = int $request->query_parameters->{n};
        reply(200, 'application/json', $json->encode({ message => 'Hello World', number => $number }));
    },
    'POST /echo' => sub { reply(200, 'application/octet-stream', $_[0]->content) },
);

builder {
    enable 'Static', root => $assets, path => qr{^/[^/]+\.(?:html|png|jpg|bin)$};

    sub {
        my $request = Plack::Request->new($_[0]);
        my $route   = $routes{ $request->method . ' ' . $request->path };
        return $route ? $route->($request) : reply(404, 'text/plain', "Not Found\n");
    };
};
