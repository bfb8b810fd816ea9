/** Reads with the client that kubb generates. */
import axios from "axios";
import { getUsage, listLeads, listPixels } from "./client/index.ts";
import { baseUrl, key, read } from "./read.ts";

const options = { baseURL: baseUrl, headers: { Authorization: `Bearer ${key}` } };

await read({
  leads: (query) => listLeads(query, options),
  pixels: () => listPixels(options),
  usage: () => getUsage(options),
  refused: () =>
    listLeads({ pixel_id: "px_none" }, options).then(
      () => undefined,
      (error: unknown) => (axios.isAxiosError(error) ? error.response?.data.error.code : undefined),
    ),
});

// @ts-expect-error A wrong parameter does not compile.
void (() => listLeads({ pixel: "px_none" }, options));
