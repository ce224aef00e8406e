package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.eventually;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import mintmark.CallTimeoutException;
import mintmark.ClientClosedException;
import mintmark.Mintmark;
import mintmark.contract.InvalidParamsException;
import mintmark.testing.TestingMintmark;

/** Tests of futures. */
final class FutureChecks {
    /** Responds to the first request only after the second one, so that dependent actions are registered by then. */
    private static final String ANSWERS_LATER = """
            [ "$id" = 1 ] || for each in 1 "$id"; do echo '{"jsonrpc":"2.0","id":'$each',"result":{"pools":[],"now":7}}'; done""";

    private FutureChecks() {}

    static void add() {
        check("dependent actions of a future can make calls and wait", () -> {
            try (var m = TestingMintmark.start()) {
                var chain = m.pool().createAsync(p -> p.name("shop")).thenApply(pool -> {
                    var again = m.pool().get(p -> p.poolId(pool.poolId()));
                    return m.pool().getAsync(p -> p.poolId(again.poolId())).join().name();
                });
                equal(chain.get(60, TimeUnit.SECONDS), "shop");
                var all = List.of(m.system().pingAsync(), m.system().pingAsync(), m.system().pingAsync());
                CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            }
        });
        check("a failed call completes its future with the error", () -> {
            try (var m = TestingMintmark.start()) {
                var wrong = thrown(CompletionException.class, () -> m.pool().createAsync(p -> p.name("")).join());
                expect(wrong.getCause() instanceof InvalidParamsException, wrong);
                m.close(Duration.ofMinutes(1));
                wrong = thrown(CompletionException.class, () -> m.system().pingAsync().join());
                expect(wrong.getCause() instanceof ClientClosedException, wrong);
            }
        });
        check("canceling a future, or completing it otherwise, cancels its request", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                var cancelled = m.pool().listAsync();
                cancelled.cancel(true);
                thrown(CancellationException.class, cancelled::join);
                eventually("the process is told", () -> silent.hasSeen("\"$/cancelRequest\",\"params\":{\"id\":1}"));
                var late = m.pool().listAsync().orTimeout(50, TimeUnit.MILLISECONDS);
                expect(thrown(CompletionException.class, late::join).getCause() instanceof TimeoutException, "as Java has it");
                eventually("the process is told", () -> silent.hasSeen("\"$/cancelRequest\",\"params\":{\"id\":2}"));
            }
        });
        check("the time limit of a call applies to futures", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                var late = m.withTimeout(Duration.ofMillis(50)).pool().listAsync();
                expect(thrown(CompletionException.class, late::join).getCause() instanceof CallTimeoutException, "it says so");
                eventually("the process is told", () -> silent.hasSeen("$/cancelRequest"));
            }
        });
        check("a call in the reader thread fails with IllegalStateException, and close returns", () -> {
            try (var late = StandIn.that(ANSWERS_LATER); var m = late.start(o -> o.executor(Runnable::run))) {
                var calling = m.pool().listAsync().thenApply(pools -> m.system().ping());
                var closing = m.system().pingAsync();
                var wrong = thrown(CompletionException.class, () -> calling.orTimeout(60, TimeUnit.SECONDS).join());
                expect(wrong.getCause() instanceof IllegalStateException && wrong.getMessage().contains("options.executor"), wrong);
                closing.thenAccept(pong -> m.close(Duration.ofMinutes(1))).orTimeout(60, TimeUnit.SECONDS).join();
            }
        });
        check("close returns while a dependent action of a future is blocked", () -> {
            try (var late = StandIn.that(ANSWERS_LATER); var m = late.start(o -> o.executor(Runnable::run))) {
                var isStuck = new CompletableFuture<Void>();
                var never = new CompletableFuture<Void>();
                m.pool().listAsync().thenRun(() -> {
                    isStuck.complete(null);
                    never.join();
                });
                m.system().pingAsync();
                isStuck.orTimeout(60, TimeUnit.SECONDS).join();
                m.close(Duration.ZERO);
                never.complete(null);
            }
        });
        check("an executor that rejects tasks fails the future with its exception", () -> {
            for (var refusal : List.of(new RejectedExecutionException("full"), new IllegalStateException("shut"))) {
                try (var m = TestingMintmark.start(o -> o.executor(work -> {
                    throw refusal;
                }))) {
                    equal(thrown(CompletionException.class, () -> m.system().pingAsync().orTimeout(60, TimeUnit.SECONDS).join()).getCause(), refusal);
                }
            }
        });
    }
}
