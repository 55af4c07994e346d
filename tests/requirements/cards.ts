import type { Promised } from "./promised.ts";

/** What other agents read about us before they call. */
export const cardRequirements: readonly Promised[] = [
  ["§3 card", "`card` prints the card that is served, to strangers and to callers"],
  ["§3 listen", "An address to listen on is a host or an address with its port"],
  ["§5.2a card-loopback-only", "While no workspace has a caller, only this machine reads the card"],
  ["§5.2b cards-exempt", "Pages of every origin may read the public card, whatever the Host, and no other one"],
  ["§5.2b odd-host", "A Host header that is no host is refused before any route"],
  ["§5.3 public-card", "The public card is generic: it tells nothing of any workspace"],
  ["§5.3 public-url", "The public URL is absolute, http or https, without user, query and fragment"],
  [
    "§5.3 extended-card",
    "A caller's card comes from card.json, PERSONA.md, skills and settings, in this order, for a key",
  ],
  ["§5.3 skills", "Skills are the SKILL.md in folders of skills and .agents/skills; chat stands for none"],
  ["§5.3 fresh", "A card is built anew for each request"],
  ["§5.3 cacheable", "Cards have ETag, Last-Modified and Cache-Control, and answer 304; a caller's is never stored"],
  ["§5.3 closed-schema", "A card of 1.0 has no member that its schema does not know"],
  ["§5.3 capabilities", "What the card says is not there is refused as such, on both bindings, and does nothing"],
  ["§5.3 extensions", "A required extension must be named by each request; an answer names those at work"],
  ["§5.3 legacy-card", "agent.json, and a card asked for with version 0.3, are the card of 0.3"],
  ["case 20", "The public URL is on the card, else what the request says; proxies count only when they are trusted"],
];
