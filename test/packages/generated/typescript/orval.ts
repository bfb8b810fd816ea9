/** Reads with the client that orval generates. */
import axios from "axios";
import { getUsage, listLeads, listPixels } from "./client.ts";
import { baseUrl, key, read } from "./read.ts";

const options = { baseURL: baseUrl, headers: { Authorization: `Bearer ${key}` } };

await read({
  leads: async (query) => (await listLeads(query, options)).data,
  pixels: async () => (await listPixels(options)).data,
  usage: async () => (await getUsage(options)).data,
  refused: () =>
    listLeads({ pixel_id: "px_none" }, options).then(
      () => undefined,
      (error: unknown) => (axios.isAxiosError(error) ? error.response?.data.error.code : undefined),
    ),
});

// @ts-expect-error A wrong parameter does not compile.
void (() => listLeads({ pixel: "px_none" }, options));
