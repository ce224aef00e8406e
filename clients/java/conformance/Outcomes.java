package mintmark.conformance;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import mintmark.ApiException;
import mintmark.BinaryNotFoundException;
import mintmark.BinaryTooOldException;
import mintmark.CallTimeoutException;
import mintmark.ClientClosedException;
import mintmark.ProcessEndedException;
import mintmark.ProtocolException;

/** The outcome of a step, in the form that the conformance runner reads. */
final class Outcomes {
    private Outcomes() {}

    /** The exception that the simulated backend throws. */
    static final class Down extends RuntimeException {
        private static final long serialVersionUID = 1;

        Down() {
            super("the backend is down");
        }
    }

    static Map<String, Object> of(Callable<Object> step) {
        var outcome = new HashMap<String, Object>();
        try {
            outcome.put("result", step.call());
        } catch (ExecutionException wrong) {
            outcome.put("error", described(wrong.getCause()));
        } catch (Exception wrong) {
            outcome.put("error", described(wrong));
        }
        return outcome;
    }

    private static Map<String, Object> described(Throwable wrong) {
        var error = new HashMap<String, Object>();
        error.put("kind", kind(wrong));
        error.put("class", wrong.getClass().getSimpleName().replaceFirst("Exception$", ""));
        error.put("message", String.valueOf(wrong.getMessage()));
        // A program that lacks a method returned an error.
        if ((wrong instanceof BinaryTooOldException ? wrong.getCause() : wrong) instanceof ApiException answered) {
            error.put("code", answered.code());
            error.put("type", answered.type());
            error.put("data", answered.data());
            error.put("trace", answered.trace().orElse(null));
            if (wrong == answered) {
                error.put("message", answered.response().message());
            }
        }
        return error;
    }

    private static String kind(Throwable wrong) {
        if (wrong instanceof BinaryTooOldException) {
            return "tooOld";
        } else if (wrong instanceof ApiException) {
            return "answered";
        } else if (wrong instanceof BinaryNotFoundException) {
            return "notFound";
        } else if (wrong instanceof ProtocolException) {
            return "garbage";
        } else if (wrong instanceof ProcessEndedException) {
            return "ended";
        } else if (wrong instanceof CallTimeoutException) {
            return "timedOut";
        } else if (wrong instanceof CancellationException) {
            return "cancelled";
        } else if (wrong instanceof ClientClosedException) {
            return "closed";
        } else if (wrong instanceof Down) {
            return "own";
        } else if (wrong instanceof IllegalArgumentException) {
            return "refused";
        }
        throw new IllegalStateException(wrong);
    }
}
