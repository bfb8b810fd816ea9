/** What is held on persons, and how they are taken out for good. */
import { and, eq, isNull, sql } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import { writeMoment } from "../../contract/time.ts";
import type { Erased, Erasure, HeldImport, HowToErase, PeopleRepository, PersonMark } from "../../store/privacy.ts";
import type { Account } from "../../store/repositories.ts";
import { recordAct } from "../audit.ts";
import type { Connection } from "../connection.ts";
import { type Descriptors, keepDescriptors } from "../file.ts";
import { imports } from "../schema.ts";
import { openErasing } from "./erasing.ts";
import { formsOf, type Named, type Wanted, wantedOf } from "./forms.ts";
import { collecting } from "./garbage.ts";
import { openRecipients } from "./recipients.ts";
import { lookFor, type Sight } from "./sight.ts";
import { openStored } from "./stored.ts";
import { removeTraces } from "./traces.ts";

/** A transaction ends after this time, so that nobody waits longer; one person is always whole. */
const transactionMs = 100;
/** So many persons lose their receipts at most where the command is killed between the disk and its output. */
const personsAtOnce = 500;
const stepsUntilCollected = 20;
/** Of more leads than these not each is looked for: the file is written anew in any case. */
const mostLookedFor = 10_000;

const ignore = () => undefined;

export function openPeople(database: Connection, path: string): PeopleRepository {
  const descriptors = keepDescriptors();
  return {
    *find(account, persons, nowMs, onRead = ignore) {
      const { own } = lookFor(database, account.number, persons, onRead);
      const detail = { ...howMany(persons, persons.length), leads: countOf(own) };
      recordAct(database, { atMs: nowMs, act: "lead.find", account: account.id, detail });
      const leadAt = openStored(database, account.number);
      const recipientsOf = openRecipients(database, account.number);
      for (const place of persons.keys()) {
        const found = (own.get(place) ?? []).toReversed().flatMap(leadAt);
        yield {
          leads: found.map(({ doc }) => doc),
          received: found.flatMap(({ doc, batch }) => recipientsOf({ lead: JSON.parse(doc), batch })),
          imports: [...new Set(found.map(({ batch }) => batch))].flatMap((batch) => importNamed(database, batch)),
        };
      }
    },
    survey(account, persons, onRead = ignore) {
      const { own, mentions } = lookFor(database, account.number, persons, onRead);
      return {
        leads: persons.map((_, place) => own.get(place)?.length ?? 0),
        mentions: [...new Set([...mentions.values()].flatMap((ids) => [...ids.values()]))],
      };
    },
    erase: (account, persons, how, nowMs) =>
      startErasure({ database, path, descriptors }, account, persons, how, nowMs),
  };
}

/** The file in which persons are looked for. */
interface File {
  readonly database: Connection;
  readonly path: string;
  readonly descriptors: Descriptors;
}

function startErasure(
  { database, path, descriptors }: File,
  account: Account,
  persons: readonly PersonMark[],
  { withMentions, onRead = ignore }: HowToErase,
  nowMs: number,
): Erasure {
  const removed = createRemoved();
  const erasePerson = openErasing(database, account);
  const isStill = openPresence(database, account.number);

  function eraseOne(place: number, sight: Sight): Erased[] {
    const mark = persons[place];
    if (mark === undefined) return [];
    const own = sight.own.get(place) ?? [];
    const mentions = sight.mentions.get(place) ?? new Map<number, string>();
    if (!withMentions) removed.mention(mentions);
    const { leads, receipt } = erasePerson(mark, { own, alongside: withMentions ? [...mentions.keys()] : [] }, nowMs);
    removed.take(mark, leads);
    return [{ place, erased: leads.length, receipt }];
  }

  function* erasePlaces(places: readonly number[], sight: Sight): Generator<readonly Erased[]> {
    for (let next = 0; next < places.length; ) {
      const some = database.transaction(
        () => {
          const done: Erased[] = [];
          for (const endMs = performance.now() + transactionMs; done.length < personsAtOnce; ) {
            const place = places[next + done.length];
            if (place === undefined || (done.length > 0 && performance.now() > endMs)) break;
            done.push(...eraseOne(place, sight));
          }
          const erased = done.reduce((sum, one) => sum + one.erased, 0);
          const detail = { ...howMany(persons, done.length), erased };
          recordAct(database, { atMs: nowMs, act: "lead.erase", account: account.id, detail });
          return done;
        },
        { behavior: "immediate" },
      );
      next += some.length;
      yield some;
    }
  }

  return {
    *steps() {
      const importsBefore = openImports(database, account.number);
      const sight = lookFor(database, account.number, persons, onRead);
      yield* collecting(erasePlaces([...persons.keys()], sight), stepsUntilCollected);
      // All of them are blocked by now, and an import that ran until then may have brought some after they were looked for.
      if (!importsBefore.wereAtWork()) return;
      const again = lookFor(database, account.number, persons, onRead);
      yield* erasePlaces([...again.own.keys()], again);
    },
    mentions: () =>
      removed.mentions
        .entries()
        .flatMap(([ms, id]) => (isStill(ms) ? [id] : []))
        .toArray(),
    removeTraces: () => removeTraces(database, path, removed.wanted(), descriptors, removed.isTooMany()),
  };
}

/** What is remembered of a lead that is gone. */
function naming({ id, name, email, verified_email, phone }: Lead): Named {
  return { id, name, email, verified_email, phone };
}

/** What has gone, as far as it is looked for afterwards in the bytes of all files. */
function createRemoved() {
  const marks: PersonMark[] = [];
  const lookedFor: Named[] = [];
  const mentions = new Map<number, string>();
  let leads = 0;
  return {
    mentions,
    mention(found: ReadonlyMap<number, string>): void {
      for (const [ms, id] of found) mentions.set(ms, id);
    },
    take(mark: PersonMark, gone: readonly Lead[]): void {
      marks.push(mark);
      leads += gone.length;
      if (leads <= mostLookedFor) lookedFor.push(...gone.map(naming));
    },
    isTooMany: () => leads > mostLookedFor,
    /** One after the other: of a long list they are more than is to be in memory at once. */
    *wanted(): Generator<Wanted> {
      for (const lead of lookedFor) yield* wantedOf(lead);
      for (const { kind, value } of marks) if (kind !== "digest") yield { kind, forms: formsOf({ kind, value }) };
    },
  };
}

/** Where a lead came from; nothing where nobody knows. */
function importNamed(database: Connection, number: number): HeldImport[] {
  const one = database
    .select({ at: imports.at, file: imports.file })
    .from(imports)
    .where(eq(imports.number, number))
    .get();
  return one === undefined ? [] : [{ import: number, at: writeMoment(one.at), file: one.file }];
}

/** Whether there is a lead at a moment. */
function openPresence(database: Connection, account: number): (ms: number) => boolean {
  const leadAt = openStored(database, account);
  return (ms) => leadAt(ms).length > 0;
}

/** Whether an import of the account ran at some time since this was called. */
function openImports(database: Connection, account: number): { wereAtWork(): boolean } {
  const ofAccount = eq(imports.account, account);
  const last = () =>
    database
      .select({ number: sql<number>`coalesce(max(${imports.number}), 0)` })
      .from(imports)
      .where(ofAccount)
      .get()?.number ?? 0;
  const known = last();
  const running = database
    .select({ number: imports.number })
    .from(imports)
    .where(and(ofAccount, isNull(imports.finishedAt)));
  const isRunning = running.limit(1).all().length > 0;
  return { wereAtWork: () => isRunning || last() > known };
}

/** By what persons were named, for the record. */
function howMany(persons: readonly PersonMark[], count: number): Record<string, string | number> {
  const [one] = persons;
  return persons.length === 1 && one !== undefined ? { by: one.kind } : { by: "list", persons: count };
}

function countOf(own: Sight["own"]): number {
  return [...own.values()].reduce((sum, { length }) => sum + length, 0);
}
