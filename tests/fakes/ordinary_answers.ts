import type { Answers, Exchange, SeenRequest } from "./hostile_connection.ts";

/** What `/echo` tells about how it was asked. */
export interface Echo {
  readonly address: string;
  readonly serverName?: string;
  readonly version?: string;
  readonly protocol?: string;
  readonly head: SeenRequest["head"];
  readonly body: string;
}

async function echo({ request, seen, write }: Exchange): Promise<void> {
  const { address, serverName, version, protocol } = seen;
  const told: Echo = {
    ...{ address, serverName, version, protocol, head: request.head },
    body: new TextDecoder().decode(request.body),
  };
  const json = new TextEncoder().encode(JSON.stringify(told));
  await write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n`);
  await write(json);
}

/** Answers that must be taken, the odd ones too. */
export const ordinaryAnswers: Answers = {
  "/echo": echo,
  "/head": "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
  "/204": "HTTP/1.1 204 No Content\r\n\r\n",
  "/204-body": "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
  "/304": 'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: "x"\r\n\r\n',
  "/100": "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "/103": "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" +
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "/trailers":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n5;ext=1\r\nhello\r\n6\r\n world\r\n" +
    "0\r\nX-T: 1\r\nX-Digest: abc\r\n\r\n",
  "/trailers-length":
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-Length: 99\r\n\r\n",
  "/early-413": "HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbig!",
  "/500": "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 3\r\n\r\nerr",
  "/429": "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\nContent-Length: 3\r\n\r\nerr",
  "/refresh": 'HTTP/1.1 200 OK\r\nRefresh: 0; url=http://127.0.0.1:8080/\r\nAlt-Svc: h3="127.0.0.1:8443"\r\n' +
    "Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok",
  "/length-twice": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
  "/length-list": "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
  "/no-reason": "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
  "/empty-reason": "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok",
  "/version-1-0": "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
  "/latin-1-header": "HTTP/1.1 200 OK\r\nX-A: f\xe9\xff\r\nContent-Length: 2\r\n\r\nok",
  "/more-behind": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
};
