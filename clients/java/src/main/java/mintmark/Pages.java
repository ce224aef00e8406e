package mintmark;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What a method answers in pages. Each page is asked for when it is its turn.
 *
 * @param <T> a page
 */
public final class Pages<T> implements Iterable<T> {
    private final Function<String, T> read;
    private final Function<T, String> nextCursor;

    /**
     * Pages that are read one after the other.
     *
     * @param read reads the page at a cursor; null for the first
     * @param nextCursor where the page after one is; null for none
     */
    public Pages(Function<String, T> read, Function<T, String> nextCursor) {
        this.read = read;
        this.nextCursor = nextCursor;
    }

    /**
     * The pages in a stream.
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
