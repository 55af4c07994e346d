import type { Promised } from "./promised.ts";

/** A2A 0.3, spoken at the same addresses. */
export const legacyRequirements: readonly Promised[] = [
  [
    "§5.8 legacy-methods",
    "Each method of 0.3 is served at the JSON-RPC endpoint by its own name; another one is unknown",
  ],
  ["§5.8 legacy-requests", "What 0.3 writes otherwise becomes the params of 1.0, once, before they are read"],
  ["§5.8 legacy-results", "Tasks, messages, parts and webhooks go out in the shapes of 0.3"],
  ["§5.8 legacy-streams", "Events of a stream go out in the shapes of 0.3, and final is true on the one that ends it"],
  ["§5.8 legacy-errors", "Errors of 0.3 have the codes of 1.0, data that is an object, and 0.3's names of fields"],
  ["§5.8 legacy-one-reader", "What 1.0 refuses in a message is refused in 0.3, the names that are ours too"],
  ["§5.8 legacy-rest", "Over HTTP+JSON the version alone tells 0.3, which is the ProtoJSON of its protobuf there"],
  ["§5.8 legacy-client", "A client of 0.3 as it is published works with our card, and with every method that we have"],
];
