use Mojolicious::Lite -signatures;
use Mojo::File qw(path);
use Mojo::Server::Daemon;

my ($port, $assets) = @ARGV;
my $host = $ENV{DROME_HOST} // '127.0.0.1';
my $page = path($assets, 'html-228.html')->slurp;

app->mode('production');
app->log->level('warn');
# Answers are compared byte by byte, and nobody asks for packed ones.
app->renderer->compress(0);

sub reply ($c, $type, $body) {
    $c->res->headers->content_type($type);
    $c->render(data => $body);
}

get '/'      => sub ($c) { reply($c, 'text/html',  $page) };
get '/hello' => sub ($c) { reply($c, 'text/plain', "Hello World\n") };
post '/echo' => sub ($c) { reply($c, 'application/octet-stream', $c->req->body) };
get '/json'  => sub ($c) {
    my $number = $c->param('n') + 0;
    # Mojo::JSON writes keys in the order of the alphabet: message, number.
    reply($c, 'application/json', Mojo::JSON::encode_json({message => 'Hello World', number => $number}));
};

Mojo::Server::Daemon->new(app => app, listen => ["http://$host:$port"], silent => 1)->run;
