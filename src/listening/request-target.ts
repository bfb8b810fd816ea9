/** What a request asks for: its path and its query, as they were sent. */

export interface Target {
  /** Not decoded. */
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
}

/** The target of a request. Its URL begins with `http://` or `https://`; without a usable Host header, with the path. */
export function targetOf({ url }: Pick<Request, "url">): Target {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", "https://".length);
  const question = url.indexOf("?", start);
  if (question === -1) return { path: url.slice(start), search: "" };
  return { path: url.slice(start, question), search: url.slice(question + 1) };
}
