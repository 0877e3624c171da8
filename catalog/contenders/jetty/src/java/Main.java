import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.pathmap.PathSpec;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.PathMappingsHandler;
import org.eclipse.jetty.server.handler.ResourceHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.ajax.JSON;
import org.eclipse.jetty.util.resource.ResourceFactory;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;

/** Starts the server: {@code Main PORT ASSETS [--tls PORT CERTIFICATE KEY]}. */
public class Main {
    private static final int LARGEST_MESSAGE_BYTES = 1 << 20;

    public static void main(String[] args) throws Exception {
        Path assets = Path.of(args[1]);
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        String host = System.getenv().getOrDefault("DROME_HOST", "127.0.0.1");
        connector.setHost(host);
        connector.setPort(Integer.parseInt(args[0]));
        server.addConnector(connector);
        if (args.length == 6 && args[2].equals("--tls")) {
            ServerConnector secure = Secure.connector(server, Path.of(args[4]), Path.of(args[5]));
            secure.setHost(host);
            secure.setPort(Integer.parseInt(args[3]));
            server.addConnector(secure);
        }

        ResourceHandler files = new ResourceHandler();
        files.setBaseResource(ResourceFactory.of(server).newResource(assets));
        files.setDirAllowed(false);

        byte[] page = Files.readAllBytes(assets.resolve("html-228.html"));
        PathMappingsHandler routes = new PathMappingsHandler();
        // The empty path spec is the root alone.
        routes.addMapping(PathSpec.from(""), new Fixed("text/html", page));
        routes.addMapping(PathSpec.from("/hello"), new Fixed("text/plain", bytes("Hello World\n")));
        routes.addMapping(PathSpec.from("/pong"), new Fixed("text/plain", bytes("PONG")));
        routes.addMapping(PathSpec.from("/json"), new Json());
        routes.addMapping(PathSpec.from("/echo"), new Echo());
        routes.addMapping(
                PathSpec.from("/websocket"),
                new WebSocket(ServerWebSocketContainer.ensure(server)));
        // What no route takes, by its path or its method, is a file or a 404.
        server.setHandler(new Handler.Sequence(routes, files));
        server.setStopAtShutdown(true);
        server.start();
        server.join();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void send(Response response, String type, ByteBuffer body, Callback callback) {
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, type);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.remaining());
        response.write(true, body, callback);
    }

    private static class Fixed extends Handler.Abstract.NonBlocking {
        private final String type;
        private final byte[] body;

        Fixed(String type, byte[] body) {
            this.type = type;
            this.body = body;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            if (!HttpMethod.GET.is(request.getMethod())) {
                return false;
            }
            send(response, type, ByteBuffer.wrap(body), callback);
            return true;
        }
    }

    private static class Json extends Handler.Abstract.NonBlocking {
        private final JSON json = new JSON();

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            if (!HttpMethod.GET.is(request.getMethod())) {
                return false;
            }
            Fields query = Request.extractQueryParameters(request);
            Map<String, Object> message = new LinkedHashMap<>();
            message.put("message", "Hello World");
            try {
                message.put("number", Integer.parseInt(query.getValue("n")));
            } catch (NumberFormatException e) {
                Response.writeError(request, response, callback, HttpStatus.BAD_REQUEST_400);
                return true;
            }
            ByteBuffer body = ByteBuffer.wrap(bytes(json.toJSON(message)));
            send(response, "application/json", body, callback);
            return true;
        }
    }

    private static class Echo extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback)
                throws Exception {
            if (!HttpMethod.POST.is(request.getMethod())) {
                return false;
            }
            ByteBuffer body = Content.Source.asByteBuffer(request);
            send(response, "application/octet-stream", body, callback);
            return true;
        }
    }
    private static class WebSocket extends Handler.Abstract {
        private final ServerWebSocketContainer container;

        WebSocket(ServerWebSocketContainer container) {
            this.container = container;
            // The default is 64 KiB, less than the messages of a verification.
            container.setMaxTextMessageSize(LARGEST_MESSAGE_BYTES);
            container.setMaxBinaryMessageSize(LARGEST_MESSAGE_BYTES);
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback)
                throws Exception {
            return container.upgrade(
                    (upgrade, answer, result) -> new Messages(), request, response, callback);
        }
    }
}
