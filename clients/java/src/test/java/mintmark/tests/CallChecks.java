package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.eventually;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import mintmark.AnswerException;
import mintmark.CallInterruptedException;
import mintmark.CallTimedOutException;
import mintmark.Mintmark;
import mintmark.Notification;
import mintmark.ProtocolException;
import mintmark.contract.AccountMethods.ImportParams;
import mintmark.contract.Errors;
import mintmark.contract.Types.Pool;
import mintmark.contract.Types.PortableAccount;

/** Tests of synchronous calls. */
final class CallChecks {
    private static final String NOWHERE = "local-1:00000000-0000-0000-0000-000000000000";

    private CallChecks() {}

    static Pool shop(Mintmark m) {
        return m.pool().create(p -> p.name("shop").developerProvider("login.shop"));
    }

    static void add() {
        check("errors have specific types with typed details", () -> {
            try (var m = Mintmark.testing()) {
                var missing = thrown(Errors.PoolNotFoundException.class, () -> m.withTrace("order-17").pool().get(p -> p.poolId(NOWHERE)));
                equal(List.of(missing.poolId(), missing.code(), missing.type(), missing.call(), missing.trace()),
                        List.of(NOWHERE, 2001, "poolNotFound", "pool.get", "order-17"));
                expect(missing.getMessage().startsWith("pool.get: ") && missing.retryAfter().isEmpty(), missing);
                var invalid = thrown(Errors.InvalidParamsException.class, () -> m.pool().create(p -> p.name("")));
                equal(invalid.violations().get(0).pointer(), "/name");
                var unknown = thrown(AnswerException.class, () -> m.call("no.such", Map.of()));
                expect(unknown instanceof Errors.MethodNotFoundException, unknown);
            }
        });
        check("pages are requested in order", () -> {
            try (var m = Mintmark.testing()) {
                for (int i = 0; i < 5; i++) {
                    shop(m);
                }
                var sizes = m.pool().listPages(p -> p.limit(2)).stream().map(page -> page.pools().size()).toList();
                equal(sizes, List.of(2, 2, 1));
                thrown(Errors.InvalidCursorException.class, () -> m.pool().listPages(p -> p.cursor("wrong")).iterator().next());
            }
        });
        check("multiple threads can share a client", () -> {
            try (var m = Mintmark.testing()) {
                var pool = shop(m).poolId();
                var tasks = new ArrayList<FutureTask<String>>();
                for (int i = 0; i < 50; i++) {
                    var name = "role-" + i;
                    var task = new FutureTask<>(() -> m.role().put(p -> p.name(name).poolId(pool)).roleArn());
                    tasks.add(task);
                    new Thread(task).start();
                }
                for (int i = 0; i < tasks.size(); i++) {
                    expect(tasks.get(i).get().endsWith("/role-" + i), tasks.get(i).get());
                }
            }
        });
        check("an interrupt fails the call and cancels the request in the process", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                var task = new FutureTask<>(() -> {
                    thrown(CallInterruptedException.class, () -> m.pool().list());
                    return Thread.currentThread().isInterrupted();
                });
                var thread = new Thread(task);
                thread.start();
                eventually("the request is sent", () -> silent.hasSeen("pool.list"));
                thread.interrupt();
                equal(task.get(), true);
                eventually("the process is told", () -> silent.hasSeen("$/cancelRequest"));
            }
        });
        check("a call in an interrupted thread sends no request", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                Thread.currentThread().interrupt();
                thrown(CallInterruptedException.class, () -> m.pool().list());
                expect(Thread.interrupted(), "the interrupt stays");
                m.system().pingAsync();
                eventually("the next call is sent", () -> silent.hasSeen("system.ping"));
                expect(!silent.hasSeen("pool.list"), "nothing is sent");
            }
        });
        check("the time limits of a client and of a call apply", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                var late = thrown(CallTimedOutException.class, () -> m.withTimeout(Duration.ofMillis(100)).pool().list());
                expect(late.getMessage().contains("pool.list was not answered within 0.1 s"), late);
                eventually("the process is told", () -> silent.hasSeen("$/cancelRequest"));
                expect(thrown(IllegalArgumentException.class, () -> m.withTimeout(Duration.ZERO)).getMessage().contains("leave it out"), "in words");
                thrown(IllegalArgumentException.class, () -> Mintmark.start(o -> o.store(":memory:").timeout(Duration.ofSeconds(-1))));
            }
        });
        check("progress is delivered to the reporting call only, before its result", () -> {
            var heard = new ConcurrentLinkedQueue<Notification>();
            try (var m = Mintmark.testing(o -> o.onNotification(heard::add))) {
                var accounts = IntStream.range(0, 450).mapToObj(i -> PortableAccount.builder().email("user" + i + "@example.com").build()).toList();
                var lines = new ConcurrentLinkedQueue<Long>();
                var reporting = m.withTimeout(Duration.ofMinutes(5)).withProgress(value -> {
                    lines.add((Long) value.get("nextLine"));
                    // The listener can make calls, and its exceptions do not end the call.
                    expect(m.system().ping().now() == null, "thrown on purpose");
                });
                var said = new ConcurrentLinkedQueue<Throwable>();
                Thread.setDefaultUncaughtExceptionHandler((thread, wrong) -> said.add(wrong));
                try {
                    equal(reporting.account().import_(p -> p.accounts(accounts)).imported(), 450L);
                } finally {
                    Thread.setDefaultUncaughtExceptionHandler(null);
                }
                var told = List.copyOf(lines);
                expect(told.size() >= 2 && told.equals(told.stream().sorted().distinct().toList()), told);
                equal(said.size(), told.size());
                reporting.withProgress(value -> lines.add(0L)).account()
                        .importAsync(p -> p.accounts(accounts).onExisting(ImportParams.OnExisting.SKIP)).join();
                expect(lines.size() >= told.size() + 2, lines);
                int all = lines.size();
                m.account().import_(p -> p.accounts(accounts).onExisting(ImportParams.OnExisting.SKIP));
                equal(lines.size(), all);
                equal(List.copyOf(heard), List.of());
            }
        });
        check("a time limit beyond the range of nanoseconds counts as no limit", () -> {
            try (var m = Mintmark.testing(o -> o.timeout(Duration.ofSeconds(Long.MAX_VALUE)))) {
                expect(m.system().ping().now() != null, "it answers");
                expect(m.system().pingAsync().get().now() != null, "it answers");
            }
        });
        check("a result of an unexpected type fails with ProtocolException", () -> {
            try (var odd = StandIn.that("echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"pools\":5}}'"); var m = odd.start(o -> {})) {
                var wrong = thrown(ProtocolException.class, () -> m.pool().list());
                expect(wrong.getMessage().contains("pools: expected a list"), wrong);
                expect(wrong.getMessage().contains("newer than this client? mintmark --version says; m.call(\"pool.list\", …)"), wrong);
                equal(m.call("pool.list", Map.of()), Map.of("pools", 5L));
            }
        });
        check("a testing method without a testing store fails with advice to set options.testing(true)", () -> {
            try (var m = Mintmark.start(o -> o.store(":memory:"))) {
                var missing = thrown(Errors.MethodNotFoundException.class, () -> m.test().clock());
                expect(missing.getMessage().contains("options.testing(true)"), missing);
            }
        });
        check("a request that is too long or too deeply nested fails as in Mintmark", () -> {
            try (var m = Mintmark.testing()) {
                var deep = new ArrayList<Object>();
                for (int level = 0; level < 70; level++) {
                    deep = new ArrayList<>(List.<Object>of(deep));
                }
                Object tooDeep = deep;
                thrown(Errors.ParseErrorException.class, () -> m.account().setClaims(p -> p.accountId("a").claims(Map.of("value", tooDeep))));
                var tooLong = "x".repeat(1_100_000);
                thrown(Errors.InvalidRequestException.class, () -> m.token().verify(p -> p.token(tooLong).audience("a")));
            }
        });
    }
}
