/**
 * The client for tests: {@link mintmark.testing.TestingMintmark} has a testing store and the methods <code>test.*</code>. No parameter and
 * no return value is null.
 */
package mintmark.testing;
