/** How keys are shown: never the key itself, but its id, its first characters, and how it is used. */
import { isActive } from "../../contract/key.ts";
import { writeMoment } from "../../contract/time.ts";
import { adminCommand } from "../../program-name.ts";
import type { KeyRecord } from "../../store/repositories.ts";
import { UserError } from "../../user-error.ts";
import { grouped } from "../terminal/numbers.ts";
import { listed } from "../terminal/table.ts";

export function stateOf(key: KeyRecord, nowMs: number): "active" | "revoked" {
  return isActive(key, nowMs) ? "active" : "revoked";
}

/** A key as the list shows it. */
export function view(record: KeyRecord, nowMs: number, requestsOfMonth: number) {
  const { id, prefix, label, account, createdMs, revokedMs, expiresMs, lastUsed, readUpToMs } = record;
  return {
    id,
    prefix,
    label,
    account,
    state: stateOf(record, nowMs),
    created_at: writeMoment(createdMs),
    revoked_at: revokedMs === null ? null : writeMoment(revokedMs),
    expires_at: expiresMs === null ? null : writeMoment(expiresMs),
    last_used: lastUsed,
    read_up_to: readUpToMs === null ? null : writeMoment(readUpToMs),
    requests_this_month: requestsOfMonth,
  };
}

export function listText(keys: readonly ReturnType<typeof view>[]): string {
  const rows = keys.map((key) => [
    key.id,
    key.prefix,
    key.state,
    key.created_at.slice(0, 10),
    key.expires_at?.slice(0, 10) ?? "never",
    key.last_used ?? "never",
    key.read_up_to?.slice(0, 16).replace("T", " ") ?? "nothing",
    `${grouped(key.requests_this_month)} this month`,
    key.label ?? "",
  ]);
  const header = ["ID", "KEY", "STATE", "MADE", "EXPIRES", "LAST USED", "READ UP TO", "REQUESTS", "LABEL"];
  return listed("The account has no keys.", header, rows, ["MADE", "READ UP TO", "REQUESTS"]);
}

export function noSuchKey(): UserError {
  return new UserError(
    "No key has this id.",
    `${adminCommand} key list ACCOUNT shows the ids; the key itself is no id.`,
  );
}
