package mintmark;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The pages of a list. Each page is requested when the iteration reaches it; every iteration begins with the first page.
 *
 * @param <T> the type of a page
 */
public final class Pages<T> implements Iterable<T> {
    private final Function<String, T> read;
    private final Function<T, Optional<String>> nextCursor;

    /**
     * Creates an iteration over pages.
     *
     * @param read requests the page at a cursor; null is the cursor of the first page
     * @param nextCursor returns the cursor of the next page; empty for the last page
     */
    public Pages(Function<String, T> read, Function<T, Optional<String>> nextCursor) {
        this.read = read;
        this.nextCursor = nextCursor;
    }

    /** {@return the pages as a stream} */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }

    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private String cursor;
            private boolean isLast;

            @Override
            public boolean hasNext() {
                return !isLast;
            }

            @Override
            public T next() {
                if (isLast) {
                    throw new NoSuchElementException();
                }
                var page = read.apply(cursor);
                cursor = nextCursor.apply(page).orElse(null);
                isLast = cursor == null;
                return page;
            }
        };
    }
}
