use strict;
use warnings;

use Dancer;

# Dancer has taken its own options; the folder is what remains.
my ($assets) = @ARGV;

# Read once: the run measures the server, not the file system.
open my $file, '<:raw', "$assets/html-228.html" or die "html-228.html: $!\n";
my $page = do { local $/; <$file> };

set server => '127.0.0.1';

# Errors only and to stderr: the default logger writes files beside the app.
set logger => 'console';
set log    => 'error';

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

dance;
