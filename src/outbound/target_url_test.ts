import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { classOf } from "./address_class.ts";
import { OutboundError } from "./outbound_error.ts";
import { parseTargetUrl, targetHost } from "./target_url.ts";

function codeOf(url: string, allowHttp = false): string | undefined {
  try {
    parseTargetUrl(url, { allowHttp });
    return undefined;
  } catch (error) {
    ok(error instanceof OutboundError && error.phase === "url" && error.isRefusal);
    return error.code;
  }
}

/** What becomes of a host however it is spelled: a class of address, `name` for what the name servers must say, or a code. */
const literals: readonly (readonly [url: string, outcome: string])[] = [
  ["http://127.0.0.1/", "loopback"],
  ["http://127.1/", "loopback"],
  ["http://127.0.1/", "loopback"],
  ["http://2130706433/", "loopback"],
  ["http://0x7f000001/", "loopback"],
  ["http://0x7f.0.0.1/", "loopback"],
  ["http://0x7f.1/", "loopback"],
  ["http://0177.0.0.1/", "loopback"],
  ["http://017700000001/", "loopback"],
  ["http://0177.1/", "loopback"],
  ["http://00000177.0.0.1/", "loopback"],
  ["http://127.0.0.1./", "loopback"],
  ["http://0/", "unspecified"],
  ["http://0.0.0.0/", "unspecified"],
  ["http://0x0/", "unspecified"],
  ["http://127.000.000.001/", "loopback"],
  ["http://127.0.0.01/", "loopback"],
  ["http://012.0.0.1/", "private"],
  ["http://10.1/", "private"],
  ["http://192.168.257/", "private"],
  ["http://3232235777/", "private"],
  ["http://169.254.169.254/", "link-local"],
  ["http://0xA9FEA9FE/", "link-local"],
  ["http://0251.0376.0251.0376/", "link-local"],
  ["http://425.510.425.510/", "URL_INVALID"],
  ["http://4294967297/", "URL_INVALID"],
  ["http://256.0.0.1/", "URL_INVALID"],
  ["http://1.2.3.4.5/", "URL_INVALID"],
  ["http://08.0.0.1/", "URL_INVALID"],
  ["http://100.64.0.1/", "cgnat"],
  ["http://100.100.100.200/", "cloud-metadata"],
  ["http://168.63.129.16/", "cloud-metadata"],
  ["http://192.0.0.192/", "protocol-assignment"],
  ["http://198.18.0.1/", "benchmarking"],
  ["http://203.0.113.5/", "documentation"],
  ["http://224.0.0.1/", "multicast"],
  ["http://255.255.255.255/", "broadcast"],
  ["http://240.0.0.1/", "reserved"],
  ["http://[::1]/", "loopback"],
  ["http://[::]/", "unspecified"],
  ["http://[0:0:0:0:0:0:0:1]/", "loopback"],
  ["http://[::ffff:127.0.0.1]/", "v4-mapped"],
  ["http://[::ffff:7f00:1]/", "v4-mapped"],
  ["http://[::FFFF:7F00:0001]/", "v4-mapped"],
  ["http://[::ffff:0:7f00:1]/", "v4-mapped"],
  ["http://[::127.0.0.1]/", "v4-compatible"],
  ["http://[::7f00:1]/", "v4-compatible"],
  ["http://[64:ff9b::7f00:1]/", "nat64"],
  ["http://[64:ff9b::127.0.0.1]/", "nat64"],
  ["http://[64:ff9b:1::7f00:1]/", "nat64"],
  ["http://[64:ff9b::8.8.8.8]/", "nat64"],
  ["http://[2002:7f00:1::]/", "6to4"],
  ["http://[2002:a9fe:a9fe::1]/", "6to4"],
  ["http://[2001:0:7f00:1::1]/", "teredo"],
  ["http://[2001:db8::1]/", "documentation"],
  ["http://[2001:2::1]/", "benchmarking"],
  ["http://[3fff::1]/", "documentation"],
  ["http://[5f00::1]/", "not-global-unicast"],
  ["http://[100::1]/", "not-global-unicast"],
  ["http://[fc00::1]/", "unique-local"],
  ["http://[fd00:ec2::254]/", "cloud-metadata"],
  ["http://[fe80::1]/", "link-local"],
  ["http://[fe80::1%eth0]/", "URL_INVALID"],
  ["http://[fe80::1%25eth0]/", "URL_INVALID"],
  ["http://[fec0::1]/", "site-local"],
  ["http://[ff02::1]/", "multicast"],
  ["http://[2606:4700::5efe:7f00:1]/", "isatap"],
  ["http://[4000::1]/", "not-global-unicast"],
  ["http://[::ffff:8.8.8.8]/", "v4-mapped"],
  ["http://１２７.０.０.１/", "loopback"],
  ["http://127。0。0。1/", "loopback"],
  ["http://①②⑦.⓪.⓪.①/", "loopback"],
  ["http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "name"],
  ["http://localhost/", "name"],
  ["http://LOCALHOST./", "name"],
  ["http://foo.localhost/", "name"],
  ["http://%31%32%37.0.0.1/", "loopback"],
  ["http://127.0.0.1%00.example.com/", "URL_INVALID"],
  ["http://127.0.0.1%2f.example.com/", "URL_INVALID"],
  ["http://example.com@127.0.0.1/", "USERINFO_FORBIDDEN"],
  ["http://127.0.0.1@example.com/", "USERINFO_FORBIDDEN"],
  ["http://example.com%40127.0.0.1/", "URL_INVALID"],
  ["http://example.com#@127.0.0.1/", "name"],
  ["http://example.com\\@127.0.0.1/", "URL_INVALID"],
  ["http://127.0.0.1\\.example.com/", "URL_INVALID"],
  ["http:127.0.0.1/", "loopback"],
  ["http:///127.0.0.1/", "loopback"],
  ["http:/\\127.0.0.1/", "URL_INVALID"],
  ["http://127.0.0.1:80:80/", "URL_INVALID"],
  ["http://127.0.0.1:080/", "loopback"],
  ["http://[127.0.0.1]/", "URL_INVALID"],
  ["http://127.0.0.1.nip.io/", "name"],
  ["http://1.1.1.1/", "public"],
  ["http://8.8.8.8/", "public"],
  ["http://[2606:4700:4700::1111]/", "public"],
];

for (const [url, outcome] of literals) {
  Deno.test(`parseTargetUrl() takes ${url} for ${outcome} [§13 url-form]`, () => {
    const code = codeOf(url, true);
    if (code !== undefined) return strictEqual(code, outcome);
    const { address } = parseTargetUrl(url, { allowHttp: true });
    strictEqual(address === undefined ? "name" : classOf(address), outcome);
  });
}

const refused: readonly (readonly [url: string, code: string])[] = [
  ["http://hook.test/", "SCHEME_FORBIDDEN"],
  ["ftp://hook.test/", "SCHEME_FORBIDDEN"],
  ["file:///etc/passwd", "SCHEME_FORBIDDEN"],
  ["data:,x", "SCHEME_FORBIDDEN"],
  ["https://u:p@hook.test/", "USERINFO_FORBIDDEN"],
  ["https://u@hook.test/", "USERINFO_FORBIDDEN"],
  ["https://:p@hook.test/", "USERINFO_FORBIDDEN"],
  ["https://hook.test@127.0.0.1/", "USERINFO_FORBIDDEN"],
  ["https://hook.test:25/", "PORT_FORBIDDEN"],
  ["https://hook.test:6666/", "PORT_FORBIDDEN"],
  ["https://hook.test:0/", "PORT_FORBIDDEN"],
  ["https://hook.test:99999/", "URL_INVALID"],
  ["https://", "URL_INVALID"],
  ["", "URL_INVALID"],
  ["not a url", "URL_INVALID"],
  ["https://hook.test\\@127.0.0.1/", "URL_INVALID"],
  ["https://hook.test/\r\nX: y", "URL_INVALID"],
  ["https://ho\tok.test/", "URL_INVALID"],
  [" https://hook.test/", "URL_INVALID"],
  ["https://a..b/", "URL_INVALID"],
  ["https://-x.test/", "URL_INVALID"],
  ["https://hook.test../", "URL_INVALID"],
  ["https://[fe80::1%25eth0]/", "URL_INVALID"],
  ["https://hook.test%00.evil/", "URL_INVALID"],
  ["https://hook.test#@127.0.0.1/ ", "URL_INVALID"],
  [`https://${"a".repeat(64)}.test/`, "URL_INVALID"],
  [`https://${"a.".repeat(127)}test/`, "URL_INVALID"],
  [`https://hook.test/${"a".repeat(8192)}`, "URL_INVALID"],
  ["https://1.2.3.4.5/", "URL_INVALID"],
  ["https://256.1.1.1/", "URL_INVALID"],
  ["https://a*b.test/", "URL_INVALID"],
];

for (const [url, code] of refused) {
  Deno.test(`parseTargetUrl() refuses ${JSON.stringify(url.slice(0, 40))} as ${code} [§13 url-form]`, () => {
    strictEqual(codeOf(url), code);
  });
}

Deno.test("parseTargetUrl() gives where a URL leads", () => {
  deepStrictEqual(parseTargetUrl("https://HOOK.Test.:8443/a%20b?c=d#e", { allowHttp: false }), {
    isSecure: true,
    host: "hook.test",
    port: 8443,
    address: undefined,
    hostField: "hook.test:8443",
    path: "/a%20b?c=d",
    origin: "https://hook.test.:8443",
  });
  const { address, ...literal } = parseTargetUrl("http://[2606:4700:0::1111]", { allowHttp: true });
  strictEqual(address?.text, "2606:4700::1111");
  deepStrictEqual(literal, {
    isSecure: false,
    host: "2606:4700::1111",
    port: 80,
    hostField: "[2606:4700::1111]",
    path: "/",
    origin: "http://[2606:4700::1111]",
  });
});

Deno.test("parseTargetUrl() takes names of the DNS as they are, underscores and punycode too", () => {
  for (const host of ["a", "a_b.test", "_x.test", "1.test", "xn--bcher-kva.test", `${"a".repeat(63)}.test`]) {
    strictEqual(parseTargetUrl(`https://${host}/`, { allowHttp: false }).host, host);
  }
  strictEqual(parseTargetUrl("https://b\u00fccher.test/", { allowHttp: false }).host, "xn--bcher-kva.test");
});

Deno.test("parseTargetUrl() is done with long hostile hosts at once", () => {
  for (const host of ["a".repeat(8000), "a-".repeat(4000), "a.".repeat(4000), "0x".repeat(4000)]) {
    strictEqual(codeOf(`https://${host}/`), "URL_INVALID");
  }
});

Deno.test("targetHost() gives one text for one host, whatever its port, and throws for what is no URL to send to", () => {
  strictEqual(targetHost("https://Hook.TEST./a"), "hook.test");
  strictEqual(targetHost("https://hook.test:443/b"), "hook.test");
  strictEqual(targetHost("http://hook.test/"), "hook.test");
  strictEqual(targetHost("https://127.1:8443/"), "127.0.0.1");
  strictEqual(targetHost("https://[2606:4700:0:0::1]/"), "2606:4700::1");
  throws(() => targetHost("mailto:a@b"), OutboundError);
});
