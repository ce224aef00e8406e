package mintmark;

import java.util.Collection;
import java.util.Iterator;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The items of all pages of a list. Each page is requested when the iteration reaches it; every iteration begins with the first page.
 *
 * @param <T> the type of an item
 */
public final class Items<T> implements Iterable<T> {
    private final Iterable<? extends Collection<T>> pages;

    /**
     * Creates an iteration over items.
     *
     * @param <P> the type of a page
     * @param pages the pages
     * @param items returns the items of a page
     */
    public <P> Items(Pages<P> pages, Function<P, ? extends Collection<T>> items) {
        this.pages = () -> pages.stream().<Collection<T>>map(items::apply).iterator();
    }

    /** {@return the items as a stream} */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }

    @Override
    public Iterator<T> iterator() {
        var rest = pages.iterator();
        return new Iterator<>() {
            private Iterator<T> page = java.util.Collections.emptyIterator();

            @Override
            public boolean hasNext() {
                while (!page.hasNext() && rest.hasNext()) {
                    page = rest.next().iterator();
                }
                return page.hasNext();
            }

            @Override
            public T next() {
                hasNext();
                return page.next();
            }
        };
    }
}
