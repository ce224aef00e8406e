package mintmark.testing;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import mintmark.json.Json;

/**
 * An OpenID Connect provider on 127.0.0.1 with the accounts of the tenant <code>default</code>, for tests of a service. The service accepts
 * {@link #token()}, and must refuse {@link #expired()} and {@link #foreign()}. Users sign in with their email address alone; an unknown
 * address gets an account.
 *
 * <pre>{@code
 * var idp = IdentityProvider.start(m::call, "orders");
 * var service = new Service(idp.issuer(), idp.jwksUrl(), idp.audience());
 * }</pre>
 */
public final class IdentityProvider {
    private static final Pattern ACTION = Pattern.compile("(?i)<form[^>]*\\saction=\"([^\"]*)\"");
    private static final Pattern INPUT = Pattern.compile("(?i)<input[^>]*>");
    private static final Pattern NO_WORDS = Pattern.compile("(?is)<style.*?</style>|<script.*?</script>|<[^>]*>");

    private final BiFunction<String, Map<String, Object>, Object> call;
    private final Map<String, Object> started;
    private final String audience;

    private IdentityProvider(BiFunction<String, Map<String, Object>, Object> call, Map<String, Object> started, String audience) {
        this.call = call;
        this.started = started;
        this.audience = audience;
    }

    /**
     * Starts the provider of a testing store.
     *
     * @param call the calls of a client with a testing store: <code>m::call</code>
     * @param audience the audience of tokens for which no other one is given
     * @return the provider
     */
    public static IdentityProvider start(BiFunction<String, Map<String, Object>, Object> call, String audience) {
        var issuer = Map.of("name", "default", "passwordless", true, "createAccounts", true);
        return new IdentityProvider(call, object(call.apply("test.idp", Map.of("issuers", List.of(issuer)))), audience);
    }

    /** {@return the issuer of the tokens} */
    public String issuer() {
        return (String) started.get("issuer");
    }

    /** {@return the URL of the public keys} */
    public String jwksUrl() {
        return (String) started.get("jwksUrl");
    }

    /** {@return the URL of the discovery document} */
    public String discoveryUrl() {
        return (String) started.get("discoveryUrl");
    }

    /** {@return the audience of tokens for which no other one is given} */
    public String audience() {
        return audience;
    }

    /** {@return a valid access token of the subject <code>test-user</code>} */
    public String token() {
        return token(Map.of());
    }

    /**
     * Returns a valid access token. Its times are those of Mintmark's clock, which <code>test.clock</code> moves. The clock of your service
     * does not move with it.
     *
     * @param params the parameters of <code>test.token</code> that replace the defaults, such as <code>subject</code> and <code>claims</code>
     * @return the token
     */
    public String token(Map<String, ?> params) {
        var all = new LinkedHashMap<String, Object>(Map.of("issuer", issuer(), "subject", "test-user", "audience", audience, "use", "access"));
        all.putAll(params);
        return (String) object(call.apply("test.token", all)).get("token");
    }

    /** {@return a token that expired an hour ago, by the clock of Mintmark and by the real time, and that is valid otherwise} */
    public String expired() {
        return expired(Map.of());
    }

    /**
     * Returns a token that expired an hour ago, by the clock of Mintmark and by the real time.
     *
     * @param params the parameters of <code>test.token</code> that replace the defaults
     * @return the token
     */
    public String expired(Map<String, ?> params) {
        long now = ((Number) object(call.apply("test.clock", Map.of())).get("now")).longValue();
        long end = Math.min(now, Instant.now().getEpochSecond()) - 3600;
        var claims = new LinkedHashMap<String, Object>(Map.of("iat", end - 3600, "exp", end));
        if (params.get("claims") instanceof Map<?, ?> more) {
            more.forEach((name, value) -> claims.put((String) name, value));
        }
        var all = new LinkedHashMap<String, Object>(params);
        all.put("claims", claims);
        return token(all);
    }

    /** {@return a token of an issuer that your service does not know, and that is valid otherwise} */
    public String foreign() {
        return foreign(Map.of());
    }

    /**
     * Returns a token of an issuer that your service does not know.
     *
     * @param params the parameters of <code>test.token</code> that replace the defaults
     * @return the token
     */
    public String foreign(Map<String, ?> params) {
        var issuers = (List<?>) object(call.apply("test.idp", Map.of("issuers", List.of(Map.of("name", "foreign"))))).get("issuers");
        var all = new LinkedHashMap<String, Object>(params);
        for (var each : issuers) {
            if ("foreign".equals(object(each).get("name"))) {
                all.put("issuer", object(each).get("issuer"));
            }
        }
        return token(all);
    }

    /**
     * The last response of a login.
     *
     * @param status the HTTP status
     * @param body the body as text
     * @param cookie the header <code>Cookie</code> with which the user is signed in at the service
     */
    public record Response(int status, String body, String cookie) {}

    /**
     * Signs a user in at your service as a browser does.
     *
     * @param page the page of the service that starts the login by a redirect to the provider, such as
     * <code>http://127.0.0.1:8080/login</code>
     * @param email the email address of the user
     * @return the last response of the service
     * @throws IOException if a request fails
     * @throws IllegalStateException if the page does not lead to the provider, or the provider refuses the user
     */
    public Response login(URI page, String email) throws IOException {
        var service = new Browser();
        String base = started.get("baseUrl") + "/";
        String host = null;
        var uri = page;
        var answer = service.send(uri, null);
        for (int hops = 0; hops < 20 && answer.location() != null; hops++) {
            var next = uri.resolve(answer.location());
            if (next.toString().startsWith(base)) {
                var step = signIn(next, email, base);
                uri = step.uri();
                host = uri.getAuthority();
                answer = service.send(uri, step.form());
                continue;
            }
            if (host != null && !next.getAuthority().equals(host)) {
                break; // The service sends the browser elsewhere; the login is over.
            }
            uri = next;
            answer = service.send(uri, null);
        }
        if (host == null) {
            throw new IllegalStateException(page + " does not lead to the provider: the last answer of the service has the status "
                    + answer.status() + ". Configure the issuer " + issuer() + " in the service.");
        }
        return new Response(answer.status(), answer.body(), service.cookie(uri));
    }

    /** The request that the browser sends to the service next. */
    private record Step(URI uri, Map<String, String> form) {}

    private static Step signIn(URI page, String email, String base) throws IOException {
        var browser = new Browser();
        var uri = page;
        var answer = browser.send(uri, Map.of("step", "address", "email", email));
        while (answer.location() != null) {
            uri = uri.resolve(answer.location());
            if (!uri.toString().startsWith(base)) {
                return new Step(uri, null);
            }
            answer = browser.send(uri, null);
        }
        String action = first(ACTION, answer.body());
        if (action.startsWith("http") && !action.startsWith(base)) {
            var form = new LinkedHashMap<String, String>(); // response_mode=form_post
            INPUT.matcher(answer.body()).results().forEach(tag -> form.put(attribute("name", tag.group()), attribute("value", tag.group())));
            form.remove("");
            return new Step(URI.create(action), form);
        }
        String words = unescaped(NO_WORDS.matcher(answer.body()).replaceAll(" ")).replaceAll("\\s+", " ").strip();
        throw new IllegalStateException("The provider has not signed in " + email + ": status " + answer.status() + ", "
                + words.substring(0, Math.min(300, words.length())));
    }

    private static String attribute(String name, String tag) {
        return first(Pattern.compile("(?i)\\s" + name + "=\"([^\"]*)\""), tag);
    }

    private static String first(Pattern pattern, String text) {
        Matcher found = pattern.matcher(text);
        return found.find() ? unescaped(found.group(1)) : "";
    }

    private static String unescaped(String text) {
        return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
    }

    /** Returns a result as JSON, whatever its class. */
    private static Map<String, Object> object(Object result) {
        var members = new LinkedHashMap<String, Object>();
        ((Map<?, ?>) Json.read(Json.write(result))).forEach((name, value) -> members.put((String) name, value));
        return members;
    }

    private record Answer(int status, String location, String body) {}

    /** An HTTP client that keeps cookies and does not follow redirects. */
    private static final class Browser {
        private final Map<String, Map<String, String>> cookies = new HashMap<>();

        Answer send(URI uri, Map<String, String> form) throws IOException {
            var connection = (HttpURLConnection) uri.toURL().openConnection(Proxy.NO_PROXY);
            connection.setInstanceFollowRedirects(false);
            connection.setConnectTimeout(60_000);
            connection.setReadTimeout(60_000);
            connection.setRequestProperty("Cookie", cookie(uri));
            if (form != null) {
                String body = form.entrySet().stream().map(each -> encoded(each.getKey()) + "=" + encoded(each.getValue()))
                        .collect(Collectors.joining("&"));
                connection.setDoOutput(true);
                connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
                connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
            }
            int status = connection.getResponseCode();
            for (var header : connection.getHeaderFields().entrySet()) {
                if ("Set-Cookie".equalsIgnoreCase(header.getKey())) {
                    header.getValue().forEach(line -> keep(uri, line));
                }
            }
            try (var stream = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
                String body = stream == null ? "" : new String(stream.readAllBytes(), StandardCharsets.UTF_8);
                return new Answer(status, status >= 300 && status < 400 ? connection.getHeaderField("Location") : null, body);
            }
        }

        String cookie(URI uri) {
            return cookies.getOrDefault(uri.getAuthority(), Map.of()).entrySet().stream().map(each -> each.getKey() + "=" + each.getValue())
                    .collect(Collectors.joining("; "));
        }

        private void keep(URI uri, String line) {
            String[] pair = line.split(";", 2)[0].split("=", 2);
            cookies.computeIfAbsent(uri.getAuthority(), host -> new LinkedHashMap<>()).put(pair[0].strip(), pair.length > 1 ? pair[1] : "");
        }

        private static String encoded(String text) {
            return URLEncoder.encode(text, StandardCharsets.UTF_8);
        }
    }
}
