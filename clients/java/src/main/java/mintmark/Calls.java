package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import mintmark.contract.Methods;

/** The methods, with the settings of their calls. Safe for use by multiple threads. */
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
     * Returns the same methods with a time limit. A call that exceeds it is canceled and fails with a {@link CallTimedOutException}.
     *
     * @param timeout the time limit of each call
     * @return the methods
     */
    public Calls withTimeout(Duration timeout) {
        return new Calls(engine, new CallSettings(CallSettings.checked(timeout), settings.trace(), settings.progress()));
    }

    /**
     * Returns the same methods with a trace, which is written to the logs and audit records of each call.
     *
     * @param trace the trace, at most 128 characters
     * @return the methods
     */
    public Calls withTrace(String trace) {
        return new Calls(engine, new CallSettings(settings.timeout(), trace, settings.progress()));
    }

    /**
     * Returns the same methods with a listener for progress, which methods such as account.import report.
     *
     * @param progress receives the progress values in order, in its own thread; a call returns after the listener has received all of them,
     * or when its time limit is reached
     * @return the methods
     */
    public Calls withProgress(Consumer<Map<String, Object>> progress) {
        return new Calls(engine, new CallSettings(settings.timeout(), settings.trace(), progress));
    }

    /**
     * Calls a method by its name. Use this for methods that this client does not know.
     *
     * @param method its name on the wire
     * @param params its parameters as JSON values, as described in {@link mintmark.json.Json}
     * @return its result as JSON
     * @throws MintmarkException if the call fails
     */
    public Object call(String method, Map<String, ?> params) {
        return engine.call(method, params, Function.identity(), settings);
    }

    /**
     * Calls a method by its name, asynchronously.
     *
     * @param method its name on the wire
     * @param params its parameters as JSON
     * @return a future of the result as JSON; canceling it cancels the request
     */
    public CompletableFuture<Object> callAsync(String method, Map<String, ?> params) {
        return engine.callAsync(method, params, Function.identity(), settings);
    }
}
