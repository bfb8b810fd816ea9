/** deploy/nginx and deploy/caddy, run by the real programs in front of the webhook endpoint. */
import { expect, onTestFinished } from "bun:test";
import { connect, type Socket } from "node:net";
import { createKey } from "../../../../src/contract/key.ts";
import { eventually } from "../../../support/eventually.ts";
import { aFreePort } from "../../../support/free-port.ts";
import { needing } from "../../../support/needing.ts";
import { logsOf, startProxy } from "../../../support/proxy.ts";
import { send } from "../../../support/wire.ts";
import { receive } from "./receiving.ts";

const host = "www.example.com";

for (const program of ["nginx", "caddy"] as const) {
  needing(program, "openssl")(
    `${program} passes a delivery on to its endpoint, and writes nothing of its token or its visits into a log`,
    async () => {
      const endpoint = await receive({ trustProxy: true });
      const proxy = await startProxy(program, await aFreePort(), Number(new URL(endpoint.url).port));
      const target = `/in/${endpoint.token}`;
      const visit = { email: "dana@example.com", note: "x".repeat(900_000) };
      const deliver = (url: string, body: string) => send(url, { host, method: "POST", target, body });
      expect((await deliver(proxy.https, JSON.stringify(visit))).status).toBe(200);
      expect(endpoint.kept()).toEqual([visit]);
      const [tooLarge, plain] = [
        await deliver(proxy.https, `"${"x".repeat(1_000_001)}"`),
        await deliver(proxy.http, "{}"),
      ];
      expect([tooLarge.status, tooLarge.body]).toEqual([413, expect.stringContaining("larger than 1 MB")]);
      expect([plain.status, plain.headers.get("location")]).toEqual([308, `https://${host}${target}`]);
      const headers = { Authorization: `Bearer ${endpoint.token}` };
      const inHeader = await send(proxy.https, { host, method: "POST", target: "/in", headers, body: "[]" });
      expect(inHeader.status).toBe(200);
      expect(await logsOf(proxy, "POST", 4)).not.toMatch(/lfin_|dana/);
    },
  );
}

needing("nginx", "openssl")(
  "nginx writes no token into a log when clients that send nothing have used up its connections",
  async () => {
    const proxy = await startProxy("nginx", await aFreePort(), await aFreePort(), 16);
    const token = createKey("lfin_");
    const deliver = () => send(proxy.http, { host, method: "POST", target: `/in/${token}`, body: "{}" });
    const open: Socket[] = [];
    onTestFinished(() => open.forEach((socket) => void socket.destroy()));
    let status = 502;
    while (status === 502) {
      const socket = connect(Number(new URL(proxy.http).port), "127.0.0.1").on("error", () => undefined);
      // Without a beginning nginx would take the connection back.
      await new Promise<void>((resolve) => void socket.write("GET / HTTP/1.1\r\n", () => resolve()));
      open.push(socket);
      status = (await deliver()).status;
    }
    expect(status).toBe(500);
    await eventually(async () => expect(proxy.logs()).toMatch(/ 500 \d+ /));
    expect(proxy.logs()).not.toContain(token.slice(5, 20));
  },
);
