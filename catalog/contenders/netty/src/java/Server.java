import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import java.nio.file.Files;
import java.nio.file.Path;

/** Starts the server: {@code Server PORT ASSETS nio|epoll [--tls PORT CERTIFICATE KEY]}. */
public class Server {
    static final int LARGEST_BODY_BYTES = 2 << 20;
    static final int LARGEST_MESSAGE_BYTES = 1 << 20;

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        Path assets = Path.of(args[1]).toRealPath();
        boolean epoll = args[2].equals("epoll");
        byte[] page = Files.readAllBytes(assets.resolve("html-228.html"));

        // As many event loops as Netty takes by default: two a core.
        var loops = new MultiThreadIoEventLoopGroup(
                epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
        Class<? extends ServerChannel> transport =
                epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;

        String host = System.getenv().getOrDefault("DROME_HOST", "127.0.0.1");
        if (args.length == 7 && args[3].equals("--tls")) {
            new ServerBootstrap()
                    .group(loops)
                    .channel(transport)
                    .childHandler(new Secure(args[5], args[6], assets, page))
                    .bind(host, Integer.parseInt(args[4]))
                    .sync();
        }
        new ServerBootstrap()
                .group(loops)
                .channel(transport)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(
                                new HttpServerCodec(),
                                new HttpServerKeepAliveHandler(),
                                new HttpObjectAggregator(LARGEST_BODY_BYTES),
                                new Routes(assets, page, false));
                    }
                })
                .bind(host, port)
                .sync()
                .channel()
                .closeFuture()
                .sync();
    }
}
