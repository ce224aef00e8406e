package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.eventually;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import mintmark.BinaryTooOldException;
import mintmark.CallTimeoutException;
import mintmark.Mintmark;
import mintmark.ProcessEndedException;
import mintmark.ProtocolException;
import mintmark.testing.TestingMintmark;

/** Tests with programs that do not behave like Mintmark, and with listeners that block. */
final class ProgramChecks {
    /** Sends progress, then the response, then a notification. */
    private static final String REPORTS = """
            echo '{"jsonrpc":"2.0","method":"$/progress","params":{"token":'$id',"value":{}}}'
            echo '{"jsonrpc":"2.0","id":'$id',"result":{"pools":[]}}'
            echo '{"jsonrpc":"2.0","method":"moon/risen"}'""";

    private ProgramChecks() {}

    private static String says(String version) {
        return "echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"version\":\"" + version + "\"}}'";
    }

    static void add() {
        check("a program that cannot parse system.info fails with ProtocolException", () -> {
            var other = "echo '{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"x\"}}'";
            try (var program = StandIn.that(other, StandIn.SILENT)) {
                var wrong = thrown(ProtocolException.class, () -> program.start(o -> o.timeout(Duration.ofMinutes(1))));
                expect(wrong.getMessage().contains("it cannot read system.info. Is it the right program?"), wrong);
            }
        });
        check("an older version fails with BinaryTooOldException, a text that is not a version does not", () -> {
            for (var version : List.of("dev", "", "main-7b19962", "1.x", "0.99999999999")) {
                try (var program = StandIn.that(says(version), REPORTS); var m = program.start(o -> {})) {
                    equal(m.pool().list().pools().size(), 0);
                }
            }
            for (var version : List.of("0", "0.0.9", "0.0.9-beta", "0.0.9+5")) {
                try (var program = StandIn.that(says(version), REPORTS)) {
                    thrown(BinaryTooOldException.class, () -> program.start(o -> {}));
                }
            }
        });
        check("a second system.info result, a result without an ID and unrequested progress are ignored", () -> {
            var odd = says("0.0.1") + "; echo '{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"pools\":5}}'; " + REPORTS;
            try (var program = StandIn.that(odd); var m = program.start(o -> {})) {
                equal(m.pool().list().pools().size(), 0);
                equal(m.pool().list().pools().size(), 0);
            }
        });
        check("close kills the children of a script and fails the waiting calls", () -> {
            var risen = new CompletableFuture<String>();
            var command = "sleep 600 & echo '{\"jsonrpc\":\"2.0\",\"method\":\"moon/risen\"}'; wait";
            try (var script = StandIn.that(command); var m = script.start(o -> o.onNotification(told -> risen.complete(told.method())))) {
                var waiting = m.pool().listAsync();
                risen.get(60, TimeUnit.SECONDS);
                m.close(Duration.ZERO);
                var ended = thrown(CompletionException.class, () -> waiting.orTimeout(60, TimeUnit.SECONDS).join());
                expect(ended.getCause() instanceof ProcessEndedException, ended);
            }
        });
        check("a blocked listener delays neither an interrupt nor a time limit", () -> {
            var never = new CompletableFuture<Void>();
            var risen = new CompletableFuture<String>();
            try (var moon = StandIn.that(REPORTS); var m = moon.start(o -> o.onNotification(told -> risen.complete(told.method())))) {
                var task = new FutureTask<>(() -> m.audit().verify(p -> {}, value -> never.join()).toJson().containsKey("pools")
                        && Thread.currentThread().isInterrupted());
                var thread = new Thread(task);
                thread.start();
                risen.get(60, TimeUnit.SECONDS);
                thread.interrupt();
                equal(task.get(60, TimeUnit.SECONDS), true);
                var limited = m.withTimeout(Duration.ofMillis(300)).audit();
                var late = new FutureTask<>(() -> answersOrIsLate(() -> limited.verify(p -> {}, value -> never.join())));
                new Thread(late).start();
                late.get(60, TimeUnit.SECONDS);
                answersOrIsLate(() -> limited.verifyAsync(p -> {}, value -> never.join()).get(60, TimeUnit.SECONDS));
            } finally {
                never.complete(null);
            }
        });
        check("an uncaught exception handler that throws does not stop the listener", () -> {
            var isFirst = new AtomicBoolean(true);
            var heard = new CompletableFuture<String>();
            Thread.setDefaultUncaughtExceptionHandler((thread, wrong) -> {
                throw new IllegalStateException("the handler's own fault");
            });
            try (var moon = StandIn.that(REPORTS); var m = moon.start(o -> o.onNotification(told -> {
                if (isFirst.getAndSet(false)) {
                    throw new IllegalStateException("my own fault");
                }
                heard.complete(told.method());
            }))) {
                m.pool().list();
                heard.get(60, TimeUnit.SECONDS);
            } finally {
                Thread.setDefaultUncaughtExceptionHandler(null);
            }
        });
        check("futures complete if the common pool has no threads", () -> {
            var java = ProcessHandle.current().info().command().orElseThrow();
            var program = new ProcessBuilder(java, "-Djava.util.concurrent.ForkJoinPool.common.parallelism=0", "-XX:TieredStopAtLevel=1",
                    "-classpath", System.getProperty("java.class.path"), NoCommonPool.class.getName()).inheritIO().start();
            equal(program.waitFor(), 0);
        });
        check("a null value resets an option", () -> {
            var said = new ConcurrentLinkedQueue<String>();
            try (var m = TestingMintmark.start(o -> o.region("moon-1").region(null).account(null).issuer(null).clock(null).masterKeyFile(null).caller(null)
                    .binary(null).timeout(null).arguments(null).environment("LATER", "x").environment("LATER", null).executor(null)
                    .onNotification(null).log(said::add).log(null))) {
                equal(m.system().infoAsync().get(60, TimeUnit.SECONDS).region(), "local-1");
            }
            equal(List.copyOf(said), List.of());
            var hole = new java.util.ArrayList<>(List.of("--audit-issuance"));
            hole.add(null);
            var wrong = thrown(IllegalArgumentException.class, () -> TestingMintmark.start(o -> o.arguments(hole)));
            expect(wrong.getMessage().contains("Omit it"), wrong);
            thrown(IllegalArgumentException.class, () -> TestingMintmark.start(o -> o.environment(null, "x")));
        });
    }

    /** Calls and accepts both outcomes, because the speed of the program is unknown. Returns whether a result arrived in time. */
    private static boolean answersOrIsLate(java.util.concurrent.Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (CallTimeoutException late) {
            return false;
        } catch (java.util.concurrent.ExecutionException wrong) {
            expect(wrong.getCause() instanceof CallTimeoutException, wrong);
            return false;
        }
        return true;
    }

    /** A program that waits for a future; runs in a JVM whose common pool can have no threads. */
    static final class NoCommonPool {
        private NoCommonPool() {}

        public static void main(String[] arguments) throws Exception {
            try (var m = TestingMintmark.start()) {
                m.system().pingAsync().get(60, TimeUnit.SECONDS);
            }
        }
    }
}
