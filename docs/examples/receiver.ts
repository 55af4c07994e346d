// Takes the pushes of one agent. Run it with the secret that `callers secret` prints:
//   SECRET=whsec_… deno run --allow-env=SECRET,PORT --allow-net=127.0.0.1 receiver.ts
const secret = Uint8Array.fromBase64(Deno.env.get("SECRET")!.replace(/^whsec_/, ""));
const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
const seen = new Set<string>(); // in earnest: where what you do with a push is kept

async function isGenuine(headers: Headers, body: Uint8Array): Promise<boolean> {
  const [id, time, signatures] = ["id", "timestamp", "signature"].map((name) => headers.get(`webhook-${name}`) ?? "");
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) return false; // overheard once, and sent again
  const signed = new Uint8Array([...new TextEncoder().encode(`${id}.${time}.`), ...body]);
  for (const [, signature] of signatures!.matchAll(/(?<=^| )v1,([A-Za-z0-9+/]{43}=)(?= |$)/g)) {
    if (await crypto.subtle.verify("HMAC", key, Uint8Array.fromBase64(signature!), signed)) return true;
  }
  return false;
}

Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.env.get("PORT") ?? 8080) }, async (request) => {
  const body = await request.bytes();
  if (!await isGenuine(request.headers, body)) return new Response("not genuine\n", { status: 401 });
  const id = request.headers.get("webhook-id")!;
  if (!seen.has(id)) {
    const { task } = JSON.parse(new TextDecoder().decode(body));
    console.log(`task ${task.id}, status ${task.metadata["volcanic.seq"]}: ${task.status.state}`);
  }
  seen.add(id); // only now: what fails above is pushed again
  return new Response(null, { status: 204 });
});
