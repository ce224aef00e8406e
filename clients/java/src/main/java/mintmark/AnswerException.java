package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import mintmark.json.JsonException;
import mintmark.json.Members;
import mintmark.json.Read;

/** Mintmark answered with an error. Each that this client knows has an exception of its own in {@link mintmark.contract.Errors}. */
public class AnswerException extends MintmarkException {
    private static final long serialVersionUID = 1;

    private final Answer answer;

    /**
     * Of an answer.
     *
     * @param answer the answer
     */
    public AnswerException(Answer answer) {
        super(answer.call() + ": " + answer.message());
        this.answer = answer;
    }

    /**
     * All that was answered.
     *
     * @return the answer
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
     * What the answer says beside it.
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
     * After how long the same call may succeed.
     *
     * @return the time; nothing for an error that does not go away by itself
     */
    public final Optional<Duration> retryAfter() {
        return Optional.ofNullable(member("retryAfterSeconds", Read.LONG)).map(Duration::ofSeconds);
    }

    /**
     * A member of the data; null where it is absent, or of another version.
     *
     * @param <T> what it is
     * @param name its name on the wire
     * @param read reads it
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
