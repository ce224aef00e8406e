package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import mintmark.contract.Methods;

/** The methods, with the settings of their calls. Safe for use by multiple threads. */
public class Calls extends Methods {
    private final EngineCaller caller;

    Calls(EngineCaller caller) {
        super(caller);
        this.caller = caller;
    }

    /**
     * Creates a copy with the same settings.
     *
     * @param other the methods
     */
    protected Calls(Calls other) {
        this(other.caller);
    }

    /**
     * Performs the calls of additional methods.
     *
     * @return the caller
     */
    protected final Caller caller() {
        return caller;
    }

    final Engine engine() {
        return caller.engine();
    }

    /**
     * Returns the same methods with a time limit. A call that exceeds it is canceled and fails with a {@link CallTimeoutException}.
     *
     * @param timeout the time limit of each call
     * @return the methods
     */
    public Calls withTimeout(Duration timeout) {
        var settings = new CallSettings(CallSettings.checked(timeout), caller.settings().trace(), null);
        return new Calls(new EngineCaller(caller.engine(), settings));
    }

    /**
     * Returns the same methods with a trace, which is written to the logs and audit records of each call.
     *
     * @param trace the trace, at most 128 characters
     * @return the methods
     */
    public Calls withTrace(String trace) {
        return new Calls(new EngineCaller(caller.engine(), new CallSettings(caller.settings().timeout(), trace, null)));
    }

    /**
     * Calls a method by its name. Use this for methods that this client does not know.
     *
     * @param method the name of the method
     * @param params the parameters as JSON values, as described in {@link mintmark.json.Json}
     * @return the result; {@link Result#toJson} has its members
     * @throws MintmarkException if the call fails
     */
    public Result call(String method, Map<String, ?> params) {
        return caller.engine().call(method, params, json -> new Result.Untyped(method, json), caller.settings());
    }

    /**
     * Calls a method by its name, asynchronously.
     *
     * @param method the name of the method
     * @param params the parameters as JSON
     * @return a future of the result; canceling it cancels the request
     */
    public CompletableFuture<Result> callAsync(String method, Map<String, ?> params) {
        return caller.engine().callAsync(method, params, json -> new Result.Untyped(method, json), caller.settings());
    }
}
