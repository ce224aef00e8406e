package mintmark;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The pages of a list. Each page is requested when the iteration reaches it.
 *
 * @param <T> the type of a page
 */
public final class Pages<T> implements Iterable<T> {
    private final Function<String, T> read;
    private final Function<T, String> nextCursor;

    /**
     * Creates an iteration over pages.
     *
     * @param read requests the page at a cursor; null is the cursor of the first page
     * @param nextCursor returns the cursor of the next page, or null for the last page
     */
    public Pages(Function<String, T> read, Function<T, String> nextCursor) {
        this.read = read;
        this.nextCursor = nextCursor;
    }

    /**
     * Returns the pages as a stream.
     *
     * @return the stream
     */
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
                cursor = nextCursor.apply(page);
                isLast = cursor == null;
                return page;
            }
        };
    }
}
