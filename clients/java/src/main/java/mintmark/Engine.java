package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import mintmark.contract.Contract;
import mintmark.contract.Errors;
import mintmark.contract.MethodNotFoundException;
import mintmark.json.Read;

/** Performs calls. If the process has ended and its data still exist, the next call starts a new process. */
final class Engine {
    private final Settings settings;
    private final Telling<Notification> notifications;
    private volatile ServerProcess process;
    private volatile boolean isClosed;

    Engine(Settings settings) {
        this.settings = settings;
        notifications = new Telling<>("mintmark-notifications", settings.onNotification());
    }

    /** Starts the first process, and waits until it has identified itself. */
    void start() {
        var first = running("system.info");
        if (!await(first.ready, "system.info", settings.timeout())) {
            throw first.failure("system.info");
        }
    }

    <T> T call(String method, Map<String, ?> params, Function<Map<String, Object>, T> read, CallSettings call) {
        if (Thread.currentThread().isInterrupted()) {
            throw new CallCancelledException(method);
        }
        refuseInReader(method);
        var pending = begin(method, params, call);
        try {
            return result(pending, await(pending, method, call.timeout()), read);
        } catch (CallTimeoutException | CallCancelledException givenUp) {
            if (pending.giveUp() || !pending.isSettled()) {
                throw givenUp;
            }
            // The response has already arrived, or the progress listener is still busy.
            return result(pending, pending.settled(), read);
        }
    }

    <T> CompletableFuture<T> callAsync(String method, Map<String, ?> params, Function<Map<String, Object>, T> read, CallSettings call) {
        Pending pending;
        try {
            pending = begin(method, params, call);
        } catch (MintmarkException wrong) {
            return CompletableFuture.failedFuture(wrong);
        }
        var future = new CompletableFuture<T>();
        // Completing the future here would run the application's code in the thread that reads the pipe.
        pending.whenComplete((message, never) -> elsewhere(future, () -> future.complete(result(pending, message, read))));
        if (call.timeout() != null) {
            limit(future, pending, call.timeout(), read);
        }
        future.whenComplete((result, wrong) -> pending.giveUp());
        return future;
    }

    /** Completes a future in the application's executor. If the executor fails, the future fails with the same exception. */
    private void elsewhere(CompletableFuture<?> future, Runnable completion) {
        try {
            settings.executor().execute(() -> {
                try {
                    completion.run();
                } catch (RuntimeException | Error wrong) {
                    future.completeExceptionally(wrong);
                }
            });
        } catch (RuntimeException | Error refused) {
            future.completeExceptionally(refused);
        }
    }

    private <T> void limit(CompletableFuture<T> future, Pending pending, Duration timeout, Function<Map<String, Object>, T> read) {
        var timer = new CompletableFuture<Void>().orTimeout(CallSettings.nanoseconds(timeout), TimeUnit.NANOSECONDS);
        timer.whenComplete((none, late) -> {
            if (late == null) {
                return;
            }
            if (pending.giveUp() || !pending.isSettled()) {
                elsewhere(future, () -> future.completeExceptionally(new CallTimeoutException(pending.method, timeout)));
            } else {
                elsewhere(future, () -> future.complete(result(pending, pending.settled(), read)));
            }
        });
        pending.whenComplete((message, never) -> timer.complete(null));
        future.whenComplete((result, wrong) -> timer.complete(null));
    }

    private void refuseInReader(String method) {
        var current = process;
        if (current != null && current.isReadHere()) {
            throw new IllegalStateException(method + " would wait forever: options.executor runs this code in the thread that reads responses. Use "
                    + "an executor with threads of its own, or the method with the suffix Async.");
        }
    }

    private Pending begin(String method, Map<String, ?> params, CallSettings call) {
        var body = Wire.body(method, params, call.trace(), settings.maxLineBytes());
        return running(method).request(method, body, call.progress());
    }

    /** Waits for an internal future, which never completes exceptionally. */
    private static <T> T await(CompletableFuture<T> future, String method, Duration timeout) {
        try {
            return timeout == null ? future.get() : future.get(CallSettings.nanoseconds(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            throw new CallTimeoutException(method, timeout);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new CallCancelledException(method);
        } catch (ExecutionException never) {
            throw new IllegalStateException(never);
        }
    }

    private <T> T result(Pending pending, Message message, Function<Map<String, Object>, T> read) {
        if (message == null) {
            throw pending.process.failure(pending.method);
        }
        if (message.isError()) {
            throw refused(message.error(pending.method));
        }
        if (!(message.result() instanceof Map<?, ?> result)) {
            throw new ProtocolException("The result of " + pending.method + " is not an object. Compare the version of the program: mintmark --version.");
        }
        return read.apply(Read.OBJECT.apply(result));
    }

    private MintmarkException refused(ErrorResponse response) {
        var error = Errors.of(response);
        var method = response.method();
        boolean isOfTesting = Contract.TESTING_METHODS.contains(method);
        if (!(error instanceof MethodNotFoundException) || !isOfTesting && !Contract.METHODS.contains(method)) {
            return error;
        }
        if (isOfTesting && !settings.isTesting()) {
            return Errors.of(response.saying(method + " requires a testing store. Start the client with mintmark.testing.TestingMintmark."));
        }
        return new BinaryTooOldException(settings.binary(), error);
    }

    private ServerProcess running(String method) {
        var current = process;
        return current == null || isClosed || current.hasEnded() ? started(method) : current;
    }

    private synchronized ServerProcess started(String method) {
        if (isClosed) {
            throw new ClientClosedException(method);
        }
        if (process == null || process.hasEnded() && settings.restarts()) {
            process = new ServerProcess(settings, notifications);
        }
        return process;
    }

    void close(Duration grace) {
        ServerProcess last;
        synchronized (this) {
            isClosed = true;
            last = process;
        }
        if (last != null) {
            last.close(grace);
        }
    }
}
