/** Where an import comes from: it is kept with its batch, for whoever asks later. */
import { userInfo } from "node:os";
import { basename, resolve } from "node:path";
import type { ImportOrigin } from "../../../store/imports.ts";
import type { ImportRequest } from "./options.ts";

/** The origin of an import that begins now. */
export function originOf(
  file: string,
  { rejects, rejectsKept = rejects }: ImportRequest,
  startedMs: number,
): ImportOrigin {
  const name = file === "-" ? "-" : basename(file);
  // An erasure names it later, and from another folder its name alone would lead nowhere.
  const rejectsFile = rejectsKept === undefined ? null : resolve(rejectsKept);
  return { file: name, by: nameOfUser(), rejectsFile, startedMs };
}

/** The user of the system who runs this; the number where a service or a container has no name for it. */
function nameOfUser(): string {
  const { username, uid } = userInfo();
  return username === "unknown" ? `uid ${uid}` : username;
}
