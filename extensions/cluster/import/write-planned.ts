/** Plans some leads and writes the plan, until it fits what is there: somebody else may have written in between. */

import type { AccountNumber } from "../../../src/db/accounts.ts";
import type { Connection } from "../../../src/db/connection.ts";
import type { openPixels } from "../../../src/db/pixels.ts";
import {
  ImportInterrupted,
  type ImportOptions,
  type ImportOutcome,
  type NewLead,
} from "../../../src/import/new-lead.ts";
import type { WriteContext } from "../../../src/import/write/lead-writer.ts";
import type { Statement } from "../node/node.ts";
import { type Writer, wentIn } from "../writer.ts";
import { openPlanner, type Plan, type Planner } from "./plan.ts";
import { statementsOf } from "./plan-statements.ts";

/** Somebody else writes all the time where this is not enough. */
const mostPlans = 200;

export interface ClusterImporting {
  /** Reads the file of the own node. */
  readonly database: Connection;
  readonly writer: Writer;
  readonly pixels: ReturnType<typeof openPixels>;
}

interface Around {
  /** Asked anew for each plan. */
  context(): WriteContext;
  /** Whether the batch has a row, which must not be undone. */
  readonly isThere: boolean;
  /** What goes along with a plan. */
  recorded(plan: Plan): Statement[];
  /** Hears that a plan did not fit, before the next one. */
  refused(): void;
}

/** Gives the plan that went in. */
export function writePlanned(
  { writer, pixels }: ClusterImporting,
  planner: Planner,
  account: AccountNumber,
  leads: readonly NewLead[],
  { context, isThere, recorded, refused }: Around,
): Plan {
  for (let plans = 0; plans < mostPlans; plans++) {
    const now = context();
    const plan = planner.plan(leads, now);
    if ("pixels" in plan) {
      for (const id of plan.pixels) pixels.create(account, { id, status: "active" }, now.nowMs);
      continue;
    }
    const statements = [...statementsOf(plan, { account, batch: now.batch, isThere }), ...recorded(plan)];
    if (wentIn(() => writer.commit(statements))) return plan;
    refused();
  }
  throw new ImportInterrupted(
    "The import was interrupted, because others write into the same account all the time. Leads added so far stay.",
    "Import the file again: only the missing leads are added.",
    null,
  );
}

/** Begins to write leads as they come, which belong to no batch. */
export function beginClusterLeads(cluster: ClusterImporting, account: AccountNumber, options: ImportOptions) {
  const planner = openPlanner(cluster.database, account, options);
  return {
    write(leads: readonly NewLead[], nowMs: number): ImportOutcome[] {
      const context = () => ({ batch: 0, nowMs, stampMs: nowMs });
      const around = { context, isThere: false, recorded: () => [], refused: () => {} };
      return [...writePlanned(cluster, planner, account, leads, around).outcomes];
    },
  };
}
