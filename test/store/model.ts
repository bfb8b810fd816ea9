/** A store that is a few arrays: slow, and so simple that it is right at sight. The real one must do as it does. */
import { randomText } from "../../src/contract/key.ts";
import { moveDocument } from "../../src/contract/lead.ts";
import { dayOf, writeMoment } from "../../src/contract/time.ts";
import type { Account, KeyRecord } from "../../src/store/repositories.ts";
import { beginModelImport, type Row } from "./model-import.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

interface ModelPixel {
  readonly account: number;
  readonly id: string;
  readonly status: string;
}

type ModelKey = KeyRecord & { readonly number: number; readonly of: number; readonly digest: Buffer };

const documentOf = (row: Row) => moveDocument(row.document, writeMoment(row.at));
const newestFirst = (a: Row, b: Row) => b.at - a.at;

export function openModel(): StoreUnderTest {
  const accounts: Account[] = [];
  const pixels: ModelPixel[] = [];
  const keys: ModelKey[] = [];
  const rows: Row[] = [];
  const counted: { key: number; day: string }[] = [];

  const hasPixel = (account: number, id: string) =>
    pixels.some((pixel) => pixel.account === account && pixel.id === id);
  const shown = ({ number, of, digest, ...record }: ModelKey): KeyRecord => ({
    ...record,
    lastUsed: daysOf(number).toSorted().at(-1) ?? null,
    readUpToMs: null,
  });
  const daysOf = (key: number) => counted.filter((count) => count.key === key).map((count) => count.day);

  function createPixel(account: number, { id, status }: { id: string; status: string }): boolean {
    if (hasPixel(account, id)) return false;
    pixels.push({ account, id, status });
    return true;
  }

  return {
    accounts: {
      create(name) {
        if (accounts.some((account) => account.name === name)) return null;
        accounts.push({
          number: accounts.length + 1,
          id: `acc_${randomText(16)}`,
          name,
          active: true,
          retainDays: null,
        });
        return accounts.at(-1) ?? null;
      },
      list: () => [...accounts],
      find: (idOrName) => accounts.find(({ id, name }) => id === idOrName || name === idOrName) ?? null,
      setActive(number, active) {
        const place = accounts.findIndex((account) => account.number === number);
        const account = accounts[place];
        if (account !== undefined) accounts[place] = { ...account, active };
      },
    },
    pixels: {
      list: (account) => pixels.filter((pixel) => pixel.account === account).map(({ id, status }) => ({ id, status })),
      has: hasPixel,
      create: createPixel,
      setStatus(account, { id, status }) {
        const place = pixels.findIndex((pixel) => pixel.account === account && pixel.id === id);
        if (place !== -1) pixels[place] = { account, id, status };
        return place !== -1;
      },
    },
    keys: {
      create(account, { digest, prefix, label, expiresMs = null }, createdMs) {
        const id = `key_${randomText(12)}`;
        const owner = accounts.find(({ number }) => number === account)?.id ?? "";
        const fresh = {
          id,
          prefix,
          label,
          account: owner,
          createdMs,
          revokedMs: null,
          expiresMs,
          lastUsed: null,
          readUpToMs: null,
        };
        const key: ModelKey = { ...fresh, number: keys.length + 1, of: account, digest };
        keys.push(key);
        return shown(key);
      },
      list: (account) => keys.filter((key) => key.of === account).map(shown),
      revoke(id, nowMs) {
        const place = keys.findIndex((key) => key.id === id);
        const key = keys[place];
        if (key === undefined) return null;
        return shown((keys[place] = { ...key, revokedMs: key.revokedMs ?? nowMs }));
      },
      findByDigest(digest) {
        const key = keys.find((candidate) => candidate.digest.equals(digest));
        return key === undefined ? null : shown(key);
      },
    },
    leads: {
      beginImport: (account, options) =>
        beginModelImport({
          rows: options.dryRun ? [...rows] : rows,
          account,
          options,
          hasPixel: (id) => hasPixel(account, id),
          createPixel: (id) => void (options.dryRun || createPixel(account, { id, status: "active" })),
        }),
      export: (account) => [
        rows
          .filter((row) => row.account === account)
          .toSorted(newestFirst)
          .toReversed()
          .map(documentOf),
      ],
    },
    served: {
      refresh: () => undefined,
      keys: {
        find(digest) {
          const key = keys.find((candidate) => candidate.digest.equals(digest));
          if (key === undefined) return null;
          const subscribed = accounts.some(({ number, active }) => number === key.of && active);
          return {
            number: key.number,
            account: key.of,
            prefix: key.prefix,
            revoked: key.revokedMs !== null,
            expiresMs: key.expiresMs ?? Number.POSITIVE_INFINITY,
            subscribed,
          };
        },
      },
      pixels: {
        list: (account) =>
          pixels.filter((pixel) => pixel.account === account).map(({ id, status }) => ({ id, status })),
        has: hasPixel,
      },
      leads: {
        page(account, { limit, beforeMs, sinceMs, pixelId, state, city, hasEmail }) {
          const found = rows
            .filter((row) => row.account === account)
            .filter((row) => beforeMs === null || row.at < beforeMs)
            .filter((row) => sinceMs === null || row.at >= sinceMs)
            .filter((row) => pixelId === null || row.pixelId === pixelId)
            .filter((row) => state === null || row.state === state)
            .filter((row) => city === null || row.cityKey === city)
            .filter((row) => !hasEmail || row.hasEmail)
            .toSorted(newestFirst);
          const page = found.slice(0, limit);
          const [newest, oldest] = [page[0], page.at(-1)];
          return {
            span: newest === undefined || oldest === undefined ? null : { oldestMs: oldest.at, newestMs: newest.at },
            documents: page.map((lead) => Buffer.from(documentOf(lead))),
            nextMs: found.length > limit ? (page.at(-1)?.at ?? null) : null,
          };
        },
      },
      usage: {
        count: (key, nowMs) => void counted.push({ key, day: dayOf(nowMs) }),
        of(key, nowMs) {
          const today = dayOf(nowMs);
          const days = daysOf(key);
          return {
            today: days.filter((day) => day === today).length,
            month: days.filter((day) => day.slice(0, 7) === today.slice(0, 7)).length,
          };
        },
      },
      probe: () => {},
      flush: () => "idle",
      isEmpty: () => accounts.length === 0,
      close: () => {},
    },
  };
}
