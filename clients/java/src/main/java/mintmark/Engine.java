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
import mintmark.json.JsonException;

/** Performs calls. If the process has ended and its data still exist, the next call starts a new process. */
final class Engine {
    private final Settings settings;
    private final Telling<Notification> notifications;
    private ServerProcess process;
    private boolean isClosed;

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

    <T> T call(String method, Map<String, ?> params, Function<Object, T> read, CallSettings call) {
        if (Thread.currentThread().isInterrupted()) {
            throw new CallInterruptedException(method);
        }
        refuseInReader(method);
        var pending = begin(method, params, call);
        try {
            return result(pending, await(pending, method, call.timeout()), read);
        } catch (CallTimedOutException | CallInterruptedException givenUp) {
            if (pending.giveUp() || !pending.isSettled()) {
                throw givenUp;
            }
            // The response has already arrived, or the progress listener is still busy.
            return result(pending, pending.settled(), read);
        }
    }

    <T> CompletableFuture<T> callAsync(String method, Map<String, ?> params, Function<Object, T> read, CallSettings call) {
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

    private <T> void limit(CompletableFuture<T> future, Pending pending, Duration timeout, Function<Object, T> read) {
        var timer = new CompletableFuture<Void>().orTimeout(CallSettings.nanoseconds(timeout), TimeUnit.NANOSECONDS);
        timer.whenComplete((none, late) -> {
            if (late == null) {
                return;
            }
            if (pending.giveUp() || !pending.isSettled()) {
                elsewhere(future, () -> future.completeExceptionally(new CallTimedOutException(pending.method, timeout)));
            } else {
                elsewhere(future, () -> future.complete(result(pending, pending.settled(), read)));
            }
        });
        pending.whenComplete((message, never) -> timer.complete(null));
        future.whenComplete((result, wrong) -> timer.complete(null));
    }

    private synchronized void refuseInReader(String method) {
        if (process != null && process.isReadHere()) {
            throw new IllegalStateException(method + " would wait for itself: options.executor runs this in the thread that reads answers. Give it "
                    + "an executor with threads of its own, or call " + method + " by its future.");
        }
    }

    private Pending begin(String method, Map<String, ?> params, CallSettings call) {
        var body = Wire.body(method, params, call.trace(), settings.maxLineBytes());
        return running(method).request(method, body, call.progress());
    }

    /** Waits for an internal future, which never completes exceptionally. */
    private static <T> T await(CompletableFuture<T> future, String method, Duration timeout) {
        try {
            return future.get(CallSettings.nanoseconds(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            throw new CallTimedOutException(method, timeout);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new CallInterruptedException(method);
        } catch (ExecutionException never) {
            throw new IllegalStateException(never);
        }
    }

    private <T> T result(Pending pending, Message message, Function<Object, T> read) {
        if (message == null) {
            throw pending.process.failure(pending.method);
        }
        if (message.isError()) {
            throw answered(message.answer(pending.method));
        }
        try {
            return read.apply(message.result());
        } catch (JsonException wrong) {
            throw new ProtocolException("The answer of " + pending.method + " is not what this client takes: " + wrong.getMessage()
                    + ". Is the program newer than this client? mintmark --version says; m.call(\"" + pending.method + "\", …) gives the answer as it is.");
        }
    }

    private MintmarkException answered(Answer answer) {
        var error = Errors.of(answer);
        boolean isOfTesting = Contract.TESTING_METHODS.contains(answer.call());
        if (!(error instanceof Errors.MethodNotFoundException) || !isOfTesting && !Contract.METHODS.contains(answer.call())) {
            return error;
        }
        if (isOfTesting && !settings.isTesting()) {
            var advice = answer.call() + " is offered by testing processes only: say options.testing(true).";
            return Errors.of(new Answer(answer.code(), answer.type(), advice, answer.data(), answer.call(), answer.trace()));
        }
        return new BinaryTooOldException(settings.binary(), answer);
    }

    private synchronized ServerProcess running(String method) {
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
