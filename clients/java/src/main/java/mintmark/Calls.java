package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import mintmark.contract.Methods;

/** The methods, and how they are called. Any number of threads may share it. */
public class Calls extends Methods {
    final Engine engine;
    private final CallSettings settings;

    Calls(Engine engine, CallSettings settings) {
        super(new Caller() {
            @Override
            public <T> T call(String method, Map<String, ?> params, Function<Object, T> read) {
                return engine.call(method, params, read, settings);
            }

            @Override
            public <T> CompletableFuture<T> callAsync(String method, Map<String, ?> params, Function<Object, T> read) {
                return engine.callAsync(method, params, read, settings);
            }
        });
        this.engine = engine;
        this.settings = settings;
    }

    /**
     * The same methods with a time limit, after which a call is cancelled and fails with a {@link CallTimedOutException}.
     *
     * @param timeout how long each call may take
     * @return the methods
     */
    public Calls withTimeout(Duration timeout) {
        return new Calls(engine, new CallSettings(CallSettings.checked(timeout), settings.trace(), settings.progress()));
    }

    /**
     * The same methods with a trace, which stands in the logs and audit records of each call.
     *
     * @param trace at most 128 characters
     * @return the methods
     */
    public Calls withTrace(String trace) {
        return new Calls(engine, new CallSettings(settings.timeout(), trace, settings.progress()));
    }

    /**
     * The same methods with a listener for what they tell of their progress, as account.import does.
     *
     * @param progress gets it one after the other, in a thread of its own; a call ends once it was told all of it, or when its time is over
     * @return the methods
     */
    public Calls withProgress(Consumer<Map<String, Object>> progress) {
        return new Calls(engine, new CallSettings(settings.timeout(), settings.trace(), progress));
    }

    /**
     * Calls a method by its name, such as one that this client does not know yet.
     *
     * @param method its name on the wire
     * @param params its parameters as JSON, as {@link mintmark.json.Json} describes it
     * @return its result as JSON
     * @throws MintmarkException if there is none
     */
    public Object call(String method, Map<String, ?> params) {
        return engine.call(method, params, Function.identity(), settings);
    }

    /**
     * As call, in a future.
     *
     * @param method its name on the wire
     * @param params its parameters as JSON
     * @return its result as JSON; cancelling it cancels the request
     */
    public CompletableFuture<Object> callAsync(String method, Map<String, ?> params) {
        return engine.callAsync(method, params, Function.identity(), settings);
    }
}
