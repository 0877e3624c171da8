// Answers every GET over HTTP/2, without TLS on both ports: Debian's Netty has no ALPN. Every request is a line of standard output.

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.util.CharsetUtil;

class Netty {
    public static void main(String[] args) throws Exception {
        NioEventLoopGroup loops = new NioEventLoopGroup(2);
        for (String port : args) {
            new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class)
                .childHandler(new Connection()).bind("127.0.0.1", Integer.parseInt(port)).sync();
        }
    }
}

class Connection extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
        Http2MultiplexHandler streams = new Http2MultiplexHandler(new Answers());
        channel.pipeline().addLast(Http2FrameCodecBuilder.forServer().build(), streams);
    }
}

@Sharable
class Answers extends SimpleChannelInboundHandler<Http2HeadersFrame> {
    @Override
    protected void channelRead0(ChannelHandlerContext stream, Http2HeadersFrame request) {
        System.out.println("GET " + request.headers().path() + " HTTP/2");
        byte[] body = "Hello World\n".getBytes(CharsetUtil.US_ASCII);
        DefaultHttp2Headers head = new DefaultHttp2Headers();
        head.status("200").addInt("content-length", body.length);
        stream.write(new DefaultHttp2HeadersFrame(head));
        stream.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(body), true));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext stream, Throwable cause) {
        stream.close();
    }
}
