package mintmark;

import java.util.List;

/** The process ended before it answered. Whether what was asked for has been done is not known. */
public final class ProcessEndedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /** Where the status of a process that a signal has ended begins. */
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
     * How it ended.
     *
     * @return its status; 128 and the signal where a signal ended it
     */
    public int exitCode() {
        return exitCode;
    }

    /**
     * The last lines that it wrote to standard error.
     *
     * @return the lines
     */
    public List<String> lastWords() {
        return List.of(lastWords);
    }
}
