#!/usr/bin/env bun
/** The program conformance, started on its own. */
import { conformanceCommand } from "./src/command.ts";

await conformanceCommand().parseAsync();
