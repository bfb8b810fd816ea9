/** TLS by the server itself. */
import { expect } from "bun:test";
import { aCertificate } from "../support/certificate.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";

const withCertificate = needing("openssl");

withCertificate("with a certificate the server speaks HTTPS", async () => {
  const { folder, ...tls } = aCertificate();
  const server = start(tls, folder);
  const url = await server.listening();
  expect(url).toStartWith("https://127.0.0.1:");
  const ca = await Bun.file(tls.TLS_CERT).text();
  const answer = await fetch(`${url}/api/v1/leads`, { tls: { ca } });
  expect(answer.status).toBe(401);
  expect(((await answer.json()) as { error: { docs: string } }).error.docs).toStartWith(`${url}/docs#`);
});

withCertificate("with a certificate /metrics still knows a client on this machine", async () => {
  const { folder, ...tls } = aCertificate();
  const url = await start(tls, folder).listening();
  const ca = await Bun.file(tls.TLS_CERT).text();
  expect((await fetch(`${url}/metrics`, { tls: { ca } })).status).toBe(200);
  expect((await fetch(`${url}/metrics`, { tls: { ca }, headers: { Forwarded: "for=192.0.2.7" } })).status).toBe(404);
});

withCertificate("with a certificate, listening on every address is not warned of", async () => {
  const { folder, ...tls } = aCertificate();
  const server = start({ ...tls, HOST: "0.0.0.0" }, folder);
  await server.listening();
  expect(await server.end("SIGTERM")).toBe(0);
  expect(server.errors()).not.toContain("Warning");
});
