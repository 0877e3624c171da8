import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.File;
import java.nio.file.Path;
import javax.net.ssl.SSLException;

/** Sets up a connection with TLS: HTTP/2 where the client offers it, else HTTP/1.1. */
class Secure extends ChannelInitializer<Channel> {
    private final SslContext tls;
    private final Path assets;
    private final byte[] page;

    Secure(String certificate, String key, Path assets, byte[] page) throws SSLException {
        this.assets = assets;
        this.page = page;
        tls = SslContextBuilder.forServer(new File(certificate), new File(key))
                .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2,
                        ApplicationProtocolNames.HTTP_1_1))
                .build();
    }

    @Override
    protected void initChannel(Channel channel) {
        channel.pipeline().addLast(tls.newHandler(channel.alloc()), new Negotiated());
    }

    private class Negotiated extends ApplicationProtocolNegotiationHandler {
        Negotiated() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext context, String protocol) {
            if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                context.pipeline().addLast(
                        Http2FrameCodecBuilder.forServer().build(),
                        new Http2MultiplexHandler(new ChannelInitializer<Channel>() {
                            @Override
                            protected void initChannel(Channel stream) {
                                stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true));
                                addRoutes(stream);
                            }
                        }));
            } else {
                context.pipeline().addLast(new HttpServerCodec(), new HttpServerKeepAliveHandler());
                addRoutes(context.channel());
            }
        }
    }

    private void addRoutes(Channel channel) {
        channel.pipeline().addLast(
                new HttpObjectAggregator(Server.LARGEST_BODY_BYTES),
                new ChunkedWriteHandler(),
                new Routes(assets, page, true));
    }
}
