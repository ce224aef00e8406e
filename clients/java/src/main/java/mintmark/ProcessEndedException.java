package mintmark;

import java.util.List;

/** The process ended before it returned a response. It is unknown whether the call took effect. */
public final class ProcessEndedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /** The exit status of a process that was ended by signal n is 128 + n. */
    private static final int SIGNALS = 128;

    private final int exitCode;
    private final String[] lastWords;

    ProcessEndedException(String call, String binary, int exitCode, List<String> lastWords, String advice) {
        super(text(call, binary, exitCode, lastWords, advice));
        this.exitCode = exitCode;
        this.lastWords = lastWords.toArray(String[]::new);
    }

    private static String text(String call, String binary, int exitCode, List<String> lastWords, String advice) {
        var how = exitCode > SIGNALS ? "by signal " + (exitCode - SIGNALS) : "with status " + exitCode;
        var why = switch (exitCode) {
            case 2 -> " The store cannot be used; mintmark doctor says why.";
            case 64 -> " It refused its arguments: an option has a value it does not take, or it is older than this client.";
            default -> "";
        };
        var words = lastWords.isEmpty() ? "" : " Its last words: " + String.join("\n", lastWords);
        return call + ": the process " + binary + " ended " + how + " before it answered." + why + " " + advice + words;
    }

    /**
     * The exit status of the process.
     *
     * @return the status; 128 plus the signal number if a signal ended the process
     */
    public int exitCode() {
        return exitCode;
    }

    /**
     * The last lines that the process wrote to standard error.
     *
     * @return the lines
     */
    public List<String> lastWords() {
        return List.of(lastWords);
    }
}
