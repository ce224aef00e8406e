package mintmark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Reads lines as bytes. */
final class Lines implements AutoCloseable {
    private final InputStream input;
    private final int longest;
    private final byte[] read = new byte[1 << 16];
    private int at;
    private int end;

    Lines(InputStream input, int longest) {
        this.input = input;
        this.longest = longest;
    }

    /**
     * The next line without its newline, or the first part of a line that is too long. Null at the end of the stream; an incomplete last
     * line is discarded.
     */
    byte[] next() throws IOException {
        ByteArrayOutputStream line = null;
        do {
            if (at == end) {
                at = 0;
                end = Math.max(input.read(read), 0);
                if (end == 0) {
                    return null;
                }
            }
            int start = at;
            while (at < end && read[at] != '\n') {
                at++;
            }
            boolean isComplete = at < end;
            if (isComplete && line == null) {
                // Most lines are complete in the buffer.
                return Arrays.copyOfRange(read, start, at++);
            }
            line = line == null ? new ByteArrayOutputStream() : line;
            line.write(read, start, at - start);
            if (isComplete) {
                at++;
                return line.toByteArray();
            }
        } while (line.size() <= longest);
        return line.toByteArray();
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}
