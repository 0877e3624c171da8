use Mojolicious::Lite -signatures;
use Mojo::File qw(path);

# Read once: the run measures the server, not the file system.
my $page = path($ENV{DROME_ASSETS}, 'html-228.html')->slurp;

app->config(
    hypnotoad => {
        listen   => ["http://" . ($ENV{DROME_HOST} // '127.0.0.1') . ":$ENV{DROME_PORT}"],
        workers  => $ENV{DROME_WORKERS},
        pid_file => "$ENV{DROME_DIR}/hypnotoad.pid",

        # Hypnotoad closes a connection after 100 requests and replaces a worker
        # after 10000 connections, unless the run lifts both limits.
        $ENV{DROME_UNLIMITED} ? (requests => 1_000_000_000, accepts => 0) : (),
    },
);

app->static->paths(["$ENV{DROME_DIR}/files"]);

get '/'      => sub ($c) { $c->render(data => $page, format => 'html') };
get '/hello' => sub ($c) { $c->render(data => "Hello World\n", format => 'txt') };
get '/pong'  => sub ($c) { $c->render(data => 'PONG', format => 'txt') };

get '/json' => sub ($c) {
    $c->render(json => { message => 'Hello World', number => int $c->param('n') });
};

post '/echo' => sub ($c) { $c->render(data => $c->req->body, format => 'bin') };

# Text as bytes: it need not be decoded.
websocket '/websocket' => sub ($c) {
    $c->on(text   => sub ($c, $bytes) { $c->send({ text   => $bytes }) });
    $c->on(binary => sub ($c, $bytes) { $c->send({ binary => $bytes }) });
};

app->start;
