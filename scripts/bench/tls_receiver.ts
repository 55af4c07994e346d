import { madeFile } from "./made_file.ts";

/**
 * What benches of the outbound door send to, over TLS: a POST is read to its end and taken, `GET /<bytes>` sends the made
 * file of that size. Its arguments are the files of a certificate for 127.0.1.1 and of its key; it serves on four ports,
 * which are four hosts to the door.
 */
const [cert, key] = await Promise.all(Deno.args.map((path) => Deno.readTextFile(path)));

async function answer(request: Request): Promise<Response> {
  if (request.method === "POST") {
    await request.arrayBuffer();
    return new Response();
  }
  const bytes = Number(new URL(request.url).pathname.slice(1));
  return new Response(ReadableStream.from(madeFile(bytes)), { headers: { "Content-Length": `${bytes}` } });
}

const servers = Array.from(
  { length: 4 },
  () => Deno.serve({ hostname: "127.0.1.1", port: 0, cert: cert!, key: key!, onListen() {} }, answer),
);
console.log(servers.map(({ addr }) => `https://127.0.1.1:${addr.port}`).join(" "));
