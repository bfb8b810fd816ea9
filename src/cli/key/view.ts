/** How keys are shown: never themselves, but what they are known by and how they are used. */
import { writeMoment } from "../../contract/time.ts";
import type { KeyRecord } from "../../store/repositories.ts";
import { grouped } from "../terminal/numbers.ts";
import { table } from "../terminal/output.ts";

/** A key that has expired is revoked, to whoever presents it and here. */
export function stateOf({ revokedMs, expiresMs }: KeyRecord, nowMs: number): "active" | "revoked" {
  return revokedMs === null && nowMs < (expiresMs ?? Number.POSITIVE_INFINITY) ? "active" : "revoked";
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
    grouped(key.requests_this_month),
    key.label ?? "",
  ]);
  return table(["ID", "KEY", "STATE", "MADE", "EXPIRES", "LAST USED", "READ UP TO", "MONTH", "LABEL"], rows);
}
