package mintmark;

import java.util.List;

/** The process ended before it returned a response. It is unknown whether the call took effect. */
public final class ProcessEndedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /** The exit status of a process that was ended by signal n is 128 + n. */
    private static final int SIGNALS = 128;

    /** The exit status. */
    private final int exitCode;
    /** The last log lines. */
    private final String[] lastLogLines;

    ProcessEndedException(String method, String binary, int exitCode, List<String> lastLogLines, String advice) {
        super(text(method, binary, exitCode, lastLogLines, advice));
        this.exitCode = exitCode;
        this.lastLogLines = lastLogLines.toArray(String[]::new);
    }

    private static String text(String method, String binary, int exitCode, List<String> lastLogLines, String advice) {
        var how = exitCode > SIGNALS ? "by signal " + (exitCode - SIGNALS) : "with status " + exitCode;
        var reason = switch (exitCode) {
            case 2 -> " The store cannot be used; mintmark doctor reports the reason.";
            case 64 -> " Its arguments are not valid: an option has a wrong value, or the program is older than this client.";
            default -> "";
        };
        var log = lastLogLines.isEmpty() ? "" : " Its last log lines: " + String.join("\n", lastLogLines);
        return method + ": the process " + binary + " ended " + how + " before it returned a response." + reason + " " + advice + log;
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
    public List<String> lastLogLines() {
        return List.of(lastLogLines);
    }
}
