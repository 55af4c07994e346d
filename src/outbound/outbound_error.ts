/** Where an exchange stood when it failed. `wait`: for its turn at the door, before anything was sent. */
export type OutboundPhase = "url" | "wait" | "dns" | "policy" | "connect" | "tls" | "send" | "head" | "body";

/** What went wrong with an exchange: a row of the table below. */
export type OutboundCode = keyof typeof codes;

/** What follows from a code. */
interface CodeRow {
  /** Another try may go better. */
  readonly isRetryable: boolean;
  /** The guard refused where it would have led: no packet, or no byte, was sent to it. */
  readonly isRefusal?: boolean;
}

const never: CodeRow = { isRetryable: false };
const refusal: CodeRow = { isRetryable: false, isRefusal: true };
const later: CodeRow = { isRetryable: true };

const codes = {
  URL_INVALID: refusal,
  SCHEME_FORBIDDEN: refusal,
  USERINFO_FORBIDDEN: refusal,
  PORT_FORBIDDEN: refusal,
  ADDRESS_FORBIDDEN: refusal,
  /** It says that what was asked for is elsewhere: nobody goes there, and it may be back. */
  REDIRECT_FORBIDDEN: never,
  /** Who calls us asked for something that cannot be sent: a bad header, a bad method. */
  REQUEST_INVALID: never,
  /** The process has no right to the network. */
  PERMISSION_DENIED: never,
  /** Too many exchanges were under way for too long. */
  BUSY: later,
  /** So many connections of its caller or to its host hang unfinished that no more may be begun for now. */
  QUARANTINED: later,
  DNS_NOT_FOUND: later,
  DNS_FAILED: later,
  DNS_TIMEOUT: later,
  CONNECT_FAILED: later,
  CONNECT_TIMEOUT: later,
  /** The other end of the socket is not one that was judged. */
  PEER_MISMATCH: { isRetryable: true, isRefusal: true },
  TLS_FAILED: later,
  TLS_TIMEOUT: later,
  SEND_FAILED: later,
  CONNECTION_CLOSED: later,
  HEAD_TIMEOUT: later,
  HEAD_TOO_LARGE: later,
  MALFORMED_RESPONSE: later,
  ENCODING_FORBIDDEN: later,
  BODY_TIMEOUT: later,
  BODY_TRUNCATED: later,
  BODY_TOO_LARGE: never,
  /** The whole exchange took too long. */
  DEADLINE: later,
  ABORTED: never,
  /** The host ends. */
  CLOSED: later,
} as const satisfies Readonly<Record<string, CodeRow>>;

/**
 * Why an exchange with a remote failed. A status of 400 and over is no failure: it is an answer.
 *
 * `message`, `details` and `cause` are for the log of this machine; only `publicMessage` may be told to who named the URL: it is
 * the same for a name that is not there, an address that is refused and a port that is closed, so that nobody can look
 * around inside by comparing errors.
 */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly code: OutboundCode;
  readonly phase: OutboundPhase;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: OutboundCode,
    phase: OutboundPhase,
    options: {
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>>;
      readonly cause?: unknown;
    },
  ) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.phase = phase;
    this.details = options.details ?? {};
  }

  /** Says whether another try may go better. */
  get isRetryable(): boolean {
    return codes[this.code].isRetryable;
  }

  /** Says whether the guard refused where the URL leads. */
  get isRefusal(): boolean {
    return (codes[this.code] as CodeRow).isRefusal ?? false;
  }

  /** What may be told to a stranger; ends a sentence like `Cannot fetch report.pdf: …`. */
  get publicMessage(): string {
    if (this.code === "QUARANTINED") return "it was not sent";
    return publicMessages[this.phase] ?? this.message;
  }
}

const unreachable = "it cannot be reached or is not allowed";
const unusable = "it gave no usable answer";

/** What is wrong with a URL may be told in full: who named it can see it. */
const publicMessages: Readonly<Record<OutboundPhase, string | undefined>> = {
  url: undefined,
  wait: "too many exchanges are under way",
  dns: unreachable,
  policy: unreachable,
  connect: unreachable,
  tls: unreachable,
  send: unusable,
  head: unusable,
  body: unusable,
};
