#!/usr/bin/env bun
/** The program follow, started on its own. */
import { followCommand } from "./follow.ts";

await followCommand().parseAsync();
