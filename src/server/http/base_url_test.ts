import { strictEqual } from "node:assert/strict";
import { parseAddressRange } from "@/address_range.ts";
import { baseUrl } from "./base_url.ts";

interface Row {
  readonly name: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly address?: string;
  readonly publicUrl?: string;
  readonly base: string;
}

const proxied = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "a2a.example.com" };

const rows: readonly Row[] = [
  { name: "the request's own address", base: "http://localhost:5099" },
  { name: "its Host", headers: { Host: "a2a.example.com:8080" }, base: "http://a2a.example.com:8080" },
  { name: "an address of IPv6", headers: { Host: "[FD00::1]:5099" }, base: "http://[fd00::1]:5099" },
  { name: "no port that goes without saying", headers: { Host: "a2a.example.com:80" }, base: "http://a2a.example.com" },
  { name: "PublicUrl before all else", publicUrl: "https://x.org/", headers: proxied, base: "https://x.org" },
  { name: "the path of PublicUrl", publicUrl: "https://x.org:8443/peer/bo/", base: "https://x.org:8443/peer/bo" },
  { name: "what a trusted proxy says", headers: proxied, base: "https://a2a.example.com" },
  { name: "the same over IPv6", headers: proxied, address: "::ffff:10.1.2.3", base: "https://a2a.example.com" },
  {
    name: "a trusted proxy's scheme with the Host that it passed on",
    headers: { Host: "a2a.example.com", "X-Forwarded-Proto": "HTTPS" },
    base: "https://a2a.example.com",
  },
  {
    name: "the last of several values: the others came to the proxy",
    headers: { "X-Forwarded-Proto": "http, https", "X-Forwarded-Host": "evil.example, a2a.example.com" },
    base: "https://a2a.example.com",
  },
  {
    name: "nothing that another address forwards",
    headers: proxied,
    address: "11.0.0.1",
    base: "http://localhost:5099",
  },
  { name: "nothing that an unknown address forwards", headers: proxied, address: "", base: "http://localhost:5099" },
  { name: "no other scheme", headers: { "X-Forwarded-Proto": "javascript" }, base: "http://localhost:5099" },
  ...["a/b", "a@b", "a?b", "a b", "a:99999", "", "[::1", "1.2.3.999"].map((host) => ({
    name: `no host like ${JSON.stringify(host)}`,
    headers: { "X-Forwarded-Host": host, Host: host },
    base: "http://localhost:5099",
  })),
];

for (const { name, url = "http://localhost:5099/a2a", headers, address = "10.1.2.3", publicUrl, base } of rows) {
  Deno.test(`baseUrl() gives ${name} [case 20]`, () => {
    const request = new Request(url, { headers });
    const trustedProxies = [parseAddressRange("10.0.0.0/8")!];
    const options = { address, publicUrl: publicUrl === undefined ? undefined : new URL(publicUrl), trustedProxies };
    strictEqual(baseUrl(request, options), base);
  });
}
