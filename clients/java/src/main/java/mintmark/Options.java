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

/**
 * The store of a client, and the settings of its process. Set one of store and app; without both, the environment variable MINTMARK_STORE or
 * MINTMARK_APP names the store, as in the commands of mintmark run. A null value resets an option.
 */
public final class Options extends ServeOptions<Options> {
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
    private final Map<String, HookFunction> hooks = new HashMap<>();
    private Consumer<String> log;
    private Executor executor;

    /** Creates options with default values. */
    public Options() {}

    /**
     * Creates options of a testing client.
     *
     * @param fill sets the options
     * @return the options; the store is in memory, unless the function names a store or an app
     */
    public static Options ofTesting(Consumer<Options> fill) {
        var options = new Options();
        fill.accept(options);
        return (options.store == null && options.app == null ? options.store(IN_MEMORY) : options).testing(true);
    }

    /**
     * {@return this}
     * @param store the store: a file, a URL, or {@code :memory:} for a store that is discarded when the process ends
     */
    public Options store(String store) {
        this.store = store;
        return this;
    }

    /**
     * {@return this}
     * @param app the application whose store is used: mintmark/&lt;app&gt;.db in the user's data directory
     */
    public Options app(String app) {
        this.app = app;
        return this;
    }

    /**
     * {@return this}
     * @param binary the program: a path, or a name that is searched for on the PATH. Defaults to MINTMARK_BINARY, otherwise to mintmark.
     */
    public Options binary(String binary) {
        this.binary = binary;
        return this;
    }

    /**
     * {@return this}
     * @param testing whether to use a testing store. The methods of testing stores are on {@link mintmark.testing.TestingMintmark}.
     */
    public Options testing(boolean testing) {
        isTesting = testing;
        return this;
    }

    /**
     * {@return this}
     * @param timeout the time limit of calls that do not set their own; must be positive. By default, calls have no time limit.
     */
    public Options timeout(Duration timeout) {
        this.timeout = timeout;
        return this;
    }

    /**
     * {@return this}
     * @param restart whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is in memory.
     */
    public Options restart(Boolean restart) {
        this.restart = restart;
        return this;
    }

    /**
     * {@return this}
     * @param onNotification the listener for notifications. It is called with one notification at a time, in its own thread, and may make
     * calls.
     */
    public Options onNotification(Consumer<Notification> onNotification) {
        this.onNotification = onNotification;
        return this;
    }

    /**
     * Sets the function that decides about an account before it is stored. Mintmark.hooks() switches hooks on for a tenant.
     *
     * @param hook the function; null removes it
     * @return this
     */
    public Options beforeCreate(HookFunction hook) {
        return hook("beforeCreate", hook);
    }

    /**
     * Sets the function that decides about a session before it is stored.
     *
     * @param hook the function; null removes it
     * @return this
     */
    public Options beforeSignIn(HookFunction hook) {
        return hook("beforeSignIn", hook);
    }

    /**
     * Sets the function that decides about a message with a code before it is sent. It can only refuse.
     *
     * @param hook the function; null removes it
     * @return this
     */
    public Options beforeSendMessage(HookFunction hook) {
        return hook("beforeSendMessage", hook);
    }

    private Options hook(String name, HookFunction hook) {
        if (hook == null) {
            hooks.remove(name);
        } else {
            hooks.put(name, hook);
        }
        return this;
    }

    /**
     * {@return this}
     * @param log the listener for the log lines of the process. By default, they are written to System.err.
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
     * {@return this}
     * @param maxLineBytes the maximum length of a request, in bytes. Defaults to 1048576.
     */
    public Options maxLineBytes(int maxLineBytes) {
        this.maxLineBytes = maxLineBytes;
        return flag("--max-line", maxLineBytes);
    }

    /**
     * {@return this}
     * @param parent the ID of a process. Mintmark exits when that process exits. Defaults to the process of the client on Linux; 0 means
     * none.
     */
    public Options parent(Long parent) {
        return flag("--parent", parent);
    }

    /**
     * Adds arguments of mintmark serve, for options that this client does not know.
     *
     * @param arguments the arguments
     * @return this
     * @throws IllegalArgumentException if one of them is null
     */
    public Options arguments(Collection<String> arguments) {
        var more = new ArrayList<String>(arguments == null ? List.of() : arguments);
        if (more.contains(null)) {
            throw new IllegalArgumentException("options.arguments(…) contains null: " + more + ". Omit it.");
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
            throw new IllegalArgumentException("options.environment(null, …) has no name. Name the variable.");
        }
        if (value == null) {
            environment.remove(name);
        } else {
            environment.put(name, value);
        }
        return this;
    }

    @Override
    Options flag(String flag, Object value) {
        if (value == null || Boolean.FALSE.equals(value)) {
            flags.remove(flag);
        } else if (value instanceof Boolean) {
            flags.put(flag, "");
        } else {
            var text = value instanceof Path path ? path.toAbsolutePath() : value instanceof Instant time ? time.getEpochSecond() : value;
            flags.put(flag, "=" + text);
        }
        return this;
    }

    /** Validates the options and converts them to settings. */
    Settings settings() {
        takePlace();
        if ((store == null) == (app == null)) {
            throw new IllegalArgumentException("Set either options.store(\"shop.db\") for a file, options.store(\":memory:\") for a store that "
                    + "ends with the process, or options.app(\"shop\") for the store of an application in the user's data folder. "
                    + "The environment variables MINTMARK_STORE and MINTMARK_APP name one, too.");
        }
        refuseEmpty("store", store);
        refuseEmpty("app", app);
        refuseEmpty("binary", binary);
        boolean isInMemory = IN_MEMORY.equals(store);
        return new Settings(
                binary == null ? Settings.usualBinary() : binary, Settings.arguments(store, app, isTesting, flags, arguments), Map.copyOf(environment),
                isInMemory, isTesting, CallSettings.checked(timeout), restart == null ? !isInMemory : restart, maxLineBytes, onNotification,
                log == null ? System.err::println : log, executor == null ? new CompletableFuture<Void>().defaultExecutor() : executor,
                new Hooks(Map.copyOf(hooks)));
    }

    /** Takes the store from MINTMARK_STORE, otherwise the app from MINTMARK_APP, if none is set. */
    private void takePlace() {
        if (store == null && app == null) {
            store = named("MINTMARK_STORE");
            app = store == null ? named("MINTMARK_APP") : null;
        }
    }

    private static String named(String variable) {
        var value = System.getenv(variable);
        return value == null || value.isEmpty() ? null : value;
    }

    private static void refuseEmpty(String name, String value) {
        if (value != null && value.isEmpty()) {
            throw new IllegalArgumentException("options." + name + "(\"\") is empty. Set a value, or omit the option.");
        }
    }
}
