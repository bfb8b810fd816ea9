/** bun admin doctor on the settings and the certificate. */
import { describe, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { aCertificate } from "../../support/certificate.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aFreePort } from "../../support/proxy.ts";
import { aHealthy, examine } from "./examined.ts";

describe("settings", () => {
  test("every wrong one is named, not the first alone", async () => {
    const { status, said } = await examine(await aHealthy({ LOG_LEVEL: "loud", TRUST_PROXY: "yes", METRICS: "all" }));
    for (const name of ["LOG_LEVEL", "TRUST_PROXY", "METRICS"]) expect(said).toContain(`${name} is `);
    expect(status).toBe(2);
  });

  test.each([
    [{ HOST: "0.0.0.0", BASE_URL: "https://www.example.com" }, "without TLS"],
    [{ TRUST_PROXY: "1" }, "BASE_URL is not set"],
    [{ BASE_URL: "http://www.example.com" }, "in the clear"],
  ])("%j is a warning", async (settings, says) => {
    const { status, said } = await examine(await aHealthy(settings));
    expect(said).toContain(says);
    expect(status).toBe(1);
  });

  test("behind a proxy on this machine they are fine", async () => {
    const settings = { TRUST_PROXY: "1", BASE_URL: "https://www.example.com" };
    expect((await examine(await aHealthy(settings))).status).toBe(0);
  });
});

needing("openssl").describe("a certificate", () => {
  const names = ["www.example.com"];
  const BASE_URL = "https://www.example.com";

  test("with months left is fine", async () => {
    const { TLS_CERT, TLS_KEY } = aCertificate({ days: 90, names });
    expect(await examine(await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL }))).toMatchObject({ status: 0 });
  });

  test("that ends soon is a warning", async () => {
    const { TLS_CERT, TLS_KEY } = aCertificate({ days: 20, names });
    const { status, said } = await examine(await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL }));
    expect(said).toMatch(/ends on \d{4}-\d\d-\d\d/);
    expect(status).toBe(1);
  });

  test("for another name is broken", async () => {
    const { TLS_CERT, TLS_KEY } = aCertificate({ days: 90 });
    const { status, said } = await examine(await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL }));
    expect(said).toContain("is not for www.example.com");
    expect(status).toBe(2);
  });

  test("that the server does not give yet, because it was not restarted after the renewal, is a warning", async () => {
    const [old, renewed] = [aCertificate({ days: 90 }), aCertificate({ days: 90 })];
    const { TLS_CERT, TLS_KEY } = old;
    const settings = { TLS_CERT, TLS_KEY, PORT: String(await aFreePort()) };
    const admin = await aHealthy(settings);
    const server = start({ ...settings, DATABASE_PATH: admin.file });
    await server.listening();
    expect((await examine(admin)).said).toBe("");
    copyFileSync(renewed.TLS_CERT, TLS_CERT);
    copyFileSync(renewed.TLS_KEY, TLS_KEY);
    const { status, said } = await examine(admin);
    expect([status, said]).toEqual([1, expect.stringMatching(/^The server still gives a certificate that ends on /)]);
  });

  test("that does not fit its key is broken", async () => {
    const { TLS_CERT } = aCertificate();
    const { TLS_KEY } = aCertificate();
    const { status, said } = await examine(await aHealthy({ TLS_CERT, TLS_KEY }));
    expect(said).toContain("TLS_KEY is ");
    expect(status).toBe(2);
  });
});
