/** JSON as Java objects: {@link mintmark.json.Json} reads and writes it. Only JSON null is null. */
package mintmark.json;
