package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.eventually;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import mintmark.BackendException;
import mintmark.BinaryNotFoundException;
import mintmark.ClientClosedException;
import mintmark.CredentialsProvider;
import mintmark.IssuedToken;
import mintmark.Mintmark;
import mintmark.Options;
import mintmark.ProcessEndedException;
import mintmark.ProtocolException;
import mintmark.testing.TestingMintmark;

/** Tests of the client as a whole. */
final class ClientChecks {
    private ClientChecks() {}

    static void add() {
        check("a closed client leaves no threads running", () -> {
            for (int i = 0; i < 3; i++) {
                try (var m = TestingMintmark.start()) {
                    expect(m.system().ping().now() != null, "it answers");
                    m.close(Duration.ofMinutes(1));
                    thrown(ClientClosedException.class, () -> m.system().ping());
                }
            }
            eventually("threads are left", () -> Thread.getAllStackTraces().keySet().stream().noneMatch(each -> each.getName().startsWith("mintmark-")));
        });
        check("all threads of a client are daemon threads", () -> {
            try (var m = TestingMintmark.start()) {
                expect(m.system().pingAsync().get().now() != null, "it answers");
                var threads = Thread.getAllStackTraces().keySet().stream().filter(each -> each.getName().startsWith("mintmark-")).toList();
                expect(!threads.isEmpty() && threads.stream().allMatch(Thread::isDaemon), threads);
            }
        });
        check("a listener can make calls, and its exceptions do not end the delivery", () -> {
            var isFirst = new AtomicBoolean(true);
            var client = new CompletableFuture<Mintmark>();
            var heard = new CompletableFuture<Instant>();
            var reported = new CompletableFuture<Throwable>();
            Thread.setDefaultUncaughtExceptionHandler((thread, wrong) -> reported.complete(wrong));
            var command = "echo '{\"jsonrpc\":\"2.0\",\"method\":\"moon/risen\"}'; echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"now\":7}}'";
            try (var moon = StandIn.that(command); var m = moon.start(o -> o.onNotification(told -> {
                if (isFirst.getAndSet(false)) {
                    throw new IllegalStateException("my own fault");
                }
                heard.complete(client.join().system().ping().now());
            }))) {
                client.complete(m);
                m.system().ping();
                m.system().ping();
                equal(heard.get(60, TimeUnit.SECONDS), Instant.ofEpochSecond(7));
                equal(reported.get(60, TimeUnit.SECONDS).getMessage(), "my own fault");
            } finally {
                Thread.setDefaultUncaughtExceptionHandler(null);
            }
        });
        check("options reach the process", () -> {
            var clock = Instant.ofEpochSecond(1_700_000_000);
            try (var m = TestingMintmark.start(o -> o.region("moon-1").account("123456789012").issuer("https://id.example").clock(clock)
                    .caller("developer").maxLineBytes(3 << 20).timeout(Duration.ofMinutes(1)).arguments(List.of("--audit-issuance")))) {
                var info = m.system().info();
                equal(List.of(info.region(), info.account(), info.issuer()), List.of("moon-1", "123456789012", "https://id.example"));
                expect(!m.system().ping().now().isBefore(clock) && m.system().ping().now().isBefore(clock.plusSeconds(86400)), "its clock");
                var tooLongElsewhere = "x".repeat(2 << 20);
                var wrong = thrown(mintmark.ApiException.class, () -> m.token().verify(p -> p.token(tooLongElsewhere).audience("a")));
                expect(!wrong.type().equals("invalidRequest"), wrong);
            }
        });
        check("the log listener receives the lines of the process", () -> {
            var said = new CompletableFuture<String>();
            try (var talks = StandIn.that("echo 'words of mine' >&2"); var m = talks.start(o -> o.log(said::complete))) {
                m.pool().listAsync();
                equal(said.get(60, TimeUnit.SECONDS), "words of mine");
            }
        });
        check("a missing backend and a backend that returns no token fail with a clear message", () -> {
            try (var m = TestingMintmark.start()) {
                var pool = CallChecks.shop(m).poolId();
                var missing = thrown(IllegalArgumentException.class, () -> new CredentialsProvider(m, p -> p.poolId(pool), null));
                expect(missing.getMessage().contains("new IssuedToken(identityId, token)"), missing);
                for (var nothing : new IssuedToken[] {null, new IssuedToken("i", null)}) {
                    try (var provider = new CredentialsProvider(m, p -> p.poolId(pool).logins(Map.of("login.shop", "alice")), required -> nothing)) {
                        var wrong = thrown(BackendException.class, provider::get);
                        expect(wrong.getMessage().contains("null. Return new IssuedToken(identityId, token)"), wrong);
                    }
                }
            }
        });
        check("empty options and unusable programs fail with advice", () -> {
            for (var empty : List.<Consumer<Options>>of(o -> o.store(""), o -> o.app(""), o -> o.store(":memory:").binary(""))) {
                var wrong = thrown(IllegalArgumentException.class, () -> Mintmark.start(empty));
                expect(wrong.getMessage().contains("is empty. Set a value"), wrong);
            }
            var ended = thrown(ProcessEndedException.class, () -> Mintmark.start(o -> o.store(":memory:").binary("/bin/true")));
            expect(ended.getMessage().contains("/bin/true") && ended.getMessage().contains("options.binary(…) or MINTMARK_BINARY"), ended);
            expect(!ended.getMessage().contains("in memory"), ended);
            var folder = thrown(BinaryNotFoundException.class, () -> Mintmark.start(o -> o.store(":memory:").binary("/usr")));
            expect(folder.getMessage().contains("/usr cannot be started: it is a folder"), folder);
            try (var m = TestingMintmark.start()) {
                expect(thrown(IllegalArgumentException.class, () -> m.call(null, Map.of())).getMessage().contains("requires a method"), "in words");
            }
        });
        check("if the process is not restarted, the error reports lost data only for stores in memory", () -> {
            for (var store : List.of(":memory:", "/nowhere/shop.db")) {
                try (var ends = StandIn.that("exit 7"); var m = ends.start(o -> o.store(store).restart(false))) {
                    var ended = thrown(ProcessEndedException.class, () -> m.pool().list());
                    equal(List.of(ended.exitCode(), ended.getMessage().contains("in memory is lost")), List.of(7, store.equals(":memory:")));
                    expect(ended.getMessage().contains("Start a new client"), ended);
                }
            }
        });
        check("a response with neither result nor error fails with ProtocolException", () -> {
            for (var rest : List.of("", ",\"error\":\"no\"", ",\"error\":{\"message\":\"no\"}", ",\"error\":null")) {
                try (var odd = StandIn.that("echo '{\"jsonrpc\":\"2.0\",\"id\":'$id'" + rest + "}'"); var m = odd.start(o -> {})) {
                    var wrong = thrown(ProtocolException.class, () -> m.pool().list());
                    expect(wrong.getMessage().contains("Is it the right program?"), wrong);
                }
            }
        });
        check("a checked exception of the backend becomes the cause, an unchecked one is rethrown", () -> {
            try (var m = TestingMintmark.start()) {
                var pool = CallChecks.shop(m).poolId();
                var alice = Map.of("login.shop", "alice");
                try (var provider = new CredentialsProvider(m, p -> p.poolId(pool).logins(alice), required -> {
                    equal(required.logins(), alice);
                    throw new IOException("no route");
                })) {
                    var wrong = thrown(BackendException.class, provider::identityId);
                    expect(wrong.getCause() instanceof IOException && wrong.getMessage().contains("no route"), wrong);
                }
                try (var provider = new CredentialsProvider(m, p -> p.poolId(pool).logins(alice), required -> {
                    throw new ArithmeticException("own");
                })) {
                    thrown(ArithmeticException.class, provider::identityId);
                }
                expect(!new IssuedToken("i", "secret-token").toString().contains("secret-token"), "tokens are not shown");
            }
        });
    }
}
