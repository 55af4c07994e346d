import type { Clock } from "@/time/clock.ts";
import type { ConnectionInfo } from "./http_app.ts";

/** How long answers that are under way may take when the listener is closed. */
const closeMs = 2_000;

/** Where a listener listens. */
export interface ListenerAddress {
  readonly hostname: string;
  /** To open one: 0 takes any that is free. */
  readonly port: number;
}

/** An open listener. Disposing of it lets the answers under way go out, for at most 2 s, and closes all connections. */
export interface Listener extends AsyncDisposable {
  readonly kind: "listening";
  readonly address: ListenerAddress;
}

/** Why there is no listener, with what to do about it. */
export interface ListenRefusal {
  readonly kind: "refused";
  readonly message: string;
}

/** Answers requests to an address, from now on. */
export function openListener(
  { hostname, port }: ListenerAddress,
  { answer, clock }: { answer: (request: Request, info: ConnectionInfo) => Promise<Response>; clock: Clock },
): Listener | ListenRefusal {
  const cut = new AbortController();
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = Deno.serve(
      { hostname, port, signal: cut.signal, onListen() {} },
      (request, info) => answer(request, info),
    );
  } catch (error) {
    return { kind: "refused", message: `Cannot listen on ${shown(hostname)}:${port}: ${whyNot(error)}` };
  }
  return {
    kind: "listening",
    address: { hostname, port: server.addr.port },
    async [Symbol.asyncDispose]() {
      const done = new AbortController();
      const late = clock.sleep(closeMs, done.signal).then(() => cut.abort(), () => {});
      await Promise.race([server.shutdown(), late]);
      done.abort();
      await server.finished;
    },
  };
}

function shown(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function whyNot(error: unknown): string {
  const { AddrInUse, AddrNotAvailable, PermissionDenied } = Deno.errors;
  if (error instanceof AddrInUse) return "the port is in use; stop what has it, or choose another with --listen";
  if (error instanceof AddrNotAvailable) return "this machine has no such address; choose one with --listen";
  if (error instanceof PermissionDenied) return "the system allows ports under 1024 to root alone; choose a higher one";
  return `${error instanceof Error ? error.message : error}; choose another with --listen`;
}
