import { deepStrictEqual } from "node:assert/strict";
import { type OutboundCode, OutboundError, type OutboundPhase } from "@/outbound/outbound_error.ts";
import type { OutboundResponse } from "@/outbound/outbound_request.ts";

/** Waits for an exchange to fail with just this. */
export async function failsWith(
  exchange: Promise<OutboundResponse>,
  [code, phase]: readonly [OutboundCode, OutboundPhase],
): Promise<OutboundError> {
  const error = await failureOf(exchange);
  deepStrictEqual([error.code, error.phase], [code, phase], `${error.message} ${Deno.inspect(error.cause)}`);
  return error;
}

/** What an exchange failed with, at its head or on the way to the end of its body. Rejects when it did not fail. */
async function failureOf(exchange: Promise<OutboundResponse>): Promise<OutboundError> {
  try {
    await using response = await exchange;
    const body = await response.text();
    throw new Error(
      `It did not fail, but gave ${response.status} and ${body.length} characters: ${body.slice(0, 100)}`,
    );
  } catch (error) {
    if (error instanceof OutboundError) return error;
    throw error;
  }
}
