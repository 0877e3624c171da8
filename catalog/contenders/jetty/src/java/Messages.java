import java.nio.ByteBuffer;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;

/** Sends back every message of a WebSocket connection, and asks for the next when it is sent. */
public class Messages implements Session.Listener {
    private Session session;

    @Override
    public void onWebSocketOpen(Session session) {
        this.session = session;
        session.demand();
    }

    @Override
    public void onWebSocketText(String text) {
        session.sendText(text, Callback.from(session::demand, failure -> session.disconnect()));
    }

    @Override
    public void onWebSocketBinary(ByteBuffer bytes, Callback callback) {
        session.sendBinary(bytes, Callback.from(() -> {
            callback.succeed();
            session.demand();
        }, callback::fail));
    }

    /** Nothing, where Jetty would log it: a client that hangs up early concerns nobody else. */
    @Override
    public void onWebSocketError(Throwable cause) {}
}
