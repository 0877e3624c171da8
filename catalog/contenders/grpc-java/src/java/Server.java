import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;

/** Starts the server: {@code Server PORT [direct] [--tls PORT CERTIFICATE KEY]}. */
public class Server {
    public static void main(String[] args) throws Exception {
        List<String> rest = List.of(args).subList(1, args.length);
        boolean direct = rest.contains("direct");
        int tls = rest.indexOf("--tls");
        if (tls >= 0) {
            var credentials =
                    TlsServerCredentials.create(new File(rest.get(tls + 2)), new File(rest.get(tls + 3)));
            start(rest.get(tls + 1), credentials, direct);
        }
        start(args[0], InsecureServerCredentials.create(), direct).awaitTermination();
    }

    private static io.grpc.Server start(String port, ServerCredentials credentials, boolean direct)
            throws IOException {
        String host = System.getenv().getOrDefault("DROME_HOST", "127.0.0.1");
        var address = new InetSocketAddress(host, Integer.parseInt(port));
        var builder = NettyServerBuilder.forAddress(address, credentials).addService(new Bench());
        if (direct) {
            builder.directExecutor();
        }
        return builder.build().start();
    }
}
