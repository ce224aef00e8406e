package mintmark.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import mintmark.Calls;
import mintmark.Mintmark;
import mintmark.Notification;
import mintmark.Options;
import mintmark.json.JsonRecord;

/** A client and the notifications that it has received. */
final class Client {
    private final List<Map<String, Object>> heard = new ArrayList<>();
    private final Mintmark mintmark;

    Client(Step step) {
        mintmark = step.what().equals("testing")
                ? Mintmark.testing(o -> o.log(line -> {}).onNotification(this::listen))
                : Mintmark.start(options(step));
    }

    private Options options(Step step) {
        var options = new Options().log(line -> {}).onNotification(this::listen).store(step.text("store")).app(step.text("app"))
                .binary(step.text("binary")).testing(step.truth("testing")).timeout(step.seconds("timeoutSeconds"))
                .arguments(step.list("arguments").stream().map(String.class::cast).toList());
        return step.members().get("restart") instanceof Boolean restart ? options.restart(restart) : options;
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
        return typed.isPresent() ? json(typed.get().call()) : calls(step).call(step.text("method"), params);
    }

    CompletableFuture<Object> callAsync(Step step, Map<String, Object> params) {
        try {
            var typed = typed(step, params, "Async");
            if (typed.isEmpty()) {
                return calls(step).callAsync(step.text("method"), params);
            }
            var future = (CompletableFuture<?>) typed.get().call();
            var answer = new CompletableFuture<Object>();
            future.whenComplete((result, wrong) -> {
                if (wrong == null) {
                    answer.complete(json(result));
                } else {
                    answer.completeExceptionally(wrong);
                }
            });
            // The caller cancels the returned future. Pass the cancellation on to the client's future.
            answer.whenComplete((result, wrong) -> future.cancel(true));
            return answer;
        } catch (Exception wrong) {
            return CompletableFuture.failedFuture(wrong);
        }
    }

    private static Object json(Object result) {
        return result instanceof JsonRecord record ? record.toJson() : result;
    }

    private Calls calls(Step step) {
        Calls calls = mintmark;
        if (step.seconds("timeoutSeconds") != null) {
            calls = calls.withTimeout(step.seconds("timeoutSeconds"));
        }
        return step.text("trace") == null ? calls : calls.withTrace(step.text("trace"));
    }

    /** A call of a typed method. */
    private interface Typed {
        Object call() throws Exception;
    }

    /** The typed method, or empty if the parameters do not survive a round trip through the parameter record. */
    private Optional<Typed> typed(Step step, Map<String, Object> params, String ending) throws Exception {
        var names = step.text("method").split("\\.", 2);
        var namespace = Arrays.stream(Calls.class.getMethods()).filter(each -> each.getName().equals(names[0]) && each.getParameterCount() == 0)
                .filter(each -> each.getReturnType().getSimpleName().endsWith("Methods")).findFirst();
        if (namespace.isEmpty() || names.length < 2) {
            return Optional.empty();
        }
        var methods = namespace.get().invoke(calls(step));
        // Methods whose names are reserved words in Java end with an underscore.
        var wanted = List.of(names[1] + ending, names[1] + "_" + ending);
        var found = Arrays.stream(methods.getClass().getMethods()).filter(each -> wanted.contains(each.getName())).toList();
        for (var method : found) {
            if (method.getParameterCount() == 1 && JsonRecord.class.isAssignableFrom(method.getParameterTypes()[0])) {
                return record(method.getParameterTypes()[0], params).map(record -> () -> invoke(method, methods, record));
            }
        }
        return found.stream().filter(each -> found.size() == 1 && params.isEmpty()).findFirst().map(method -> () -> invoke(method, methods));
    }

    private static Optional<Object> record(Class<?> type, Map<String, Object> params) throws Exception {
        try {
            var record = (JsonRecord) type.getMethod("of", Map.class).invoke(null, params);
            return record.toJson().equals(params) ? Optional.of(record) : Optional.empty();
        } catch (InvocationTargetException refused) {
            return Optional.empty();
        }
    }

    private static Object invoke(Method method, Object target, Object... arguments) throws Exception {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException wrong) {
            if (wrong.getCause() instanceof RuntimeException own) {
                throw own;
            }
            throw wrong;
        }
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
