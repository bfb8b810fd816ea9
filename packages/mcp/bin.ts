#!/usr/bin/env bun
/** The program mcp, started on its own. */
import { mcpCommand } from "./src/mcp.ts";

await mcpCommand().parseAsync();
