package mintmark.tests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Consumer;
import mintmark.Mintmark;
import mintmark.Options;

/** A program that simulates Mintmark: it handles each request with a shell command, which reads `$line` and `$id`. */
record StandIn(Path folder) implements AutoCloseable {
    /** Sends no responses. */
    static final String SILENT = ":";

    /** Reports a version that is always new enough. */
    private static final String NEWEST = "echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"version\":\"999.0.0\"}}'";

    static StandIn that(String command) throws IOException {
        return that(NEWEST, command);
    }

    /** Creates a program that runs the first command for system.info and the second one for other requests. */
    static StandIn that(String says, String command) throws IOException {
        var named = System.getenv("TMPDIR");
        var folder = Files.createTempDirectory(Path.of(named == null ? "/tmp" : named), "mintmark-java-");
        var program = Files.createFile(folder.resolve("program"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Files.writeString(program, """
                #!/bin/bash
                while IFS= read -r line; do
                printf '%%s\\n' "$line" >>'%s'
                id=$(sed -n 's/.*"id":\\([0-9]*\\).*/\\1/p' <<<"$line")
                if [ "$id" = 0 ]; then %s; continue; fi
                %s
                done
                """.formatted(folder.resolve("seen"), says, command));
        return new StandIn(folder);
    }

    Mintmark start(Consumer<Options> more) {
        return Mintmark.start(o -> {
            o.store(":memory:").binary(folder.resolve("program").toString()).log(line -> {});
            more.accept(o);
        });
    }

    /** Whether the program has received a line that contains a text. */
    boolean hasSeen(String text) {
        try {
            return Files.exists(folder.resolve("seen")) && Files.readString(folder.resolve("seen")).contains(text);
        } catch (IOException wrong) {
            throw new UncheckedIOException(wrong);
        }
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(folder.resolve("seen"));
        Files.delete(folder.resolve("program"));
        Files.delete(folder);
    }
}
