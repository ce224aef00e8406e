/** The descriptions of the methods that this client knows, by name. */
export const known = new Map();

/**
 * Creates the classes of namespaces from a table of methods. The constructor of a class takes a function `(method, params, options, entry)`
 * that calls a method; `entry` is the function at which the stack of an error begins.
 * @returns {[string, Function][]} the names of the namespaces and their classes.
 */
export function namespaces(table) {
  return Object.entries(table).map(([namespace, methods]) => {
    const name = `${namespace[0].toUpperCase()}${namespace.slice(1)}Methods`;
    return [namespace, { [name]: namespaceClass(namespace, methods) }[name]];
  });
}

function namespaceClass(namespace, methods) {
  return class {
    #call;

    constructor(call) {
      this.#call = call;
    }

    static {
      for (const [verb, facts] of Object.entries(methods)) {
        const method = { reports: false, ...facts, name: `${namespace}.${verb}`, secrets: (facts.secrets ?? []).map((path) => path.split(".")) };
        known.set(method.name, method);
        const { [verb]: value } = {
          [verb](params, options) {
            return this.#call(method, params, options, value);
          },
        };
        Object.defineProperty(this.prototype, verb, { value, writable: true, configurable: true });
      }
    }
  };
}
