/** What a provider's package sends with, under the name that it looks for. Dispose of it to close its connections. */
export interface ModelDoor extends Disposable {
  readonly fetch: typeof fetch;
}

/** What a model's server is spoken to with. */
export interface ModelDoorOptions {
  /** Certificates in PEM, trusted besides the usual ones. */
  readonly caCerts?: readonly string[];
}

/**
 * Makes the one way out besides the guarded door: for the packages of the models' providers, to the address that the owner
 * set (product.md §8).
 *
 * A redirect is an answer, not a move: a key in a header of its own would be sent along. The runtime goes through the proxy
 * that `HTTPS_PROXY` and `HTTP_PROXY` of the process name, though the host's thread cannot read them.
 */
export function createModelDoor({ caCerts = [] }: ModelDoorOptions = {}): ModelDoor {
  const client = caCerts.length === 0 ? undefined : Deno.createHttpClient({ caCerts: [...caCerts] });
  return {
    fetch(input: RequestInfo | URL, init?: RequestInit) {
      const manual = { ...init, redirect: "manual" } as RequestInit;
      return fetch(input, client === undefined ? manual : { ...manual, client });
    },
    [Symbol.dispose]: () => client?.close(),
  };
}
