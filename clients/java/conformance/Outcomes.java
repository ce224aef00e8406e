package mintmark.conformance;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import mintmark.AnswerException;
import mintmark.BinaryNotFoundException;
import mintmark.BinaryTooOldException;
import mintmark.CallTimedOutException;
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
        var answer = wrong instanceof AnswerException answered ? answered.answer() : wrong instanceof BinaryTooOldException old ? old.answer() : null;
        if (answer != null) {
            error.put("code", answer.code());
            error.put("type", answer.type());
            error.put("data", answer.data());
            error.put("trace", answer.trace());
        }
        if (wrong instanceof AnswerException answered) {
            error.put("message", answered.answer().message());
        }
        return error;
    }

    private static String kind(Throwable wrong) {
        if (wrong instanceof BinaryTooOldException) {
            return "tooOld";
        } else if (wrong instanceof AnswerException) {
            return "answered";
        } else if (wrong instanceof BinaryNotFoundException) {
            return "notFound";
        } else if (wrong instanceof ProtocolException) {
            return "garbage";
        } else if (wrong instanceof ProcessEndedException) {
            return "ended";
        } else if (wrong instanceof CallTimedOutException) {
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
