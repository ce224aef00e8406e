import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import mintmark.ApiException;
import mintmark.json.Json;
import mintmark.testing.TestingMintmark;

/** Serves a page with passkeys. Run it with {@code java -cp mintmark.jar Passkeys.java clients/passkeys/page.html}. */
public class Passkeys {
    /** The methods that the page may call. A real application keeps the tokens in a session of its own. */
    static final Set<String> METHODS = Set.of(
        "signUp.start", "signUp.submitCode", "signIn.withContinuation", "signIn.withCredential", "account.reauthenticate",
        "passkey.startRegistration", "passkey.finishRegistration", "passkey.startAuthentication", "passkey.list", "passkey.delete");

    public static void main(String[] arguments) throws IOException {
        var page = Files.readAllBytes(Path.of(arguments[0]));
        var m = TestingMintmark.start();
        Runtime.getRuntime().addShutdownHook(new Thread(m::close));
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        var origin = "http://localhost:" + server.getAddress().getPort();
        m.call("tenant.update", Map.of("tenantId", "default", "localAccountMethod", "passkey",
            "passkeys", Map.of("relyingPartyId", "localhost", "origins", List.of(origin), "residentKey", "preferred")));
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            var method = exchange.getRequestURI().getPath().substring(1);
            if (exchange.getRequestMethod().equals("GET") && method.isEmpty()) {
                reply(exchange, 200, "text/html; charset=utf-8", page);
            } else if (exchange.getRequestMethod().equals("POST") && METHODS.contains(method)) {
                call(m, method, exchange);
            } else {
                reply(exchange, 404, Map.of("message", "not allowed"));
            }
        });
        // The testing store keeps the message. A real user reads the code in the mail.
        server.createContext("/code", exchange -> {
            var to = URLDecoder.decode(exchange.getRequestURI().getRawQuery().substring("to=".length()), StandardCharsets.UTF_8);
            var messages = m.test().outbox(p -> p.to(to)).messages();
            reply(exchange, 200, Map.of("code", messages.get(messages.size() - 1).toJson().get("code")));
        });
        server.start();
        System.out.println(origin);
    }

    @SuppressWarnings("unchecked")
    static void call(TestingMintmark m, String method, HttpExchange exchange) throws IOException {
        var params = (Map<String, ?>) Json.read(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        try {
            reply(exchange, 200, m.call(method, params).toJson());
        } catch (ApiException error) {
            reply(exchange, 400, Map.of("type", error.type(), "message", error.getMessage(), "data", error.data()));
        }
    }

    static void reply(HttpExchange exchange, int status, Map<String, ?> value) throws IOException {
        reply(exchange, status, "application/json", Json.write(value).getBytes(StandardCharsets.UTF_8));
    }

    static void reply(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("content-type", type);
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }
}
