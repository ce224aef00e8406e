package mintmark.conformance;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import mintmark.Calls;
import mintmark.HookAnswer;
import mintmark.HookRefusedException;
import mintmark.HookRequest;
import mintmark.Mintmark;
import mintmark.Notification;
import mintmark.Options;
import mintmark.testing.TestingMintmark;

/** A client and the notifications that it has received. */
final class Client {
    private final List<Map<String, Object>> heard = new ArrayList<>();
    private final List<Map<String, Object>> asked = new ArrayList<>();
    private final Mintmark mintmark;

    Client(Step step) {
        boolean hasData = step.text("store") != null || step.text("app") != null;
        boolean isTesting = step.what().equals("testing") || step.truth("testing") && hasData;
        mintmark = isTesting ? TestingMintmark.start(o -> fill(o, step)) : Mintmark.start(o -> fill(o, step));
    }

    private void fill(Options options, Step step) {
        options.log(line -> {}).onNotification(this::listen).store(step.text("store")).app(step.text("app")).binary(step.text("binary"))
                .timeout(step.seconds("timeoutSeconds")).arguments(step.list("arguments").stream().map(String.class::cast).toList())
                .restart((Boolean) step.members().get("restart"));
        Step.object(step.members().get("hooks")).forEach((name, behavior) -> {
            switch (name) {
                case "beforeCreate" -> options.beforeCreate(request -> decide((String) behavior, request));
                case "beforeSignIn" -> options.beforeSignIn(request -> decide((String) behavior, request));
                default -> options.beforeSendMessage(request -> decide((String) behavior, request));
            }
        });
    }

    private HookAnswer decide(String behavior, HookRequest request) {
        synchronized (asked) {
            asked.add(Map.of("hook", request.hook(), "params", request.params()));
        }
        return switch (behavior) {
            case "changes" -> new HookAnswer().displayName("Hooked").photoUrl("https://example.com/hooked.png").emailVerified(true)
                    .claims(Map.of("role", "staff")).sessionClaims(Map.of("desk", 7));
            case "refuses" -> throw new HookRefusedException("not on the list");
            case "fails" -> throw new IllegalStateException("the directory is down");
            case "calls" -> {
                mintmark.call("account.find", Map.of("username", request.account().orElseThrow().username().orElseThrow()));
                yield null;
            }
            default -> null;
        };
    }

    List<Map<String, Object>> asked() {
        synchronized (asked) {
            return List.copyOf(asked);
        }
    }

    private void listen(Notification notification) {
        synchronized (heard) {
            heard.add(Map.of("method", notification.method(), "params", notification.params()));
        }
    }

    List<Map<String, Object>> heard() {
        synchronized (heard) {
            return List.copyOf(heard);
        }
    }

    Mintmark mintmark() {
        return mintmark;
    }

    void close(Duration grace) {
        if (grace == null) {
            mintmark.close();
        } else {
            mintmark.close(grace);
        }
    }

    Object call(Step step, Map<String, Object> params) throws Exception {
        var typed = typed(step, params, "");
        return typed.isPresent() ? Typed.json(typed.get().call()) : calls(step).call(step.text("method"), params).toJson();
    }

    CompletableFuture<Object> callAsync(Step step, Map<String, Object> params) {
        try {
            var typed = typed(step, params, "Async");
            var future = typed.isPresent() ? (CompletableFuture<?>) typed.get().call() : calls(step).callAsync(step.text("method"), params);
            var answer = new CompletableFuture<Object>();
            future.whenComplete((result, wrong) -> {
                try {
                    if (wrong != null) {
                        throw wrong;
                    }
                    answer.complete(Typed.json(result));
                } catch (Throwable failure) {
                    answer.completeExceptionally(failure);
                }
            });
            // The caller cancels the returned future. Pass the cancellation on to the client's future.
            answer.whenComplete((result, wrong) -> future.cancel(true));
            return answer;
        } catch (Exception wrong) {
            return CompletableFuture.failedFuture(wrong);
        }
    }

    private Calls calls(Step step) {
        Calls calls = mintmark;
        if (step.seconds("timeoutSeconds") != null) {
            calls = calls.withTimeout(step.seconds("timeoutSeconds"));
        }
        return step.text("trace") == null ? calls : calls.withTrace(step.text("trace"));
    }

    /** The typed method, or empty if the client has no such method or no such parameters. */
    private Optional<Callable<Object>> typed(Step step, Map<String, Object> params, String ending) {
        return Typed.call(calls(step), step.text("method"), params, ending);
    }

    /** Performs `calls` calls with `atOnce` concurrent callers, and returns the elapsed time in seconds. */
    double bench(Step step) throws Exception {
        var left = new AtomicLong(((Number) step.members().get("calls")).longValue());
        var atOnce = ((Number) step.members().get("atOnce")).intValue();
        var typed = typed(step, step.params(), "").orElseThrow();
        var callers = Executors.newFixedThreadPool(atOnce);
        try {
            var began = System.nanoTime();
            var running = new ArrayList<Future<?>>();
            for (var i = 0; i < atOnce; i++) {
                running.add(callers.submit(() -> {
                    while (left.decrementAndGet() >= 0) {
                        typed.call();
                    }
                    return null;
                }));
            }
            for (var each : running) {
                each.get();
            }
            return (System.nanoTime() - began) / 1e9;
        } finally {
            callers.shutdown();
        }
    }

    Object strange(String kind) {
        var cycle = new HashMap<String, Object>();
        cycle.put("itself", cycle);
        Function<Object, Object> function = each -> each;
        List<Object> deep = List.of();
        for (var level = 0; level < 70; level++) {
            deep = List.of(deep);
        }
        var value = Map.of(
                "nan", Double.NaN, "infinity", Float.POSITIVE_INFINITY, "cycle", cycle, "surrogate", "\ud83e", "date", Instant.now(),
                "function", function, "bytes", new byte[] {-1}, "set", Set.of(1, 2), "bigint", BigInteger.TWO.pow(70), "deep", deep).get(kind);
        return mintmark.account().setClaims(p -> p.accountId("a").claims(Map.of("value", value))).toJson();
    }
}
