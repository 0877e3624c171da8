package drome;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Port and folder of the files come as options, as Spring Boot reads them. */
@SpringBootApplication
@RestController
public class Application {
    private final byte[] page;

    record Message(String message, int number) {}

    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    Application(@Value("${assets}") Path assets) throws IOException {
        page = Files.readAllBytes(assets.resolve("html-228.html"));
    }

    @GetMapping(path = "/", produces = MediaType.TEXT_HTML_VALUE)
    byte[] page() {
        return page;
    }

    @GetMapping(path = "/hello", produces = MediaType.TEXT_PLAIN_VALUE)
    String hello() {
        return "Hello World\n";
    }

    @GetMapping(path = "/pong", produces = MediaType.TEXT_PLAIN_VALUE)
    String pong() {
        return "PONG";
    }

    @GetMapping(path = "/json", produces = MediaType.APPLICATION_JSON_VALUE)
    Message json(@RequestParam("n") int number) {
        return new Message("Hello World", number);
    }

    @PostMapping(path = "/echo", produces = MediaType.APPLICATION_OCTET_STREAM_VALUE)
    byte[] echo(@RequestBody(required = false) byte[] body) {
        return body;
    }
}
