import type { Promised } from "./promised.ts";

/** The one door for what is sent: which URLs and addresses, how an exchange is bounded, and how it ends. */
export const outboundRequirements: readonly Promised[] = [
  ["§13 url-form", "What a parser of the web would repair is refused, and a host is judged as it is parsed"],
  [
    "§13 address-classes",
    "Only what the registries give to anybody's server is public, checked against two other tables",
  ],
  [
    "§13 private-opens",
    "AllowPrivatePushUrls opens loopback, private, unique-local and CGNAT addresses, and no others",
  ],
  ["§13 allow-deny", "OutboundAllow opens and OutboundDeny closes what they name, as it is written; the latter wins"],
  ["§13 nat64", "An address of NAT64 is refused unless Nat64 is judge-embedded, and then judged by what is in it"],
  [
    "§13 name-lookup",
    "A name is looked up once, as it is, by the name servers and not by the C library; one family waits 250 ms for the other",
  ],
  ["§13 race-order", "IPv6 and IPv4 are tried in turn, the next after a failure or 250 ms, six at most"],
  ["§13 request-whole", "No header of a caller can make a request be read as another one"],
  ["§13 narrow-reader", "An answer that could be read in two ways is refused, however its bytes are cut"],
  ["§13 body-bounded", "A body is held to its bound before and while it comes, decoded too"],
  [
    "§13 exchanges-max",
    "64 exchanges at once, 16 to a host, 16 of a caller, 4 of a caller to a host; who must wait holds up nobody who may go",
  ],
  ["§13 wait-bounded", "A wait for a turn is bounded in time and in number, and counts as part of the exchange"],
  [
    "§13 ends-whole",
    "However an exchange ends, its reason is told and nothing is left of it but what cannot be closed: see left-bounded",
  ],
  [
    "§13 left-bounded",
    "Connections whose TLS or request never ends are at most 8 an hour of a caller, 4 at a host, 128 in all",
  ],
  ["§13 credentials-home", "Credentials of an agent go to its origin and nowhere else"],
  [
    "§13 refusals-logged",
    "What the guard skips and refuses is logged by host and kind of address, and by nothing else",
  ],
  ["§13 one-answer", "Who named a URL is told the same for every place that cannot be reached or is not allowed"],
  ["§13 one-door", "Nothing but the door opens a socket to the outside"],
  ["§13 ca-file", "A CaFile that cannot be read or holds no certificate is refused at the start"],
  ["§13 ordinary-answers", "What servers really answer is taken, the odd forms too"],
  ["§13 judged-when-connected", "What is judged is what is connected to, and who is there is judged again"],
  ["§13 every-address-judged", "A name leads to none of its addresses that are forbidden, however they are written"],
  ["§13 redirect-refused", "No redirect of a stranger is followed"],
  ["§13 tls-verified", "Nothing is sent before the server has shown a certificate for the URL's host that is trusted"],
  ["§13 time-limits", "Each step of an exchange has its limit of time, and all of it together"],
  ["§13 head-only", "Of an answer whose head is enough no body is judged, and none is waited for"],
  ["§13 encodings", "No encoding is taken but gzip, once, when it was asked for"],
  ["§13 no-proxy", "No variable can lead an exchange to a proxy"],
  ["§13 rights", "The door needs no right but the network, and says when it has none"],
];
