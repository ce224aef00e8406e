package mintmark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import mintmark.contract.Contract;
import mintmark.contract.Errors;

/** One process of mintmark serve and its pipes. */
final class ServerProcess {
    /** The maximum length of a line, in bytes: a result of 16 MiB and its envelope. */
    private static final int LONGEST_ANSWER = 17 << 20;

    /** The maximum number of bytes of invalid output that an error message quotes. */
    private static final int SHOWN = 80;

    /** The time limit for the exit of a process that has closed its output. */
    private static final long PATIENCE_SECONDS = 10;

    /** The ID of the first request, system.info. Calls have higher IDs. */
    private static final long INFO = 0;

    /** Completes with true if the process is a supported version of Mintmark, or with false if it has ended. */
    final CompletableFuture<Boolean> ready = new CompletableFuture<>();

    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Settings settings;
    private final Telling<Notification> notifications;
    private final Process process;
    private final Outbox input;
    private final Log log;
    private final Thread reader;

    private final Map<Long, Pending> waiting = new ConcurrentHashMap<>();
    /** Requests that are held back until the version of the process is known. */
    private final Map<Long, byte[]> held = new LinkedHashMap<>();
    private final AtomicLong lastId = new AtomicLong(INFO);
    /** Set only by the thread that reads the output. */
    private volatile boolean isReady;
    private volatile boolean isEnding;
    private Supplier<MintmarkException> refusal;

    ServerProcess(Settings settings, Telling<Notification> notifications) {
        this.settings = settings;
        this.notifications = notifications;
        try {
            process = settings.command().start();
        } catch (IOException wrong) {
            throw new BinaryNotFoundException(settings.binary(), wrong);
        }
        log = new Log(process.getErrorStream(), settings.log());
        input = new Outbox(process.getOutputStream(), () -> waiting.size() > 1);
        input.send(Wire.line(INFO, false, ",\"method\":\"system.info\"}\n".getBytes(StandardCharsets.UTF_8)));
        if (!settings.hooks().isEmpty()) {
            input.send(settings.hooks().offer());
        }
        reader = Threads.start("mintmark-reader", this::read);
    }

    /** Whether the current thread reads the responses. No call can wait in this thread. */
    boolean isReadHere() {
        return Thread.currentThread() == reader;
    }

    boolean hasEnded() {
        return isEnding;
    }

    /** Sends a request. `body` is the request without its beginning; `progress` may be null. */
    Pending request(String method, byte[] body, Consumer<Map<String, Object>> progress) {
        var pending = new Pending(this, method, lastId.incrementAndGet(), progress);
        var line = Wire.line(pending.id, pending.isReporting(), body);
        waiting.put(pending.id, pending);
        if (isReady) {
            input.send(line);
        } else {
            hold(pending.id, line);
        }
        // The end of the output fails all calls that were waiting then; this one may have come later.
        if (isEnding && waiting.remove(pending.id) != null) {
            // Callers wait until the exit status is known, which happens shortly after the end of the output.
            ended.thenRun(() -> pending.complete(null));
        }
        return pending;
    }

    private synchronized void hold(long id, byte[] line) {
        if (isReady) {
            input.send(line);
        } else {
            held.put(id, line);
        }
    }

    /**
     * Returns whether the call was still waiting, and stops waiting for it. If the request was already sent, also cancels it in the
     * process.
     */
    boolean forget(Pending pending) {
        if (waiting.remove(pending.id) == null) {
            return false;
        }
        synchronized (this) {
            if (held.remove(pending.id) != null) {
                return true;
            }
        }
        input.send(Wire.cancellation(pending.id));
        return true;
    }

    /** Closes the input. The process finishes the requests that it has received, then exits. It is killed after the grace period. */
    void close(Duration grace) {
        input.end();
        if (isReadHere()) {
            // Waiting here would block the thread that reads the end of the output.
            kill();
            return;
        }
        try {
            ended.get(CallSettings.nanoseconds(grace), TimeUnit.NANOSECONDS);
            return;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException late) {
            // The process is killed below.
        }
        kill();
        try {
            // Application code that runs in the reader thread can block indefinitely.
            ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException stuck) {
            // The process is killed in any case.
        }
    }

    /** Kills the process and its descendants. If the program is a script, a descendant holds the pipe. */
    private void kill() {
        var started = process.descendants().toList();
        process.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
    }

    /** Returns a new exception for a call that failed because the process has ended. */
    MintmarkException failure(String method) {
        ended.join();
        if (refusal != null) {
            return refusal.get();
        }
        return new ProcessEndedException(method, settings.binary(), process.exitValue(), log.last(), advice());
    }

    /** The recommended next action. Before it has identified itself, Mintmark exits only with status 2, 64 or 74. */
    private String advice() {
        boolean isMintmark = isReady || List.of(2, 64, 74).contains(process.exitValue());
        return isMintmark ? settings.advice() : "Is it the right program? Set another path with options.binary(…) or MINTMARK_BINARY.";
    }

    // The methods below run in the reader thread.

    private void read() {
        try (var output = new Lines(process.getInputStream(), LONGEST_ANSWER)) {
            for (var line = output.next(); line != null && refusal == null; line = refusal == null ? output.next() : null) {
                take(line);
            }
        } catch (IOException gone) {
            // Handled like the end of the output.
        } finally {
            finish();
        }
    }

    private void take(byte[] line) {
        var message = line.length > LONGEST_ANSWER ? null : Message.of(line);
        if (message == null || message.method() == null && !message.isAnswer()) {
            var beginning = new String(line, 0, Math.min(line.length, SHOWN), StandardCharsets.UTF_8);
            refusal = () -> ProtocolException.of(settings.binary(), "it wrote " + beginning.strip());
        } else if (message.method() != null && message.id() != null) {
            settings.hooks().answer(message, input::send);
        } else if (Long.valueOf(Hooks.OFFER).equals(message.id())) {
            accept(message);
        } else if (message.method() != null) {
            tell(new Notification(message.method(), message.params()));
        } else if (message.id() == null && message.isError()) {
            refuseOrSettleAll(message);
        } else if (Long.valueOf(INFO).equals(message.id())) {
            judge(message);
        } else {
            settle(message);
        }
    }

    /** Passes progress to the call that it belongs to, and every other notification to the listener. */
    private void tell(Notification notification) {
        Pending pending = null;
        if (notification.method().equals("$/progress")) {
            pending = notification.params().get("token") instanceof Long token ? waiting.get(token) : null;
        }
        if (pending != null && pending.isReporting()) {
            pending.tell(Message.object(notification.params().get("value")));
        } else {
            notifications.add(notification);
        }
    }

    /** Handles an error without an ID. The process could not parse a line, so every waiting call fails with that error. */
    private void refuseOrSettleAll(Message message) {
        if (isReady) {
            settleAll(message);
        } else {
            refusal = () -> ProtocolException.of(settings.binary(), "it cannot read system.info");
        }
    }

    /** Checks the version of the process. A process that does not allow system.info counts as supported. Later responses are ignored. */
    private void judge(Message message) {
        if (isReady) {
            return;
        }
        if (message.result() instanceof Map<?, ?> info && info.get("version") instanceof String version
                && Wire.isBelow(version, Contract.VERSION)) {
            refusal = () -> new BinaryTooOldException(settings.binary(), version);
            return;
        }
        if (settings.hooks().isEmpty()) {
            letIn();
        }
    }

    /** Handles the response to the offer of hooks. */
    private void accept(Message message) {
        if (message.isError()) {
            refusal = () -> Errors.of(message.error("hooks.offer"));
        } else if (!isReady) {
            letIn();
        }
    }

    /** Sends the requests that were held back. */
    private void letIn() {
        synchronized (this) {
            held.values().forEach(input::send);
            held.clear();
            // Later requests are sent after those that were held.
            isReady = true;
        }
        ready.complete(true);
    }

    private void settle(Message message) {
        var pending = message.id() instanceof Long id ? waiting.get(id) : null;
        if (pending != null) {
            settle(pending, message);
        }
    }

    /** Completes a call, unless it has ended already. A call that cannot be canceled any more has its response. */
    private void settle(Pending pending, Message message) {
        pending.settle(message);
        if (waiting.remove(pending.id) != null) {
            pending.answer(message);
        }
    }

    private void settleAll(Message message) {
        synchronized (this) {
            held.clear();
        }
        List.copyOf(waiting.values()).forEach(pending -> settle(pending, message));
    }

    /** Waits until the process has exited, then fails the waiting calls. */
    private void finish() {
        isEnding = true;
        if (refusal != null) {
            kill();
        }
        input.end();
        reap();
        log.finish();
        ended.complete(null);
        ready.complete(false);
        settleAll(null);
    }

    /** Waits for the exit of the process. A process that has closed its output but does not exit is killed. */
    private void reap() {
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                kill();
                process.waitFor();
            }
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }
}
