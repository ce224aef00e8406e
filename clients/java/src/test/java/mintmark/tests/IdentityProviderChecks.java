package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.ECPoint;
import java.security.spec.ECPublicKeySpec;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import mintmark.Mintmark;
import mintmark.json.Json;
import mintmark.testing.IdentityProvider;

/** Tests of the identity provider, with a service that verifies tokens with the classes of Java. */
final class IdentityProviderChecks {
    private IdentityProviderChecks() {}

    static void add() {
        check("a service accepts only valid tokens of the identity provider", () -> with((m, idp, service) -> {
            equal(service.orders(idp.token()), "test-user");
            equal(service.orders(idp.token(Map.of("subject", "alice"))), "alice");
            equal(service.orders(idp.expired()), "expired");
            equal(service.orders(idp.foreign()), "unknown key");
            equal(service.orders(idp.token(Map.of("audience", "billing"))), "wrong audience");
            equal(service.orders(idp.token(Map.of("keyState", "wrong"))), "wrong signature");
        }));
        check("the clock of Mintmark does not move the clock of the service, and an expired token has expired for both", () ->
            with((m, idp, service) -> {
                String good = idp.token();
                for (int seconds : new int[] {7200, -14400}) {
                    m.call("test.clock", Map.of("advanceSeconds", seconds));
                    equal(List.of(service.orders(good), service.orders(idp.expired())), List.of("test-user", "expired"));
                }
            }));
        check("a user signs in at a service, and a login that fails says why", () -> with((m, idp, service) -> {
            var response = idp.login(URI.create(service.url + "/login"), "alice@example.com");
            equal(response.status() + " " + response.body(), "200 alice@example.com");
            expect(response.cookie().contains("user=alice@example.com"), response.cookie());
            var wrong = thrown(IllegalStateException.class, () -> idp.login(URI.create(service.url + "/me"), "alice@example.com"));
            expect(wrong.getMessage().contains("/me does not lead to the provider: the last answer of the service has the status 401"), wrong);
            var account = m.account().create(a -> a.username("dave@example.com"));
            m.account().update(a -> a.accountId(account.accountId()).disabled(true));
            wrong = thrown(IllegalStateException.class, () -> idp.login(URI.create(service.url + "/login"), "dave@example.com"));
            expect(wrong.getMessage().contains("has not signed in dave@example.com: status "), wrong);
        }));
    }

    private interface Body {
        void run(Mintmark m, IdentityProvider idp, SmallService service) throws Exception;
    }

    private static void with(Body body) throws Exception {
        try (var m = Mintmark.start(options -> options.store(":memory:").testing(true))) {
            var idp = IdentityProvider.start(m::call, "orders");
            var service = new SmallService(idp);
            try {
                body.run(m, idp, service);
            } finally {
                service.server.stop(0);
            }
        }
    }

    /** A service that signs users in at one issuer, and whose API trusts access tokens of this issuer. */
    private static final class SmallService {
        final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        final String url = "http://127.0.0.1:" + server.getAddress().getPort();
        private final IdentityProvider idp;

        SmallService(IdentityProvider idp) throws IOException {
            this.idp = idp;
            server.createContext("/", this::handle);
            server.start();
        }

        private void handle(HttpExchange exchange) throws IOException {
            try (exchange) {
                var query = form(exchange.getRequestURI().getRawQuery());
                String cookie = String.join(";", exchange.getRequestHeaders().getOrDefault("Cookie", List.of("")));
                switch (exchange.getRequestURI().getPath()) {
                    case "/login" -> {
                        exchange.getResponseHeaders().add("Set-Cookie", "state=s1; Path=/");
                        redirect(exchange, discovery("authorization_endpoint") + "?" + form(Map.of("client_id", "shop", "response_type", "code",
                                "redirect_uri", url + "/back", "scope", "openid email", "state", "s1")));
                    }
                    case "/back" -> {
                        expect("s1".equals(query.get("state")) && cookie.contains("state=s1"), "wrong state");
                        var tokens = object(fetch(discovery("token_endpoint"), form(Map.of("grant_type", "authorization_code",
                                "code", query.get("code"), "redirect_uri", url + "/back", "client_id", "shop"))));
                        var claims = verified((String) tokens.get("id_token"), "shop");
                        exchange.getResponseHeaders().add("Set-Cookie", "user=" + claims.get("email") + "; Path=/");
                        redirect(exchange, "/me");
                    }
                    default -> {
                        int user = cookie.indexOf("user=");
                        say(exchange, user < 0 ? 401 : 200, user < 0 ? "not signed in" : cookie.substring(user + 5).split(";")[0]);
                    }
                }
            } catch (GeneralSecurityException wrong) {
                say(exchange, 401, wrong.getMessage());
            }
        }

        /** Returns the customer of an access token, or the reason for which it is refused. */
        String orders(String token) throws IOException {
            try {
                return (String) verified(token, idp.audience()).get("sub");
            } catch (GeneralSecurityException refused) {
                return refused.getMessage();
            }
        }

        private Map<?, ?> verified(String token, String audience) throws IOException, GeneralSecurityException {
            String[] parts = token.split("\\.");
            var header = object(new String(decoded(parts[0]), StandardCharsets.UTF_8));
            var keys = (List<?>) object(fetch(idp.jwksUrl(), null)).get("keys");
            var jwk = keys.stream().map(key -> (Map<?, ?>) key).filter(key -> header.get("kid").equals(key.get("kid"))).findFirst()
                    .orElseThrow(() -> new GeneralSecurityException("unknown key"));
            var curve = AlgorithmParameters.getInstance("EC");
            curve.init(new ECGenParameterSpec("secp256r1"));
            var point = new ECPoint(new BigInteger(1, decoded((String) jwk.get("x"))), new BigInteger(1, decoded((String) jwk.get("y"))));
            var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
            signature.initVerify(KeyFactory.getInstance("EC").generatePublic(new ECPublicKeySpec(point, curve.getParameterSpec(ECParameterSpec.class))));
            signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
            if (!signature.verify(decoded(parts[2]))) {
                throw new GeneralSecurityException("wrong signature");
            }
            var claims = object(new String(decoded(parts[1]), StandardCharsets.UTF_8));
            if (!idp.issuer().equals(claims.get("iss"))) {
                throw new GeneralSecurityException("wrong issuer");
            }
            if (!audience.equals(claims.get("aud"))) {
                throw new GeneralSecurityException("wrong audience");
            }
            if (((Number) claims.get("exp")).longValue() <= Instant.now().getEpochSecond()) {
                throw new GeneralSecurityException("expired");
            }
            return claims;
        }

        private String discovery(String endpoint) throws IOException {
            return (String) object(fetch(idp.discoveryUrl(), null)).get(endpoint);
        }

        private static Map<?, ?> object(String json) {
            return (Map<?, ?>) Json.read(json);
        }

        private static byte[] decoded(String text) {
            return Base64.getUrlDecoder().decode(text);
        }

        private static String fetch(String url, String form) throws IOException {
            var connection = URI.create(url).toURL().openConnection(Proxy.NO_PROXY);
            if (form != null) {
                connection.setDoOutput(true);
                connection.getOutputStream().write(form.getBytes(StandardCharsets.UTF_8));
            }
            try (var stream = connection.getInputStream()) {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            }
        }

        private static String form(Map<String, String> fields) {
            return fields.entrySet().stream().map(each -> each.getKey() + "=" + URLEncoder.encode(each.getValue(), StandardCharsets.UTF_8))
                    .collect(Collectors.joining("&"));
        }

        private static Map<String, String> form(String text) {
            return text == null ? Map.of() : Arrays.stream(text.split("&")).map(each -> each.split("=", 2))
                    .collect(Collectors.toMap(each -> each[0], each -> URLDecoder.decode(each[1], StandardCharsets.UTF_8)));
        }

        private static void redirect(HttpExchange exchange, String to) throws IOException {
            exchange.getResponseHeaders().add("Location", to);
            exchange.sendResponseHeaders(303, -1);
        }

        private static void say(HttpExchange exchange, int status, String text) throws IOException {
            exchange.sendResponseHeaders(status, text.length());
            exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
        }
    }
}
