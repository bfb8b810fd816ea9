/** Reads with the client that openapi-generator generates as typescript-axios. */
import axios from "axios";
import { Configuration, LeadsApi, PixelsApi, UsageApi } from "./client/index.ts";
import { baseUrl, key, read } from "./read.ts";

const configuration = new Configuration({ basePath: baseUrl, accessToken: key });
const leads = new LeadsApi(configuration);

await read({
  leads: async ({ limit, before, since, state, has_email }) =>
    (await leads.listLeads(limit, before, since, undefined, state, undefined, has_email)).data,
  pixels: async () => (await new PixelsApi(configuration).listPixels()).data,
  usage: async () => (await new UsageApi(configuration).getUsage()).data,
  refused: () =>
    leads.listLeads(undefined, undefined, undefined, "px_none").then(
      () => undefined,
      (error: unknown) => (axios.isAxiosError(error) ? error.response?.data.error.code : undefined),
    ),
});

// @ts-expect-error A wrong parameter does not compile.
void (() => leads.listLeads("px_none"));
