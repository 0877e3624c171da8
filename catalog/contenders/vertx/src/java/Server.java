import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;
import io.vertx.ext.web.handler.FileSystemAccess;
import io.vertx.ext.web.handler.StaticHandler;
import java.util.List;

/** One HTTP server; Vert.x shares the port among its instances. */
public class Server extends VerticleBase {
    private static final int LARGEST_MESSAGE_BYTES = 1 << 20;

    private final int port;
    private final String assets;
    private final List<String> tls;

    Server(int port, String assets, List<String> tls) {
        this.port = port;
        this.assets = assets;
        this.tls = tls;
    }

    /** {@code Server PORT ASSETS INSTANCES nio|native [--tls PORT CERTIFICATE KEY]}. */
    public static void main(String[] args) {
        int port = Integer.parseInt(args[0]);
        var options = new VertxOptions().setPreferNativeTransport(args[3].equals("native"));
        var vertx = Vertx.vertx(options);
        List<String> tls = List.of(args).subList(4, args.length);
        vertx.deployVerticle(
                        () -> new Server(port, args[1], tls),
                        new DeploymentOptions().setInstances(Integer.parseInt(args[2])))
                .onFailure(error -> {
                    error.printStackTrace();
                    vertx.close();
                });
    }

    @Override
    public Future<?> start() {
        Buffer page = vertx.fileSystem().readFileBlocking(assets + "/html-228.html");
        Router router = Router.router(vertx);
        router.get("/").handler(request -> send(request, "text/html", page));
        router.get("/hello").handler(request -> send(request, "text/plain", "Hello World\n"));
        router.get("/pong").handler(request -> send(request, "text/plain", "PONG"));
        router.get("/json").handler(Server::json);
        router.post("/echo")
                // false: no uploads are expected, so no folder for them.
                .handler(BodyHandler.create(false))
                .handler(request -> send(
                        request, "application/octet-stream", request.body().buffer()));
        router.get("/websocket")
                .handler(request -> request.request().toWebSocket().onSuccess(Server::echo));
        router.route().handler(StaticHandler.create(FileSystemAccess.ROOT, assets));
        String host = System.getenv().getOrDefault("DROME_HOST", "127.0.0.1");
        Future<?> plain =
                vertx.createHttpServer(options()).requestHandler(router).listen(port, host);
        if (tls.size() != 4 || !tls.get(0).equals("--tls")) {
            return plain;
        }
        var options = options()
                .setSsl(true)
                .setUseAlpn(true)
                .setKeyCertOptions(
                        new PemKeyCertOptions().setCertPath(tls.get(2)).setKeyPath(tls.get(3)));
        return Future.all(plain, vertx.createHttpServer(options)
                .requestHandler(router)
                .listen(Integer.parseInt(tls.get(1)), host));
    }

    private static HttpServerOptions options() {
        // The default is 64 KiB, less than the messages of a verification.
        return new HttpServerOptions().setMaxWebSocketFrameSize(LARGEST_MESSAGE_BYTES);
    }

    private static void echo(ServerWebSocket socket) {
        socket.textMessageHandler(socket::writeTextMessage);
        socket.binaryMessageHandler(socket::writeBinaryMessage);
    }

    private static void json(RoutingContext request) {
        try {
            int number = Integer.parseInt(request.request().getParam("n"));
            request.json(new JsonObject().put("message", "Hello World").put("number", number));
        } catch (NumberFormatException e) {
            request.fail(400);
        }
    }

    private static void send(RoutingContext request, String type, String body) {
        request.response().putHeader("Content-Type", type).end(body);
    }

    private static void send(RoutingContext request, String type, Buffer body) {
        request.response()
                .putHeader("Content-Type", type)
                .end(body == null ? Buffer.buffer() : body);
    }
}
