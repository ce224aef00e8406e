package mintmark;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Which data are used, and how the process is run. Exactly one of store and app is named. An option that is null is left out. */
public final class Options {
    static final String IN_MEMORY = ":memory:";

    private final Map<String, String> flags = new HashMap<>();
    private final List<String> arguments = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private String store;
    private String app;
    private String binary;
    private boolean isTesting;
    private Duration timeout;
    private Boolean restart;
    private int maxLineBytes = 1 << 20;
    private Consumer<Notification> onNotification;
    private Consumer<String> log;
    private Executor executor;

    /** Nothing is said yet. */
    public Options() {}

    /**
     * The store: a file, a URL, or {@code :memory:} for one that ends with the process.
     *
     * @param store the store
     * @return this
     */
    public Options store(String store) {
        this.store = store;
        return this;
    }

    /**
     * The application whose store is used, mintmark/&lt;app&gt;.db in the folder of the user's data.
     *
     * @param app its name
     * @return this
     */
    public Options app(String app) {
        this.app = app;
        return this;
    }

    /**
     * The program. Without it: MINTMARK_BINARY, else mintmark.
     *
     * @param binary a path, or a name to be looked for on PATH
     * @return this
     */
    public Options binary(String binary) {
        this.binary = binary;
        return this;
    }

    /**
     * Whether to use a testing store, whose clock can be turned.
     *
     * @param isTesting whether
     * @return this
     */
    public Options testing(boolean isTesting) {
        this.isTesting = isTesting;
        return this;
    }

    /**
     * Where a new testing store's clock stands.
     *
     * @param clock the time, whole seconds of it
     * @return this
     */
    public Options clock(Instant clock) {
        return flag("--clock", clock == null ? null : String.valueOf(clock.getEpochSecond()));
    }

    /**
     * How long a call may take that says nothing else. Without it: as long as it takes.
     *
     * @param timeout more than nothing
     * @return this
     */
    public Options timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /**
     * Whether a call starts a new process after one has died. Without it: unless the store was in memory.
     *
     * @param restart whether
     * @return this
     */
    public Options restart(boolean restart) {
        this.restart = restart;
        return this;
    }

    /**
     * Who gets what Mintmark tells by itself, one after the other, in a thread of its own. It may make calls.
     *
     * @param onNotification the listener
     * @return this
     */
    public Options onNotification(Consumer<Notification> onNotification) {
        this.onNotification = onNotification;
        return this;
    }

    /**
     * Who gets the lines of the process's log. Without it they go to System.err.
     *
     * @param log the listener
     * @return this
     */
    public Options log(Consumer<String> log) {
        this.log = log;
        return this;
    }

    /**
     * Where futures are completed, and so what depends on them runs. Without it: in ForkJoinPool.commonPool(), or where that has hardly a
     * thread, in one of its own each. One that runs what it gets at once, as Runnable::run does, runs it in the thread that reads answers: what
     * depends on a future may not wait there.
     *
     * @param executor the executor
     * @return this
     */
    public Options executor(Executor executor) {
        this.executor = executor;
        return this;
    }

    /**
     * The base of every issuer.
     *
     * @param issuer an https URL
     * @return this
     */
    public Options issuer(String issuer) {
        return flag("--issuer", issuer);
    }

    /**
     * The first part of pool and identity ids. Without it: local-1.
     *
     * @param region the region
     * @return this
     */
    public Options region(String region) {
        return flag("--region", region);
    }

    /**
     * The account number in ARNs.
     *
     * @param account twelve digits
     * @return this
     */
    public Options account(String account) {
        return flag("--account", account);
    }

    /**
     * A file with the master key. Without it: &lt;store&gt;.key, or MINTMARK_MASTER_KEY in the environment.
     *
     * @param file the file
     * @return this
     */
    public Options masterKeyFile(Path file) {
        return flag("--master-key-file", file == null ? null : file.toAbsolutePath().toString());
    }

    /**
     * Which methods are offered: developer, all of them, or public, only what proves itself by tokens.
     *
     * @param caller developer or public
     * @return this
     */
    public Options caller(String caller) {
        return flag("--caller", caller);
    }

    /**
     * The longest request. Without it: 1 MiB.
     *
     * @param maxLineBytes in bytes
     * @return this
     */
    public Options maxLineBytes(int maxLineBytes) {
        this.maxLineBytes = maxLineBytes;
        return flag("--max-line", String.valueOf(maxLineBytes));
    }

    /**
     * Further arguments of mintmark serve, as mintmark serve --help lists them.
     *
     * @param arguments the arguments
     * @return this
     * @throws IllegalArgumentException if one of them is null
     */
    public Options arguments(Collection<String> arguments) {
        var more = new ArrayList<String>(arguments == null ? List.of() : arguments);
        if (more.contains(null)) {
            throw new IllegalArgumentException("options.arguments(…) has null among them: leave it out. They are " + more + ".");
        }
        this.arguments.addAll(more);
        return this;
    }

    /**
     * A further environment variable of the process.
     *
     * @param name its name
     * @param value its value
     * @return this
     * @throws IllegalArgumentException if it has no name
     */
    public Options environment(String name, String value) {
        if (name == null) {
            throw new IllegalArgumentException("options.environment(null, …) has no name: say which variable it is, or leave it out.");
        }
        return put(environment, name, value);
    }

    private Options flag(String name, String value) {
        return put(flags, name, value);
    }

    private Options put(Map<String, String> values, String name, String value) {
        if (value == null) {
            values.remove(name);
        } else {
            values.put(name, value);
        }
        return this;
    }

    /** What is said so far. */
    Settings settings() {
        if ((store == null) == (app == null)) {
            throw new IllegalArgumentException("Name either a store or an app: store(\"shop.db\") is a file, store(\":memory:\") ends with the "
                    + "process, app(\"shop\") is the store of that app in the folder of the user's data.");
        }
        refuseEmpty("store", store, "store");
        refuseEmpty("app", app, "app");
        refuseEmpty("binary", binary, "program");
        boolean isInMemory = IN_MEMORY.equals(store);
        return new Settings(
                binary == null ? Settings.usualBinary() : binary, Settings.arguments(store, app, isTesting, flags, arguments), Map.copyOf(environment),
                isInMemory, isTesting, CallSettings.checked(timeout), restart == null ? !isInMemory : restart, maxLineBytes, onNotification,
                log == null ? System.err::println : log, executor == null ? new CompletableFuture<Void>().defaultExecutor() : executor);
    }

    private static void refuseEmpty(String name, String value, String what) {
        if (value != null && value.isEmpty()) {
            throw new IllegalArgumentException("options." + name + "(\"\") is empty: say which " + what + " it is, or leave it out.");
        }
    }

    boolean hasData() {
        return store != null || app != null;
    }
}
