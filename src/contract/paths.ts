/** The paths of the API (§4), and the public paths, which need no key. */

export const paths = { leads: "/api/v1/leads", pixels: "/api/v1/pixels", usage: "/api/v1/usage" } as const;

export const publicPaths = {
  root: "/",
  docs: "/docs",
  explorer: "/docs/try",
  client: "/docs/client.tgz",
  docsText: "/docs.md",
  llms: "/llms.txt",
  openapi: "/openapi.json",
  health: "/healthz",
  metrics: "/metrics",
} as const;
