package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.eventually;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import mintmark.BackendException;
import mintmark.CallCancelledException;
import mintmark.ClientClosedException;
import mintmark.CredentialsProvider;
import mintmark.IssuedToken;
import mintmark.Mintmark;

/** Tests of concurrent use and closing of the credentials provider. */
final class ProviderChecks {
    /** Responds to credentialsProvider.open only when the next request arrives. */
    private static final String OPENS_LATER = """
            case "$line" in
            *credentialsProvider.open*) open=$id;;
            *) for each in $open $id; do echo '{"jsonrpc":"2.0","id":'$each',"result":{"provider":"p","now":7}}'; done; open=;;
            esac""";

    private ProviderChecks() {}

    private static CredentialsProvider provider(Mintmark m) {
        return new CredentialsProvider(m, p -> p.poolId("p"), required -> new IssuedToken("i", "t"));
    }

    static void add() {
        check("a provider that was closed before its first call is not opened", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> o.timeout(Duration.ofMinutes(1)))) {
                var provider = provider(m);
                provider.close();
                thrown(ClientClosedException.class, () -> m.system().pingAsync() == null ? null : provider.get());
                eventually("the ping is sent", () -> silent.hasSeen("system.ping"));
                expect(!silent.hasSeen("credentialsProvider.open"), "it was opened");
            }
        });
        check("a provider that is closed while it is being opened is closed in the process", () -> {
            try (var later = StandIn.that(OPENS_LATER); var m = later.start(o -> o.timeout(Duration.ofMinutes(1)))) {
                var provider = provider(m);
                var getting = new FutureTask<>(() -> thrown(ClientClosedException.class, provider::get));
                new Thread(getting).start();
                eventually("it is opened", () -> later.hasSeen("credentialsProvider.open"));
                provider.close();
                m.system().ping();
                getting.get(60, TimeUnit.SECONDS);
                expect(later.hasSeen("credentialsProvider.close"), "it was not closed");
            }
        });
        check("an interrupt ends a call that waits for another thread to open the provider", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                var provider = provider(m);
                var first = new Thread(() -> provider.setLogins(Map.of()));
                first.setUncaughtExceptionHandler((thread, interrupted) -> {});
                first.start();
                eventually("it is opened", () -> silent.hasSeen("credentialsProvider.open"));
                var waiting = new FutureTask<>(() -> thrown(CallCancelledException.class, () -> {
                    provider.setLogins(Map.of("login.shop", "alice"));
                    return null;
                }));
                var second = new Thread(waiting);
                second.start();
                eventually("it waits", () -> second.getState() == Thread.State.WAITING || second.getState() == Thread.State.BLOCKED);
                second.interrupt();
                try {
                    waiting.get(60, TimeUnit.SECONDS);
                } finally {
                    first.interrupt();
                }
                first.join();
            }
        });
        check("the reason is empty if the process gives none, and an exception without a message is described by its class", () -> {
            var required = "{\"provider\":\"p\",\"state\":\"tokenRequired\",\"continuationToken\":\"c\"}";
            try (var unreasoned = StandIn.that("echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":" + required + "}'"); var m = unreasoned.start(o -> {})) {
                var reason = new CompletableFuture<Optional<String>>();
                var provider = new CredentialsProvider(m, p -> p.poolId("p"), asked -> {
                    reason.complete(asked.reason());
                    throw new IOException();
                });
                var wrong = thrown(BackendException.class, provider::get);
                expect(wrong.getMessage().endsWith("returned no token: java.io.IOException"), wrong);
                equal(reason.join(), Optional.empty());
            }
        });
    }
}
