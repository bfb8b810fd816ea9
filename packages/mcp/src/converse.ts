/** The protocol over standard input and output, from the first question of an agent to the last answer. */
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/sdk/shared/stdio.js";
import { CancelledNotificationSchema, isJSONRPCRequest, type RequestId } from "@modelcontextprotocol/sdk/types.js";
import { UserError } from "../../../src/user-error.ts";

/**
 * Ends with standard input, once all is answered; and at once when nobody reads the answers, or at a stop. Throws a
 * UserError for a message that is too large.
 */
export async function converse(server: McpServer, stop: AbortSignal): Promise<void> {
  const transport = new StdioServerTransport();
  const questions = watchQuestions(transport);
  const ended = Promise.withResolvers<void>();
  const end = () => ended.resolve();
  const endWhenAnswered = () => void questions.answered().then(end);
  stop.addEventListener("abort", end, { once: true });
  process.stdin.once("end", endWhenAnswered).once("close", endWhenAnswered);
  process.stdout.on("error", end);
  // Before the end, it closes by itself only when a message is larger than it takes.
  transport.onclose = () => ended.reject(tooLarge());
  await server.connect(transport);
  await ended.promise;
  await server.close();
}

function tooLarge(): UserError {
  const mebibytes = STDIO_DEFAULT_MAX_BUFFER_SIZE / 1024 / 1024;
  return new UserError(`A message on standard input is larger than ${mebibytes} MiB.`, "No tool takes so much.");
}

/** Knows which questions have no answer yet. */
function watchQuestions(transport: StdioServerTransport) {
  const open = new Set<RequestId>();
  const none = Promise.withResolvers<void>();
  let isLast = false;
  function close(id: RequestId | undefined): void {
    if (id !== undefined) open.delete(id);
    if (isLast && open.size === 0) none.resolve();
  }
  transport.onmessage = (message) => {
    if (isJSONRPCRequest(message)) open.add(message.id);
    // Nobody waits for its answer any more, and none is given.
    else close(CancelledNotificationSchema.safeParse(message).data?.params.requestId);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    await send(message);
    if ("id" in message && !("method" in message)) close(message.id);
  };
  return {
    /** Resolves when all that was asked is answered. No question may follow. */
    answered(): Promise<void> {
      isLast = true;
      close(undefined);
      return none.promise;
    },
  };
}
