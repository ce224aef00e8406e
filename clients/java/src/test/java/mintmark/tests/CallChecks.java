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
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import mintmark.ApiException;
import mintmark.CallCancelledException;
import mintmark.CallTimeoutException;
import mintmark.Mintmark;
import mintmark.Notification;
import mintmark.ProtocolException;
import mintmark.contract.AccountImportParams;
import mintmark.contract.InvalidCursorException;
import mintmark.contract.InvalidParamsException;
import mintmark.contract.InvalidRequestException;
import mintmark.contract.MethodNotFoundException;
import mintmark.contract.ParseErrorException;
import mintmark.contract.ImportProgress;
import mintmark.contract.Pool;
import mintmark.contract.PoolNotFoundException;
import mintmark.contract.PortableAccount;
import mintmark.testing.TestingMintmark;

/** Tests of synchronous calls. */
final class CallChecks {
    private static final String NOWHERE = "local-1:00000000-0000-0000-0000-000000000000";

    private CallChecks() {}

    static Pool shop(Mintmark m) {
        return m.pool().create(p -> p.name("shop").developerProvider("login.shop"));
    }

    static void add() {
        check("errors have specific types with typed details", () -> {
            try (var m = TestingMintmark.start()) {
                var missing = thrown(PoolNotFoundException.class, () -> m.withTrace("order-17").pool().get(p -> p.poolId(NOWHERE)));
                equal(List.of(missing.poolId(), missing.code(), missing.type(), missing.method(), missing.trace().orElseThrow()),
                        List.of(NOWHERE, 2001, "poolNotFound", "pool.get", "order-17"));
                expect(missing.getMessage().startsWith("pool.get: ") && missing.retryAfter().isEmpty(), missing);
                var invalid = thrown(InvalidParamsException.class, () -> m.pool().create(p -> p.name("")));
                equal(invalid.violations().get(0).pointer(), "/name");
                var unknown = thrown(ApiException.class, () -> m.call("no.such", Map.of()));
                expect(unknown instanceof MethodNotFoundException, unknown);
            }
        });
        check("pages and items are requested in order", () -> {
            try (var m = TestingMintmark.start()) {
                for (int i = 0; i < 5; i++) {
                    shop(m);
                }
                var pages = m.pool().listPages(p -> p.limit(2));
                for (int turn = 0; turn < 2; turn++) {
                    equal(pages.stream().map(page -> page.pools().size()).toList(), List.of(2, 2, 1));
                }
                var ids = new ArrayList<String>();
                for (var pool : m.pool().listAll(p -> p.limit(2))) {
                    ids.add(pool.poolId());
                }
                equal(ids, m.pool().list().pools().stream().map(pool -> pool.poolId()).toList());
                equal(m.pool().listAll().stream().map(pool -> pool.poolId()).toList(), ids);
                equal(m.tenant().listAll(p -> p.limit(1)).stream().limit(1).count(), 1L);
                thrown(NoSuchElementException.class, () -> m.idp().listAll().iterator().next());
                thrown(InvalidCursorException.class, () -> m.pool().listPages(p -> p.cursor("wrong")).iterator().next());
            }
        });
        check("multiple threads can share a client", () -> {
            try (var m = TestingMintmark.start()) {
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
                    thrown(CallCancelledException.class, () -> m.pool().list());
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
                thrown(CallCancelledException.class, () -> m.pool().list());
                expect(Thread.interrupted(), "the interrupt stays");
                m.system().pingAsync();
                eventually("the next call is sent", () -> silent.hasSeen("system.ping"));
                expect(!silent.hasSeen("pool.list"), "nothing is sent");
            }
        });
        check("the time limits of a client and of a call apply", () -> {
            try (var silent = StandIn.that(StandIn.SILENT); var m = silent.start(o -> {})) {
                var late = thrown(CallTimeoutException.class, () -> m.withTimeout(Duration.ofMillis(100)).pool().list());
                expect(late.getMessage().contains("pool.list took longer than its time limit of 0.1 s"), late);
                eventually("the process is told", () -> silent.hasSeen("$/cancelRequest"));
                expect(thrown(IllegalArgumentException.class, () -> m.withTimeout(Duration.ZERO)).getMessage().contains("Omit it"), "in words");
                thrown(IllegalArgumentException.class, () -> Mintmark.start(o -> o.store(":memory:").timeout(Duration.ofSeconds(-1))));
            }
        });
        check("progress is delivered to the reporting call only, before its result", () -> {
            var heard = new ConcurrentLinkedQueue<Notification>();
            try (var m = TestingMintmark.start(o -> o.onNotification(heard::add))) {
                var accounts = IntStream.range(0, 450).mapToObj(i -> new PortableAccount().withEmail("user" + i + "@example.com")).toList();
                var lines = new ConcurrentLinkedQueue<Long>();
                var patient = m.withTimeout(Duration.ofMinutes(5));
                Consumer<ImportProgress> listener = progress -> {
                    lines.add(progress.nextLine());
                    // The listener can make calls, and its exceptions do not end the call.
                    expect(m.system().ping().now() == null, "thrown on purpose");
                };
                var said = new ConcurrentLinkedQueue<Throwable>();
                Thread.setDefaultUncaughtExceptionHandler((thread, wrong) -> said.add(wrong));
                try {
                    equal(patient.account().import_(p -> p.accounts(accounts), listener).imported(), 450L);
                } finally {
                    Thread.setDefaultUncaughtExceptionHandler(null);
                }
                var told = List.copyOf(lines);
                expect(told.size() >= 2 && told.equals(told.stream().sorted().distinct().toList()), told);
                equal(said.size(), told.size());
                patient.account().import_Async(p -> p.accounts(accounts).onExisting(AccountImportParams.OnExisting.SKIP), progress -> lines.add(0L)).join();
                expect(lines.size() >= told.size() + 2, lines);
                int all = lines.size();
                m.account().import_(p -> p.accounts(accounts).onExisting(AccountImportParams.OnExisting.SKIP));
                equal(lines.size(), all);
                equal(List.copyOf(heard), List.of());
            }
        });
        check("a time limit beyond the range of nanoseconds counts as no limit", () -> {
            try (var m = TestingMintmark.start(o -> o.timeout(Duration.ofSeconds(Long.MAX_VALUE)))) {
                expect(m.system().ping().now() != null, "it answers");
                expect(m.system().pingAsync().get().now() != null, "it answers");
            }
        });
        check("a result of an unexpected type fails with ProtocolException", () -> {
            try (var odd = StandIn.that("echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"pools\":5}}'"); var m = odd.start(o -> {})) {
                var pools = m.pool().list();
                var wrong = thrown(ProtocolException.class, pools::pools);
                expect(wrong.getMessage().contains("pools: expected a list"), wrong);
                expect(wrong.getMessage().contains("compare mintmark --version. toJson() returns the result without decoding it."), wrong);
                equal(pools.toJson(), Map.of("pools", 5L));
                equal(m.call("pool.list", Map.of()).toJson(), pools.toJson());
            }
            try (var odd = StandIn.that("echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":[]}'"); var m = odd.start(o -> {})) {
                expect(thrown(ProtocolException.class, () -> m.pool().list()).getMessage().contains("not an object"), "in words");
            }
        });
        check("a testing method without a testing store fails with advice to use TestingMintmark", () -> {
            try (var m = Mintmark.start(o -> o.store(":memory:"))) {
                var missing = thrown(MethodNotFoundException.class, () -> m.call("test.clock", Map.of()));
                expect(missing.getMessage().contains("mintmark.testing.TestingMintmark"), missing);
            }
        });
        check("a request that is too long or too deeply nested fails as in Mintmark", () -> {
            try (var m = TestingMintmark.start()) {
                var deep = new ArrayList<Object>();
                for (int level = 0; level < 70; level++) {
                    deep = new ArrayList<>(List.<Object>of(deep));
                }
                Object tooDeep = deep;
                thrown(ParseErrorException.class, () -> m.account().setClaims(p -> p.accountId("a").claims(Map.of("value", tooDeep))));
                var tooLong = "x".repeat(1_100_000);
                thrown(InvalidRequestException.class, () -> m.token().verify(p -> p.token(tooLong).audience("a")));
            }
        });
    }
}
