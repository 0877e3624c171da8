import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** A connector with TLS: HTTP/2 where the client offers it, else HTTP/1.1. */
class Secure {
    static ServerConnector connector(Server server, Path certificate, Path key) throws Exception {
        var context = new SslContextFactory.Server();
        context.setKeyStore(keyStore(certificate, key));
        context.setKeyStorePassword("");
        HttpConfiguration http = new HttpConfiguration();
        var http1 = new HttpConnectionFactory(http);
        var alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol(http1.getProtocol());
        return new ServerConnector(
                server,
                new SslConnectionFactory(context, alpn.getProtocol()),
                alpn,
                new HTTP2ServerConnectionFactory(http),
                http1);
    }

    /** Jetty takes a key store, not PEM files. */
    private static KeyStore keyStore(Path certificate, Path key) throws Exception {
        Certificate[] chain;
        try (InputStream in = Files.newInputStream(certificate)) {
            chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .toArray(Certificate[]::new);
        }
        String pem = Files.readString(key).replaceAll("-----[A-Z ]+-----", "");
        PrivateKey secret = KeyFactory.getInstance(chain[0].getPublicKey().getAlgorithm())
                .generatePrivate(new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry("server", secret, new char[0], chain);
        return store;
    }
}
