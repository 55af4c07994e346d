import { A2AError } from "./errors.ts";
import { legacyMethods } from "./methods.ts";

/** The versions of A2A that we speak, by major and minor. */
export type ProtocolVersion = "1.0" | "0.3";

/** What a request says about its version. */
export interface VersionClaim {
  /** The `A2A-Version` header. */
  readonly header?: string | null;
  /** The `A2A-Version` of the query, which counts when the header is absent or blank. */
  readonly query?: string | null;
  /** The JSON-RPC method as it was sent; undefined over HTTP+JSON. */
  readonly method?: string;
  /** The specification's rule: a request that names no version is one of 0.3, and refused. */
  readonly strict?: boolean;
}

/**
 * Finds the version of a request: one rule for every method and binding (product.md §5.8).
 *
 * The patch number is not looked at. A request that names no version speaks 0.3 when its JSON-RPC method is one of 0.3, else 1.0;
 * with `strict` it is refused. So is any other version: `VERSION_NOT_SUPPORTED`, naming those that are.
 */
export function protocolVersion({ header, query, method, strict = false }: VersionClaim): ProtocolVersion | A2AError {
  const named = header?.trim() || query?.trim() || "";
  const [, version] = /^(1\.0|0\.3)(?:\.\d+)?$/.exec(named) ?? [];
  if (version !== undefined) return version as ProtocolVersion;
  if (named !== "") return refused(`A2A version ${JSON.stringify(named.slice(0, 60))} is not supported`);
  if (strict) return refused("A2A-Version is required");
  return method !== undefined && legacyMethods.has(method) ? "0.3" : "1.0";
}

function refused(what: string): A2AError {
  return new A2AError("VERSION_NOT_SUPPORTED", {
    message: `${what}: send A2A-Version 1.0; 1.0 and 0.3 are supported`,
    metadata: { supportedVersions: "1.0,0.3" },
  });
}
