import { Outbound, type OutboundLimits } from "@/outbound/outbound.ts";
import { systemClock } from "@/time/clock.ts";
import { startBenchProgram } from "./child_program.ts";

const certificates = new URL("../../tests/outbound/certificates/", import.meta.url).pathname;

/** A receiver over TLS in a process of its own, that is many hosts. */
export interface Receiver extends AsyncDisposable {
  /** `https://127.0.1.1:40001`, an address: no name lookup is measured. */
  readonly origins: readonly string[];
}

/** Starts `tls_receiver.ts`. */
export async function startReceiver(): Promise<Receiver> {
  await using starting = new AsyncDisposableStack();
  const names = ["addresses.pem", "addresses.key"];
  const child = starting.use(startBenchProgram("./tls_receiver.ts", names.map((name) => certificates + name)));
  const origins = (await child.said).split(" ");
  const all = starting.move();
  return { origins, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The certificate of the authority that vouches for receivers. */
export async function receiversAuthority(): Promise<string> {
  return await Deno.readTextFile(`${certificates}ca.pem`);
}

/** A door that may send to receivers. */
export async function openBenchOutbound(limits: Partial<OutboundLimits> = {}): Promise<Outbound> {
  return new Outbound({ clock: systemClock, allowPrivate: true, caCerts: [await receiversAuthority()], limits });
}
