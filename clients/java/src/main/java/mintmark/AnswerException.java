package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import mintmark.json.JsonException;
import mintmark.json.Members;
import mintmark.json.Read;

/** Mintmark returned an error. Each error that this client knows has a subclass in {@link mintmark.contract.Errors}. */
public class AnswerException extends MintmarkException {
    private static final long serialVersionUID = 1;

    private final Answer answer;

    /**
     * Creates an exception from an error.
     *
     * @param answer the error
     */
    public AnswerException(Answer answer) {
        super(answer.call() + ": " + answer.message());
        this.answer = answer;
    }

    /**
     * The complete error.
     *
     * @return the error
     */
    public final Answer answer() {
        return answer;
    }

    /**
     * The number of the error.
     *
     * @return the number
     */
    public final int code() {
        return answer.code();
    }

    /**
     * The stable name of the error.
     *
     * @return the name
     */
    public final String type() {
        return answer.type();
    }

    /**
     * The details of the error.
     *
     * @return the members, by their names on the wire
     */
    public final Map<String, Object> data() {
        return answer.data();
    }

    /**
     * The method that was called.
     *
     * @return its name on the wire
     */
    public final String call() {
        return answer.call();
    }

    /**
     * The call's trace.
     *
     * @return the trace, or null
     */
    public final String trace() {
        return answer.trace();
    }

    /**
     * The time after which the same call may succeed.
     *
     * @return the time; empty if a retry cannot succeed
     */
    public final Optional<Duration> retryAfter() {
        return Optional.ofNullable(member("retryAfterSeconds", Read.LONG)).map(Duration::ofSeconds);
    }

    /**
     * A member of the details, or null if it is absent or has an unexpected type.
     *
     * @param <T> its type
     * @param name its name on the wire
     * @param read converts the JSON value
     * @return the member
     */
    protected final <T> T member(String name, Function<Object, T> read) {
        try {
            return new Members(answer.data()).get(name, read);
        } catch (JsonException otherVersion) {
            return null;
        }
    }
}
