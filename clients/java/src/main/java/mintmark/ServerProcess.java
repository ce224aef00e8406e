package mintmark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import mintmark.contract.Contract;

/** One running mintmark serve and its pipe, from start to end. */
final class ServerProcess {
    /** Answers have up to 16 MiB; what stands around them fits into the rest. */
    private static final int LONGEST_ANSWER = 17 << 20;

    /** How much of what is no answer an error shows, in bytes. */
    private static final int SHOWN = 80;

    /** How long a process may take to end once it has closed its output. */
    private static final long PATIENCE_SECONDS = 10;

    /** What every process is asked first. Calls have higher ids. */
    private static final long INFO = 0;

    /** Whether it is Mintmark, and new enough; told once that is known. */
    final CompletableFuture<Boolean> ready = new CompletableFuture<>();

    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private final Settings settings;
    private final Telling<Notification> notifications;
    private final Process process;
    private final Outbox input;
    private final Log log;
    private final Thread reader;

    private final Map<Long, Pending> waiting = new HashMap<>();
    /** What waits until the process is known to be new enough. */
    private final Map<Long, byte[]> held = new LinkedHashMap<>();
    private long lastId = INFO;
    /** Said by the thread that reads. */
    private boolean isReady;
    private boolean isEnding;
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
        input = new Outbox(process.getOutputStream());
        input.send(Wire.line(INFO, false, ",\"method\":\"system.info\"}\n".getBytes(StandardCharsets.UTF_8)));
        reader = Threads.start("mintmark-reader", this::read);
    }

    /** Whether this is the thread that reads its answers, which no call can wait in. */
    boolean isReadHere() {
        return Thread.currentThread() == reader;
    }

    synchronized boolean hasEnded() {
        return isEnding;
    }

    /** Sends a request. body is all of it but the beginning; progress may be null. */
    Pending request(String method, byte[] body, Consumer<Map<String, Object>> progress) {
        synchronized (this) {
            var pending = new Pending(this, method, ++lastId, progress);
            if (isEnding) {
                // Who waits for it hears how the process ended, which is known a moment later.
                ended.thenRun(() -> pending.complete(null));
                return pending;
            }
            waiting.put(pending.id, pending);
            var line = Wire.line(pending.id, pending.isReporting(), body);
            if (isReady) {
                input.send(line);
            } else {
                held.put(pending.id, line);
            }
            return pending;
        }
    }

    /** Whether a call was still waiting; it does so no more, and the process is told where it knows of it. */
    synchronized boolean forget(Pending pending) {
        if (waiting.remove(pending.id) == null) {
            return false;
        }
        if (held.remove(pending.id) == null) {
            input.send(Wire.cancellation(pending.id));
        }
        return true;
    }

    /** Ends the input: what was sent is answered, then the process ends. It is killed when that takes too long. */
    void close(Duration grace) {
        input.end();
        if (isReadHere()) {
            // It would wait for itself.
            kill();
            return;
        }
        try {
            ended.get(CallSettings.nanoseconds(grace), TimeUnit.NANOSECONDS);
            return;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException late) {
            // It is ended below.
        }
        kill();
        try {
            // What an application does in the thread that reads may take for ever.
            ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException | ExecutionException stuck) {
            // The process is killed in any case.
        }
    }

    /** Kills it, and what it has started: where it is a script, that holds the pipe. */
    private void kill() {
        var started = process.descendants().toList();
        process.destroyForcibly();
        started.forEach(ProcessHandle::destroyForcibly);
    }

    /** A new exception for a call that fails by the end of the process, which has ended. */
    MintmarkException failure(String method) {
        ended.join();
        if (refusal != null) {
            return refusal.get();
        }
        return new ProcessEndedException(method, settings.binary(), process.exitValue(), log.last(), advice());
    }

    /** What to do next. What Mintmark itself ends with before it has said who it is are the statuses 2, 64 and 74. */
    private synchronized String advice() {
        boolean isMintmark = isReady || List.of(2, 64, 74).contains(process.exitValue());
        return isMintmark ? settings.advice() : "Is it the right program? MINTMARK_BINARY or options.binary(…) names another.";
    }

    // Reading, in a thread of its own.

    private void read() {
        try (var output = new Lines(process.getInputStream(), LONGEST_ANSWER)) {
            for (var line = output.next(); line != null && refusal == null; line = refusal == null ? output.next() : null) {
                take(line);
            }
        } catch (IOException gone) {
            // As after its end.
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
            refusal = () -> ProtocolException.of(settings.binary(), "it asks for " + message.method());
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

    /** Progress goes to the call that it is of, everything else to whoever listens. */
    private void tell(Notification notification) {
        Pending pending = null;
        if (notification.method().equals("$/progress")) {
            synchronized (this) {
                pending = waiting.get(notification.params().get("token"));
            }
        }
        if (pending != null && pending.isReporting()) {
            pending.tell(Message.object(notification.params().get("value")));
        } else {
            notifications.add(notification);
        }
    }

    /** It could not read a line and does not know whose it was: no call may wait for ever. */
    private void refuseOrSettleAll(Message message) {
        if (isReady) {
            settleAll(message);
        } else {
            refusal = () -> ProtocolException.of(settings.binary(), "it cannot read system.info");
        }
    }

    /** Looks whether the process is new enough. One that may not be asked is taken for it, and none is asked twice. */
    private void judge(Message message) {
        if (isReady) {
            return;
        }
        if (message.result() instanceof Map<?, ?> info && info.get("version") instanceof String version
                && Wire.isBelow(version, Contract.VERSION)) {
            refusal = () -> new BinaryTooOldException(settings.binary(), version);
            return;
        }
        synchronized (this) {
            isReady = true;
            held.values().forEach(input::send);
            held.clear();
        }
        ready.complete(true);
    }

    private void settle(Message message) {
        Pending pending;
        synchronized (this) {
            pending = waiting.remove(message.id());
            if (pending != null) {
                pending.settle(message);
            }
        }
        if (pending != null) {
            pending.answer(message);
        }
    }

    private void settleAll(Message message) {
        List<Pending> all;
        synchronized (this) {
            all = List.copyOf(waiting.values());
            all.forEach(each -> each.settle(message));
            waiting.clear();
            held.clear();
        }
        all.forEach(each -> each.answer(message));
    }

    /** Waits until the process is gone, and tells the calls that waited. */
    private void finish() {
        synchronized (this) {
            isEnding = true;
        }
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

    /** A process that has closed its output and does not end is of no use any more. */
    private void reap() {
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                kill();
                process.waitFor();
            }
        } catch (InterruptedException nobodyDoesThat) {
            Thread.currentThread().interrupt();
        }
    }
}
