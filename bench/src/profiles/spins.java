import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;

/** A server that knows what its answers cost, as spins.c describes it; one thread for all connections. */
final class Spins {
    private static final int ROUNDS = 60_000;
    private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    private static final long[] CALLS = new long[2];
    private static final long[] NS = new long[2];
    private static long sink = 1;
    private static long answers;

    private static long busy_work(long x) {
        for (int i = 0; i < ROUNDS; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    private static void caller_a() {
        sink = busy_work(sink | 1);
    }

    private static void caller_b() {
        sink = busy_work(sink | 2);
    }

    private static void work() {
        int which = answers++ % 3 == 2 ? 1 : 0;
        long begun = CLOCK.getCurrentThreadCpuTime();
        if (which == 1) {
            caller_b();
        } else {
            caller_a();
        }
        NS[which] += CLOCK.getCurrentThreadCpuTime() - begun;
        CALLS[which]++;
    }

    private static void answer(HttpExchange exchange) throws IOException {
        String text = "Hello\n";
        if (exchange.getRequestURI().getPath().equals("/truth")) {
            text = CALLS[0] + " " + NS[0] + " " + CALLS[1] + " " + NS[1] + "\n";
        } else {
            work();
        }
        byte[] body = text.getBytes();
        exchange.getResponseHeaders().set("Content-Type", "text/plain");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    public static void main(String[] words) throws IOException {
        InetSocketAddress at = new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0]));
        HttpServer server = HttpServer.create(at, 1024);
        server.createContext("/", Spins::answer);
        server.start();
    }
}
