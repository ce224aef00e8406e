package mintmark;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Performs calls. */
public interface Caller {
    /**
     * Calls a method and waits for the result.
     *
     * @param <R> the type of the result
     * @param method the name of the method
     * @param params the parameters
     * @param read converts the result
     * @return the result
     * @throws MintmarkException if the call fails
     */
    <R> R call(String method, Params params, Function<Map<String, Object>, R> read);

    /**
     * Calls a method asynchronously.
     *
     * @param <R> the type of the result
     * @param method the name of the method
     * @param params the parameters
     * @param read converts the result
     * @return a future of the result, which fails with a MintmarkException; canceling it cancels the request
     */
    <R> CompletableFuture<R> callAsync(String method, Params params, Function<Map<String, Object>, R> read);

    /**
     * Returns a caller whose calls report their progress.
     *
     * @param progress receives the progress values in order, in a thread of its own; a call returns after the listener has received all
     * of them, or when its time limit is reached
     * @return the caller
     */
    Caller withProgress(Consumer<Map<String, Object>> progress);
}
