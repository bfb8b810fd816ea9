/** A store that is a few arrays: slow, and so simple that it is right at sight. The real one must do as it does. */
import type { KeyRecord } from "../../src/db/keys.ts";
import { beginModelImport } from "./model-import.ts";
import { documentOf, newestFirst, servedModel } from "./model-served.ts";
import {
  daysOf,
  emptyState,
  hasPixel,
  keyWith,
  type ModelKey,
  type ModelState,
  newId,
  pixelsOf,
} from "./model-state.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export function openModel(): StoreUnderTest {
  const state = emptyState();
  return {
    accounts: accountsIn(state),
    pixels: pixelsIn(state),
    keys: keysIn(state),
    leads: leadsIn(state),
    served: servedModel(state),
  };
}

function accountsIn({ accounts }: ModelState): StoreUnderTest["accounts"] {
  return {
    create(name) {
      if (accounts.some((account) => account.name === name)) return null;
      const account = { number: accounts.length + 1, id: newId("acc", 16), name, active: true, retainDays: null };
      accounts.push(account);
      return account;
    },
    list: () => [...accounts],
    find: (idOrName) => accounts.find(({ id, name }) => id === idOrName || name === idOrName) ?? null,
    setActive(number, active) {
      const place = accounts.findIndex((account) => account.number === number);
      const account = accounts[place];
      if (account !== undefined) accounts[place] = { ...account, active };
    },
  };
}

function pixelsIn(state: ModelState): StoreUnderTest["pixels"] {
  const { pixels } = state;
  return {
    list: (account) => pixelsOf(state, account),
    has: (account, id) => hasPixel(state, account, id),
    create(account, { id, status }) {
      if (hasPixel(state, account, id)) return false;
      pixels.push({ account, id, status });
      return true;
    },
    setStatus(account, { id, status }) {
      const place = pixels.findIndex((pixel) => pixel.account === account && pixel.id === id);
      if (place !== -1) pixels[place] = { account, id, status };
      return place !== -1;
    },
  };
}

function keysIn(state: ModelState): StoreUnderTest["keys"] {
  const { accounts, keys } = state;
  const shown = ({ number, of, digest, ...record }: ModelKey): KeyRecord => ({
    ...record,
    lastUsed: daysOf(state, number).toSorted().at(-1) ?? null,
  });
  return {
    create(account, { digest, prefix, label, expiresMs = null }, createdMs) {
      const owner = accounts.find(({ number }) => number === account);
      const times = { createdMs, revokedMs: null, expiresMs, lastUsed: null, readUpToMs: null };
      const record = {
        id: newId("key", 12),
        prefix,
        label,
        account: owner?.id ?? "",
        accountName: owner?.name ?? "",
        ...times,
      };
      const key: ModelKey = { ...record, number: keys.length + 1, of: account, digest };
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
      const key = keyWith(state, digest);
      return key === undefined ? null : shown(key);
    },
  };
}

function leadsIn(state: ModelState): StoreUnderTest["leads"] {
  const { create } = pixelsIn(state);
  return {
    beginImport: (account, options) =>
      beginModelImport({
        rows: state.rows,
        account,
        options,
        hasPixel: (id) => hasPixel(state, account, id),
        createPixel: (id) => void create(account, { id, status: "active" }, 0),
      }),
    export: (account) => [
      state.rows
        .filter((row) => row.account === account)
        .toSorted(newestFirst)
        .toReversed()
        .map(documentOf),
    ],
  };
}
