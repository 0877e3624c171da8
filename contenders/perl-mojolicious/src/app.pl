use Mojolicious::Lite -signatures;
use Mojo::File qw(path);

# Read once: the run measures the server, not the file system.
my $page = path($ENV{DROME_ASSETS}, 'html-228.html')->slurp;

app->config(
    hypnotoad => {
        listen   => ["http://127.0.0.1:$ENV{DROME_PORT}"],
        workers  => $ENV{DROME_WORKERS},
        pid_file => "$ENV{DROME_DIR}/hypnotoad.pid",

        # A connection would be closed after 100 requests and a worker replaced
        # after 10000 connections; no run is to meet either. 0 lifts only accepts.
        requests => 1_000_000_000,
        accepts  => 0,
    },
);

get '/'      => sub ($c) { $c->render(data => $page, format => 'html') };
get '/hello' => sub ($c) { $c->render(data => "Hello World\n", format => 'txt') };
get '/pong'  => sub ($c) { $c->render(data => 'PONG', format => 'txt') };

app->start;
