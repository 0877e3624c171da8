import static io.netty.handler.codec.http.HttpResponseStatus.BAD_REQUEST;
import static io.netty.handler.codec.http.HttpResponseStatus.NOT_FOUND;
import static io.netty.handler.codec.http.HttpResponseStatus.OK;
import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.stream.ChunkedNioFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Answers the requests of one connection. */
class Routes extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] HELLO = "Hello World\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] PONG = "PONG".getBytes(StandardCharsets.US_ASCII);
    // Netty knows no media types.
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html", "png", "image/png", "jpg", "image/jpeg");

    private static final WebSocketServerProtocolConfig WEBSOCKET =
            WebSocketServerProtocolConfig.newBuilder()
                    .websocketPath("/websocket")
                    // The path may have a query.
                    .checkStartsWith(true)
                    // The default is 64 KiB, less than the messages of a verification.
                    .maxFramePayloadLength(Server.LARGEST_MESSAGE_BYTES)
                    .build();

    private final Path assets;
    private final byte[] page;
    private final boolean encrypted;

    record Message(String message, int number) {}

    Routes(Path assets, byte[] page, boolean encrypted) {
        this.assets = assets;
        this.page = page;
        this.encrypted = encrypted;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request)
            throws IOException {
        var uri = new QueryStringDecoder(request.uri());
        if (request.method().equals(HttpMethod.POST) && uri.path().equals("/echo")) {
            send(context, OK, "application/octet-stream", request.content().retain());
            return;
        }
        // To HEAD, the codec answers with the head alone.
        if (!request.method().equals(HttpMethod.GET)
                && !request.method().equals(HttpMethod.HEAD)) {
            notFound(context);
            return;
        }
        switch (uri.path()) {
            case "/" -> send(context, OK, "text/html", Unpooled.wrappedBuffer(page));
            case "/hello" -> send(context, OK, "text/plain", Unpooled.wrappedBuffer(HELLO));
            case "/pong" -> send(context, OK, "text/plain", Unpooled.wrappedBuffer(PONG));
            case "/json" -> json(context, uri);
            case "/websocket" -> webSocket(context, request);
            default -> file(context, uri.path());
        }
    }

    /** One flush for all the pipelined requests of a read. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private static void json(ChannelHandlerContext context, QueryStringDecoder uri)
            throws JsonProcessingException {
        int number;
        try {
            number = Integer.parseInt(uri.parameters().getOrDefault("n", List.of("")).get(0));
        } catch (NumberFormatException e) {
            send(context, BAD_REQUEST, "text/plain", Unpooled.EMPTY_BUFFER);
            return;
        }
        byte[] body = JSON.writeValueAsBytes(new Message("Hello World", number));
        send(context, OK, "application/json", Unpooled.wrappedBuffer(body));
    }

    /** Hands the request to Netty's handler; the connection's frames go there, too. */
    private static void webSocket(ChannelHandlerContext context, FullHttpRequest request) {
        context.pipeline().addLast(
                new WebSocketServerProtocolHandler(WEBSOCKET),
                new WebSocketFrameAggregator(Server.LARGEST_MESSAGE_BYTES),
                new Messages());
        context.fireChannelRead(request.retain());
    }

    private void file(ChannelHandlerContext context, String path) throws IOException {
        Path file = assets.resolve(path.substring(1)).normalize();
        if (!file.startsWith(assets) || !Files.isRegularFile(file)) {
            notFound(context);
            return;
        }
        String name = file.getFileName().toString();
        String extension = name.substring(name.lastIndexOf('.') + 1);
        long length = Files.size(file);
        var head = new DefaultHttpResponse(HTTP_1_1, OK);
        head.headers()
                .set(HttpHeaderNames.CONTENT_TYPE,
                        TYPES.getOrDefault(extension, "application/octet-stream"))
                .set(HttpHeaderNames.CONTENT_LENGTH, length);
        context.write(head);
        if (encrypted) {
            // HttpChunkedInput also writes the last content.
            context.write(new HttpChunkedInput(new ChunkedNioFile(file.toFile())));
            return;
        }
        // The kernel copies the file (sendfile); the region closes it.
        context.write(new DefaultFileRegion(file.toFile(), 0, length));
        context.write(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    private static void notFound(ChannelHandlerContext context) {
        send(context, NOT_FOUND, "text/plain", Unpooled.EMPTY_BUFFER);
    }

    private static void send(
            ChannelHandlerContext context, HttpResponseStatus status, String type, ByteBuf body) {
        var response = new DefaultFullHttpResponse(HTTP_1_1, status, body);
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, type)
                .set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
        context.write(response);
    }
}
