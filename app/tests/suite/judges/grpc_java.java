// Unary calls with any bytes: a method called Echo sends the message back, Fail fails. Every call is a line of standard output.

import com.google.common.io.ByteStreams;
import io.grpc.HandlerRegistry;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

class Grpc {
    public static void main(String[] args) throws Exception {
        // The second port is no more encrypted than the first: Debian's netty has no ALPN.
        for (String port : args) {
            InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(port));
            NettyServerBuilder.forAddress(address).fallbackHandlerRegistry(new Methods()).build().start();
        }
        Thread.sleep(Long.MAX_VALUE);
    }
}

class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    public InputStream stream(byte[] message) {
        return new ByteArrayInputStream(message);
    }

    public byte[] parse(InputStream stream) {
        try {
            return ByteStreams.toByteArray(stream);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}

class Methods extends HandlerRegistry {
    public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
        MethodDescriptor<byte[], byte[]> method =
            MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName(name).build();
        return ServerMethodDefinition.create(method, ServerCalls.asyncUnaryCall(
            (byte[] message, StreamObserver<byte[]> answer) -> {
                System.out.println("call /" + name + " of " + message.length);
                if (name.endsWith("/Fail")) {
                    answer.onError(Status.INTERNAL.withDescription("as asked").asRuntimeException());
                    return;
                }
                answer.onNext(message);
                answer.onCompleted();
            }));
    }
}
