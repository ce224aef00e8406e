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

/** The store of a client, and the settings of its process. Exactly one of store and app must be set. A null value resets an option. */
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

    /** Creates options with default values. */
    public Options() {}

    /**
     * Sets the store: a file, a URL, or {@code :memory:} for a store that is discarded when the process ends.
     *
     * @param store the store
     * @return this
     */
    public Options store(String store) {
        this.store = store;
        return this;
    }

    /**
     * Sets the application whose store is used: mintmark/&lt;app&gt;.db in the user's data directory.
     *
     * @param app its name
     * @return this
     */
    public Options app(String app) {
        this.app = app;
        return this;
    }

    /**
     * Sets the program. Defaults to MINTMARK_BINARY, otherwise to mintmark.
     *
     * @param binary a path, or a name that is searched for on the PATH
     * @return this
     */
    public Options binary(String binary) {
        this.binary = binary;
        return this;
    }

    /**
     * Sets whether to use a testing store, which has a virtual clock.
     *
     * @param isTesting whether to use a testing store
     * @return this
     */
    public Options testing(boolean isTesting) {
        this.isTesting = isTesting;
        return this;
    }

    /**
     * Sets the virtual clock of a new testing store.
     *
     * @param clock the time; fractions of a second are ignored
     * @return this
     */
    public Options clock(Instant clock) {
        return flag("--clock", clock == null ? null : String.valueOf(clock.getEpochSecond()));
    }

    /**
     * Sets the time limit of calls that do not set their own. By default, calls have no time limit.
     *
     * @param timeout the time limit; must be positive
     * @return this
     */
    public Options timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /**
     * Sets whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is in memory.
     *
     * @param restart whether to start a new process
     * @return this
     */
    public Options restart(boolean restart) {
        this.restart = restart;
        return this;
    }

    /**
     * Sets the listener for notifications. It is called with one notification at a time, in its own thread, and may make calls.
     *
     * @param onNotification the listener
     * @return this
     */
    public Options onNotification(Consumer<Notification> onNotification) {
        this.onNotification = onNotification;
        return this;
    }

    /**
     * Sets the listener for the log lines of the process. By default, they are written to System.err.
     *
     * @param log the listener
     * @return this
     */
    public Options log(Consumer<String> log) {
        this.log = log;
        return this;
    }

    /**
     * Sets the executor that completes futures and runs their dependent actions. Defaults to ForkJoinPool.commonPool(), or to a new thread
     * for each completion if that pool has a parallelism below two. An executor that runs tasks in the calling thread, such as
     * Runnable::run, runs them in the thread that reads responses; dependent actions must not wait for calls there.
     *
     * @param executor the executor
     * @return this
     */
    public Options executor(Executor executor) {
        this.executor = executor;
        return this;
    }

    /**
     * Sets the base URL of all issuers.
     *
     * @param issuer an https URL
     * @return this
     */
    public Options issuer(String issuer) {
        return flag("--issuer", issuer);
    }

    /**
     * Sets the first part of pool and identity IDs. Defaults to local-1.
     *
     * @param region the region
     * @return this
     */
    public Options region(String region) {
        return flag("--region", region);
    }

    /**
     * Sets the account number in ARNs.
     *
     * @param account the account number, 12 digits
     * @return this
     */
    public Options account(String account) {
        return flag("--account", account);
    }

    /**
     * Sets the file with the master key. Defaults to &lt;store&gt;.key, or to MINTMARK_MASTER_KEY in the environment.
     *
     * @param file the file
     * @return this
     */
    public Options masterKeyFile(Path file) {
        return flag("--master-key-file", file == null ? null : file.toAbsolutePath().toString());
    }

    /**
     * Sets the access level: developer offers all methods, public only those that require a token of the user.
     *
     * @param caller developer or public
     * @return this
     */
    public Options caller(String caller) {
        return flag("--caller", caller);
    }

    /**
     * Sets the maximum size of a request. Defaults to 1 MiB.
     *
     * @param maxLineBytes the size, in bytes
     * @return this
     */
    public Options maxLineBytes(int maxLineBytes) {
        this.maxLineBytes = maxLineBytes;
        return flag("--max-line", String.valueOf(maxLineBytes));
    }

    /**
     * Adds arguments of mintmark serve. To list them, run mintmark serve --help.
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
     * Sets an environment variable of the process.
     *
     * @param name its name
     * @param value its value; null removes it
     * @return this
     * @throws IllegalArgumentException if the name is null
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

    /** Validates the options and converts them to settings. */
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
