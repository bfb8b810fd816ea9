/** The Model Context Protocol over standard input and output, from the first request of an agent to the last result. */
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/sdk/shared/stdio.js";
import { CancelledNotificationSchema, isJSONRPCRequest, type RequestId } from "@modelcontextprotocol/sdk/types.js";
import { Refusal } from "../../client/program/terminal.ts";

/**
 * Serves until standard input ends and every request has its result, or until a stop, or until nobody reads the results.
 * Throws a Refusal for a message that is too large.
 */
export async function converse(server: McpServer, stop: AbortSignal): Promise<void> {
  const transport = new StdioServerTransport();
  const requests = watchRequests(transport);
  const ended = Promise.withResolvers<void>();
  const end = () => ended.resolve();
  const endWhenAnswered = () => void requests.answered().then(end);
  stop.addEventListener("abort", end, { once: true });
  process.stdin.once("end", endWhenAnswered).once("close", endWhenAnswered);
  process.stdout.on("error", end);
  // Before the end, the transport closes by itself only if a message is too large.
  transport.onclose = () => ended.reject(tooLarge());
  await server.connect(transport);
  await ended.promise;
  await server.close();
}

function tooLarge(): Refusal {
  const mebibytes = STDIO_DEFAULT_MAX_BUFFER_SIZE / 1024 / 1024;
  return new Refusal(`A message on standard input is larger than ${mebibytes} MiB, which no tool accepts.`);
}

/** Tracks the requests that have no result yet. */
function watchRequests(transport: StdioServerTransport) {
  const open = new Set<RequestId>();
  const none = Promise.withResolvers<void>();
  let isLast = false;
  function close(id: RequestId | undefined): void {
    if (id !== undefined) open.delete(id);
    if (isLast && open.size === 0) none.resolve();
  }
  transport.onmessage = (message) => {
    if (isJSONRPCRequest(message)) open.add(message.id);
    // A cancelled request gets no result.
    else close(CancelledNotificationSchema.safeParse(message).data?.params.requestId);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if ("id" in message && !("method" in message)) close(message.id);
  };
  return {
    /** Resolves when every request has its result. No request may follow. */
    answered(): Promise<void> {
      isLast = true;
      close(undefined);
      return none.promise;
    },
  };
}
