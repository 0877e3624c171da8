use strict;
use warnings;

use Dancer;

# Read once: the run measures the server, not the file system.
open my $file, '<:raw', "$ENV{DROME_ASSETS}/html-228.html" or die "html-228.html: $!\n";
my $page = do { local $/; <$file> };

set server => $ENV{DROME_HOST} // '127.0.0.1';
set public => $ENV{DROME_FILES};

# Errors only and to stderr: the default logger writes files beside the app.
set logger => 'console';
set log    => 'error';

# Dancer would call it application/data.
mime->add_type(bin => 'application/octet-stream');

get '/' => sub {
    content_type 'text/html';
    return $page;
};

get '/hello' => sub {
    content_type 'text/plain';
    return "Hello World\n";
};

get '/pong' => sub {
    content_type 'text/plain';
    return 'PONG';
};

get '/json' => sub {
    content_type 'application/json';
    my $greeting = { message => 'Hello World', number => int param('n') };

    # Dancer would indent it, and Perl's hashes have no order of their own.
    return to_json($greeting, { pretty => 0, canonical => 1 });
};

post '/echo' => sub {
    content_type 'application/octet-stream';
    return request->body;
};

dance;
